namespace Snapper.Runtime.Execution;

/// <summary>Unwinds a thread that the watchdog has replaced (W5). Caught only where the thread ends.</summary>
public sealed class DisownedException : Exception;
