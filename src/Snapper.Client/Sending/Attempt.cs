using Snapper.Client.Messages;

namespace Snapper.Client.Sending;

/// <summary>How one sending of a transaction went.</summary>
internal enum AttemptEnd : byte
{
    /// <summary>The worker answered; see the reply.</summary>
    Answered,

    /// <summary>Refused before anything was executed; see the rejection.</summary>
    Refused,

    /// <summary>Refused on the way to the worker, which may have executed it; see the rejection.</summary>
    TurnedAway,

    /// <summary>It may or may not have been executed; see the detail.</summary>
    Lost,

    /// <summary>The caller, or its deadline, ended the wait.</summary>
    Abandoned,
}

/// <summary>How one sending of a transaction went, with what was heard.</summary>
internal readonly record struct Attempt(AttemptEnd End, TransactionReply? Reply = null, RejectionDetails? Rejection = null, string? Detail = null)
{
    public static Attempt Answered(TransactionReply reply) => reply.Outcome == TransactionOutcome.Rejected
        ? Refused(reply.Rejection ?? new RejectionDetails(500, "The worker gave no reason."))
        : new Attempt(AttemptEnd.Answered, Reply: reply);

    public static Attempt Refused(RejectionDetails rejection) => new(AttemptEnd.Refused, Rejection: rejection);

    public static Attempt TurnedAway(RejectionDetails rejection) =>
        new(AttemptEnd.TurnedAway, Rejection: rejection);

    public static Attempt Lost(string detail) => new(AttemptEnd.Lost, Detail: detail);

    public static Attempt Abandoned => new(AttemptEnd.Abandoned);
}
