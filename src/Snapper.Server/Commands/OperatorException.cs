namespace Snapper.Server.Commands;

/// <summary>What an operator asked of a running system was refused, or not answered. The command line was right: asked at another time it may work.</summary>
/// <param name="message">What and why.</param>
/// <param name="status">The HTTP status; <see cref="NoAnswer"/>: there was none.</param>
internal sealed class OperatorException(string message, int status) : CommandException(message)
{
    /// <summary>Nobody answered.</summary>
    public const int NoAnswer = 0;

    public int Status { get; } = status;

    /// <summary>It goes by itself: the worker is starting, or away, or cannot reach its store.</summary>
    public bool IsPassing => Status is NoAnswer or 408 or 429 or >= 500;

    /// <summary>No other time helps: the caller has no right.</summary>
    public bool IsForGood => Status is 401 or 403;
}
