using System.Text;
using Snapper.Runtime.Door;

namespace Snapper.Simulation.Workers;

/// <summary>Answers to one id: all that are final must say the same, whether they come from memory, from the log or from the store.</summary>
internal static class Answers
{
    /// <summary>A final answer of a request that was begun.</summary>
    public static bool IsFinal(TransactionEnvelope answer) =>
        answer.Outcome == Outcome.Committed || (answer.Outcome == Outcome.Aborted && !answer.Abort!.Retryable);

    /// <summary>Both say the same in all that is kept of an outcome.</summary>
    public static bool Agree(TransactionEnvelope one, TransactionEnvelope other) =>
        one.Outcome == other.Outcome
        && one.Id == other.Id
        && one.Mode == other.Mode
        && one.Transaction == other.Transaction
        && one.Batch == other.Batch
        && one.Attempts == other.Attempts
        && one.Result.Span.SequenceEqual(other.Result.Span)
        && one.Abort == other.Abort;

    /// <summary>An answer in words.</summary>
    public static string Describe(TransactionEnvelope? answer) => answer switch
    {
        null => "nothing",
        { Outcome: Outcome.Rejected } => $"{answer.Outcome} ({answer.Rejection!.Kind}: {answer.Rejection.Detail})",
        _ => $"{answer.Outcome} ({answer.Mode} {answer.Transaction} of batch {answer.Batch}, attempt {answer.Attempts}: {(answer.Abort is { } abort ? $"{abort.Reason} at {abort.Actor}: {abort.Message}" : Encoding.UTF8.GetString(answer.Result.Span))})",
    };
}
