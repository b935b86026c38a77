namespace Snapper.Runtime.Inspection;

/// <summary>What is stored of an actor cannot be read, and stays so until somebody puts it right; the message names the actor, where it is stored, and what is wrong.</summary>
public sealed class DamagedStateException(string message, Exception? innerException = null) : Exception(message, innerException);
