namespace Snapper.Runtime.Json;

/// <summary>An input does not fit its method; the message is for the caller, a sentence without its full stop.</summary>
public sealed class InputException(string message) : Exception(message);
