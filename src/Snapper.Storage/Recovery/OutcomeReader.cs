using Snapper.Storage.Log.Records;
using Snapper.Storage.Log;
using Snapper.Storage.States;

namespace Snapper.Storage.Recovery;

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
                return found.WithPayloadOfItsOwn();
            }

            break;
        }

        return await store.FindOutcome(requestId, cancellation);
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

        return decoder.Current switch
        {
            LocalBatchCommitted batch => Among(batch.Outcomes, requestId),
            Prepared part => Among(part.Outcomes, requestId), // true since its marker, of which whoever knows this place has heard
            ActCommitted act => act.Outcome?.RequestId == requestId ? act.Outcome : null,
            _ => null,
        };
    }

    private static OutcomeRecord? Among(IReadOnlyList<OutcomeRecord> outcomes, string requestId)
    {
        for (var i = 0; i < outcomes.Count; i++)
        {
            if (outcomes[i].RequestId == requestId)
            {
                return outcomes[i];
            }
        }

        return null;
    }
}
