namespace Snapper.Server.Cli;

/// <summary>What the process answers to its caller.</summary>
internal static class ExitCode
{
    /// <summary>Done, or stopped by the user.</summary>
    public const int Success = 0;

    /// <summary>Something that was tried did not work; the message says what.</summary>
    public const int Failure = 1;

    /// <summary>The command line itself is wrong; nothing was started.</summary>
    public const int Usage = 2;
}
