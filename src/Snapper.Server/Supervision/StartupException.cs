namespace Snapper.Server.Supervision;

/// <summary>The system cannot start. The message says what is wrong and, where there is one, the way out.</summary>
internal sealed class StartupException(string message) : Exception(message);
