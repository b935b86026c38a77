namespace Snapper.AspNetCore.Processes;

/// <summary>What the process answers to its caller.</summary>
internal static class ExitCode
{
    /// <summary>Done, or stopped by the user.</summary>
    public const int Success = 0;

    /// <summary>Something that was tried did not work; the message says what.</summary>
    public const int Failure = 1;

    /// <summary>The command line itself is wrong; nothing was started.</summary>
    public const int Usage = 2;

    /// <summary>A worker stopped after a broken invariant or a lost log: start it again, recovery decides what is true.</summary>
    public const int MustRestart = 70;

    /// <summary>A worker found another log, or a shorter one, than it remembers. Starting it again does not help; a person must decide.</summary>
    public const int LogLost = 71;

    /// <summary>A worker found its log or the checkpoints damaged. Starting it again does not help; a person must decide.</summary>
    public const int LogDamaged = 72;

    /// <summary>A worker's program places actors of a type by another partition key than the directory says. Starting it again does not help; the program must be changed.</summary>
    public const int OtherPlacement = 73;
}
