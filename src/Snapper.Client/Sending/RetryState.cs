using Snapper.Client.Messages;

namespace Snapper.Client.Sending;

/// <summary>What is known of a transaction after the attempts so far.</summary>
/// <param name="id">The request's id.</param>
/// <param name="repeatsAborted">See <see cref="SnapperClientOptions.RepeatsAborted"/>.</param>
internal sealed class RetryState(string id, bool repeatsAborted = true)
{
    private string? _lost; // why a sending got no answer

    /// <summary>Why it is not known whether it was executed; null: it was not, as of the last attempt.</summary>
    public string? Doubt { get; set; }

    /// <summary>
    /// It may have been executed, or may yet be: an answer is missing, or one was. A sending that got none may still be on its way, and runs after an abort that does not last.
    /// </summary>
    public bool MayHaveRun => Doubt is not null || _lost is not null;

    /// <summary>The last answer of a worker that did not execute it, or undid it.</summary>
    public TransactionReply? Last { get; private set; }

    /// <summary>How long the server asked to wait.</summary>
    public TimeSpan? RetryAfter { get; private set; }

    /// <summary>Takes note of an attempt.</summary>
    /// <returns>The reply when it is final; null when the transaction is to be asked for or sent again.</returns>
    public TransactionReply? Note(in Attempt attempt)
    {
        RetryAfter = null;
        switch (attempt.End)
        {
            case AttemptEnd.Answered:
                return NoteReply(attempt.Reply!);
            case AttemptEnd.Refused:
                return NoteRejection(attempt.Rejection!);
            case AttemptEnd.TurnedAway:
                _lost = attempt.Rejection!.Detail;
                return NoteRejection(attempt.Rejection);
            case AttemptEnd.Lost:
                Doubt = _lost = attempt.Detail ?? "a sending got no answer";
                return null;
            default:
                return null;
        }
    }

    /// <summary>An earlier sending was refused, and not by a worker, which may have it.</summary>
    public void NoteTurnedAway(string detail) => _lost ??= detail;

    /// <summary>The reply when the outcome could not be found out.</summary>
    public TransactionReply InDoubt() => new() { Id = id, Outcome = TransactionOutcome.InDoubt, Doubt = Doubt ?? _lost };

    private bool MustRepeat => repeatsAborted || _lost is not null;

    private TransactionReply? NoteReply(TransactionReply reply)
    {
        switch (reply.Outcome)
        {
            case TransactionOutcome.Committed when reply is { Result.IsEmpty: true, Rejection: { } leftOut }:
                Doubt = leftOut.Detail; // its result had no room beside those of the others: asked for alone, it has
                return null;
            case TransactionOutcome.Committed:
                return reply;
            case TransactionOutcome.Aborted:
                Doubt = null;
                Last = reply;
                return reply.Abort is { IsRetryable: true } && MustRepeat ? null : reply;
            default:
                Doubt = reply.Outcome == TransactionOutcome.Running ? "the transaction is still under way" : "the worker does not know the outcome yet";
                return null;
        }
    }

    private TransactionReply? NoteRejection(RejectionDetails rejection)
    {
        RetryAfter = rejection.RetryAfter;
        if (MayHaveRun)
        {
            // An earlier sending may have been executed; that this one was not says nothing about it.
            Doubt = rejection.Detail;
            return rejection.IsTransient ? null : InDoubt();
        }

        Last = new TransactionReply { Id = id, Outcome = TransactionOutcome.Rejected, Rejection = rejection };
        return rejection.IsTransient && (MustRepeat || rejection.Status != 429) ? null : Last;
    }
}
