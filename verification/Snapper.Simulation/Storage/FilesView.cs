using Snapper.Protocol.Identity;
using Snapper.Simulation.Rules;
using Snapper.Storage.Log.Records;
using Snapper.Storage.States;

namespace Snapper.Simulation.Storage;

/// <summary>
/// What the rules see of files: what their owners were told is done, over all lives. The disk is not read for it; that it keeps what it has acknowledged shows
/// where it is read, by recoveries and loads.
/// </summary>
internal sealed class FilesView(FolderDamage folder) : IStorageView
{
    private readonly Dictionary<ActorKey, StoredState> _folded = [];
    private readonly Dictionary<string, OutcomeRecord> _copied = new(StringComparer.Ordinal);

    public bool IsReadable => !folder.IsLost;

    public bool IsLost => folder.IsLost;

    public long Epoch { get; private set; }

    public long FirstSequence { get; private set; }

    public StoredState? State(ActorKey actor) => _folded.GetValueOrDefault(actor);

    public OutcomeRecord? Outcome(string requestId) => _copied.GetValueOrDefault(requestId);

    public void Opened(long epoch) => Epoch = Math.Max(Epoch, epoch);

    /// <summary>Changes were checkpointed. A later answer to an earlier checkpoint does not take anything back.</summary>
    public void Checkpointed(IReadOnlyList<StateCheckpoint> checkpoints)
    {
        foreach (var checkpoint in checkpoints)
        {
            if (!_folded.TryGetValue(checkpoint.Actor, out var before) || before.Version < checkpoint.To)
            {
                _folded[checkpoint.Actor] = new StoredState(checkpoint.To, checkpoint.Fields);
            }
        }
    }

    /// <summary>Outcomes were copied out of the log.</summary>
    public void Copied(IReadOnlyList<OutcomeRecord> outcomes)
    {
        foreach (var outcome in outcomes)
        {
            _copied[outcome.RequestId] = outcome;
        }
    }

    /// <summary>The log begins here, or further on.</summary>
    public void BeginsAt(long first) => FirstSequence = Math.Max(FirstSequence, first);
}
