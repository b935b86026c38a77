namespace Snapper.Runtime.Execution;

/// <summary>Unwinds a thread that the watchdog has replaced (W5). Caught only where the thread ends.</summary>
internal sealed class DisownedException : Exception;
