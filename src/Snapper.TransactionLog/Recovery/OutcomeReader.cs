using Snapper.Protocol;
using Snapper.TransactionLog.Records;

namespace Snapper.TransactionLog.Recovery;

/// <summary>Reads outcomes back (I3): memory keeps only where they are.</summary>
public sealed class OutcomeReader(ITransactionLog log, IStateStore store)
{
    /// <summary>The outcome of a request from its record, or, once that is trimmed, from the copies that are kept for the window.</summary>
    /// <param name="sequence">Number of the record that held it.</param>
    /// <param name="requestId">The request.</param>
    /// <param name="cancellation">Gives up.</param>
    /// <returns>Null: neither has it (its window has ended, or the id was generated).</returns>
    /// <exception cref="CorruptLogException">The record is damaged.</exception>
    public async Task<OutcomeRecord?> Find(long sequence, string requestId, CancellationToken cancellation)
    {
        await foreach (var group in log.Read(sequence, cancellation))
        {
            if (group.FirstSequence <= sequence && InGroup(group, sequence, requestId) is { } found)
            {
                Transitions.Note(Transition.OutcomeFromLog);
                return found.WithPayloadOfItsOwn();
            }

            break;
        }

        var copied = await store.FindOutcome(requestId, cancellation);
        if (copied is not null)
        {
            Transitions.Note(Transition.OutcomeFromStore);
        }

        return copied;
    }

    private static OutcomeRecord? Among(IReadOnlyList<OutcomeRecord> outcomes, string requestId)
    {
        foreach (var outcome in outcomes)
        {
            if (outcome.RequestId == requestId)
            {
                return outcome;
            }
        }

        return null;
    }

    private static OutcomeRecord? InGroup(LogGroup group, long sequence, string requestId)
    {
        var decoder = new GroupDecoder();
        decoder.Start(group);
        decoder.SkipTo(sequence);
        if (!decoder.MoveNext())
        {
            return null;
        }

        switch (decoder.Current)
        {
            case LocalBatchCommitted batch:
                return Among(batch.Outcomes, requestId);
            case Prepared prepared:
                return Among(prepared.Outcomes, requestId); // nobody asks for its number before its batch is decided
            case ActCommitted act:
                return act.Outcome?.RequestId == requestId ? act.Outcome : null;
            default:
                return null;
        }
    }
}
