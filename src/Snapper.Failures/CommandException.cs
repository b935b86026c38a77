namespace Snapper.Failures;

/// <summary>A command cannot do what it was asked for. The message is for people; no stack trace is shown.</summary>
/// <param name="message">What and why and, where there is one, the way out.</param>
/// <param name="exitCode">What the process answers to its caller.</param>
public class CommandException(string message, int exitCode = 1) : Exception(message)
{
    /// <summary>What the process answers to its caller.</summary>
    public int ExitCode { get; } = exitCode;
}

/// <summary>The command line or a setting is wrong. The message names it and what is allowed.</summary>
/// <param name="message">What is wrong.</param>
public sealed class UsageException(string message) : CommandException(message, WrongLine)
{
    /// <summary>The exit code of a wrong command line; nothing was started.</summary>
    public const int WrongLine = 2;
}
