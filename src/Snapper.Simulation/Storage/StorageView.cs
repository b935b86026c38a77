using Snapper.Protocol.Identity;
using Snapper.Simulation.Rules;
using Snapper.TransactionLog;
using Snapper.TransactionLog.Records;

namespace Snapper.Simulation.Storage;

/// <summary>What the rules see of the log server: what it keeps, without the road to it.</summary>
internal sealed class StorageView(SimulatedStorage storage) : IStorageView
{
    public bool IsReadable => !storage.IsLost;

    public bool IsLost => storage.IsLost;

    public long Epoch => storage.Kept.Epoch;

    public long FirstSequence => storage.Kept.FirstSequence;

    public StoredState? State(ActorKey actor) => storage.Kept.States.GetValueOrDefault(actor);

    public OutcomeRecord? Outcome(string requestId) => storage.Kept.Outcomes.GetValueOrDefault(requestId);

    public void Opened(long epoch)
    {
    }
}

/// <summary>What the rules see of files: who owns them. What is in them is looked at when it is read.</summary>
internal sealed class FilesView(FolderDamage folder) : IStorageView
{
    public bool IsReadable => false;

    public bool IsLost => folder.IsLost;

    public long Epoch { get; private set; }

    public long FirstSequence => 0;

    public StoredState? State(ActorKey actor) => null;

    public OutcomeRecord? Outcome(string requestId) => null;

    public void Opened(long epoch) => Epoch = Math.Max(Epoch, epoch);
}
