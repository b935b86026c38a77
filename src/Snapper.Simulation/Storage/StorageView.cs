using Snapper.Protocol.Identity;
using Snapper.Simulation.Rules;
using Snapper.TransactionLog;
using Snapper.TransactionLog.InMemory;
using Snapper.TransactionLog.Records;

namespace Snapper.Simulation.Storage;

/// <summary>What the rules see of the log server: what it keeps, without the road to it.</summary>
internal sealed class StorageView(MemoryStorage kept) : IStorageView
{
    public long Epoch => kept.Epoch;

    public long FirstSequence => kept.FirstSequence;

    public StoredState? State(ActorKey actor) => kept.States.GetValueOrDefault(actor);

    public OutcomeRecord? Outcome(string requestId) => kept.Outcomes.GetValueOrDefault(requestId);
}
