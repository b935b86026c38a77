namespace Snapper.Actors;

/// <summary>
/// Marks an interface whose methods run inside transactions. Each method takes nothing or one input and returns
/// <see cref="Task"/> or <see cref="Task{TResult}"/>; inputs and results are JSON at the door and are passed by
/// reference between actors of one worker, so neither may be changed after it was handed over.
/// </summary>
public interface ITransactionalActor;
