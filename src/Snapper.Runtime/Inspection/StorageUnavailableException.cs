namespace Snapper.Runtime.Inspection;

/// <summary>What was asked for is in the log or the state store, and those do not answer now. Asking again later may succeed.</summary>
public sealed class StorageUnavailableException(string message, Exception? cause = null) : Exception(message, cause);
