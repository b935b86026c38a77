namespace Snapper.Cli.Setup;

/// <summary>Something could not be brought. The message says what and why; nothing of it was put in place.</summary>
internal sealed class SetupException(string message) : Exception(message);
