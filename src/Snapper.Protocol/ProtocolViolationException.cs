namespace Snapper.Protocol;

/// <summary>
/// An invariant of the protocol is broken: a bug, never a user's error. The worker stops and recovers from its log;
/// it never goes on with a state that it cannot explain.
/// </summary>
public sealed class ProtocolViolationException(string message) : Exception(message);
