using System.Globalization;
using Snapper.Client.Messages;

namespace Snapper.Load.Running;

/// <summary>What the end of a transaction means for a load test.</summary>
internal enum EndingKind
{
    Committed,

    /// <summary>The method asked for it.</summary>
    ApplicationAbort,

    /// <summary>Any other reason.</summary>
    SystemAbort,

    /// <summary>Refused, in doubt, without an answer, or not sent.</summary>
    Error,
}

/// <summary>How a transaction ended, in a word for tables.</summary>
internal static class Ending
{
    public const string Committed = "committed";
    public const string Aborted = "aborted: ";
    public const string NotSent = "not sent: too many under way";
    public const string Others = "others";

    private const string Application = "application";

    public static (EndingKind Kind, string Label) Of(TransactionReply? reply, string? failure) => reply switch
    {
        null => (EndingKind.Error, failure ?? "no answer"),
        { Outcome: TransactionOutcome.Committed } => (EndingKind.Committed, Committed),
        { Outcome: TransactionOutcome.Aborted } => Abort(reply.Abort?.ReasonName is { Length: > 0 } reason ? reason : "unknown"),
        { Outcome: TransactionOutcome.Rejected } => (EndingKind.Error, string.Create(CultureInfo.InvariantCulture, $"refused: {reply.Rejection?.Status ?? 500}")),
        _ => (EndingKind.Error, "in doubt"),
    };

    private static (EndingKind Kind, string Label) Abort(string reason) => (reason == Application ? EndingKind.ApplicationAbort : EndingKind.SystemAbort, Aborted + reason);
}
