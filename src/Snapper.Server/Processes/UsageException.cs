namespace Snapper.Server.Processes;

/// <summary>The command line is wrong. The message names the argument and what is allowed.</summary>
internal sealed class UsageException(string message) : Exception(message);
