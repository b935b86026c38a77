namespace Snapper.AspNetCore.Processes;

/// <summary>The system cannot start, or cannot go on. The message says what is wrong and, where there is one, the way out.</summary>
/// <param name="message">What and why.</param>
/// <param name="exitCode">What this process answers to its caller; see <see cref="Processes.ExitCode"/>.</param>
internal sealed class StartupException(string message, int exitCode = Processes.ExitCode.Failure) : CommandException(message, exitCode);
