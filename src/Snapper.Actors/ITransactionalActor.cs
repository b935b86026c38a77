namespace Snapper.Actors;

/// <summary>
/// Marks an interface whose methods run inside transactions. Each method takes nothing or one input and returns
/// <see cref="Task"/> or <see cref="Task{TResult}"/>. Inputs and results are values: JSON at the door and between
/// workers; between actors of one worker a copy through JSON, or the object itself when its type is immutable.
/// </summary>
public interface ITransactionalActor;
