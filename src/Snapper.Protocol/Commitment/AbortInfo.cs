using Snapper.Protocol.Identity;
using Snapper.Protocol.Messages;

namespace Snapper.Protocol.Commitment;

/// <summary>Why a transaction is aborted. Floor, ceil and blocker explain H5 and W1; 0 otherwise.</summary>
public sealed record AbortInfo(
    AbortReason Reason, string Message, ActorKey? Actor = null, long Blocker = 0, long Floor = 0, long Ceil = 0)
{
    private const int LongestMessage = 16 * 1024;

    /// <summary>The time of the request is over.</summary>
    public static AbortInfo DeadlinePassed { get; } = new(AbortReason.Timeout, "The request's timeout has passed.");

    /// <summary>An undo has removed it (A5).</summary>
    public static AbortInfo Removed { get; } =
        new(AbortReason.Undone, "Removed because a transaction before it failed; it runs again.");

    /// <summary>
    /// In words, 16,384 characters at most: user code may throw anything, and it goes into answers and into the log.
    /// </summary>
    public string Message { get; } =
        AbortCode.WithoutSeparator(Message.Length <= LongestMessage ? Message : Cut(Message));

    /// <summary>What programs read of it; null: the application has given it no code.</summary>
    public AbortCode? Code { get; init; }

    /// <summary>Message and code as one text.</summary>
    public string Text => AbortCode.Join(Message, Code);

    /// <summary>An abort whose message and code were one text.</summary>
    /// <param name="reason">The reason.</param>
    /// <param name="text">Message and code.</param>
    /// <param name="actor">Where; null: no single actor.</param>
    /// <param name="blocker">Who stood in the way; 0: none.</param>
    public static AbortInfo Of(AbortReason reason, string text, ActorKey? actor, long blocker)
    {
        var (message, code) = AbortCode.Split(text);
        return new AbortInfo(reason, message, actor, blocker) { Code = code };
    }

    /// <summary>The deadline has passed, or the caller has left, before an attempt began.</summary>
    public static AbortInfo BeforeStart(AbortReason reason) =>
        reason == AbortReason.Timeout ? DeadlinePassed : new AbortInfo(reason, "The caller went away.");

    /// <summary>What it changes is more than a record may hold (L6).</summary>
    public static AbortInfo TooLarge(long bytes, long limit) => new(
        AbortReason.Application,
        "The transaction changes more than it may: the states that it leaves and its result have "
        + $"{bytes} bytes or more in all; the limit is {limit}.");

    // Half a pair of surrogates could not be written as UTF-8.
    private static string Cut(string message)
    {
        var end = LongestMessage - 1;
        return message[..(char.IsHighSurrogate(message[end - 1]) ? end - 1 : end)] + "…";
    }
}
