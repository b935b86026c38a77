using Snapper.Protocol.Identity;
using Snapper.Simulation.Rules;
using Snapper.Storage.Log.Records;
using Snapper.Storage.States;

namespace Snapper.Simulation.Storage;

/// <summary>What the rules see of the log server: what it keeps, without the road to it.</summary>
internal sealed class StorageView(SimulatedStorage storage) : IStorageView
{
    public bool IsReadable => !storage.IsLost;

    public bool IsLost => storage.IsLost;

    public long Epoch => storage.Kept.Epoch;

    public long FirstSequence => storage.Kept.FirstSequence;

    public StoredState? State(ActorKey actor) => storage.Kept.States.GetValueOrDefault(actor);

    public bool HadDamagedPlaces => storage.PlacesGoodSince > 0;

    public OutcomeRecord? Outcome(string requestId) => storage.Kept.Outcomes.GetValueOrDefault(requestId).Outcome;

    public void Opened(long epoch)
    {
    }
}
