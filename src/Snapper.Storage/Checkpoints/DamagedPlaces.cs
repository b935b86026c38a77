using Snapper.Protocol.Identity;
using Snapper.Storage.Log;
using Snapper.Storage.States;

namespace Snapper.Storage.Checkpoints;

/// <summary>
/// Checkpoints around places of the store that are damaged: an actor's key that has another type, or no version that
/// can be read.
/// </summary>
internal static class DamagedPlaces
{
    /// <summary>
    /// Checkpoints states in one call. Where the place of one is damaged, each half goes in a call of its own, down to
    /// the states that alone cannot be stored.
    /// </summary>
    /// <param name="store">The store.</param>
    /// <param name="epoch">Of the log that was opened.</param>
    /// <param name="states">The states; not kept.</param>
    /// <param name="damaged">Takes the actors that could not be stored, and why; all others are.</param>
    /// <param name="cancellation">Gives up.</param>
    /// <returns>What the store says of all others.</returns>
    public static async Task<AppendResult> Checkpoint(
        IStateStore store, long epoch, List<StateCheckpoint> states, Dictionary<ActorKey,
            CorruptLogException> damaged, CancellationToken cancellation)
    {
        try
        {
            return await store.Checkpoint(epoch, states, cancellation);
        }
        catch (CorruptLogException damage) when (states.Count == 1)
        {
            damaged.Add(states[0].Actor, damage);
            return new AppendResult(AppendStatus.Appended);
        }
        catch (CorruptLogException) when (states.Count > 1)
        {
            // Which one it is, the halves tell.
        }

        var half = states.Count / 2;
        var first = await Checkpoint(store, epoch, states.GetRange(0, half), damaged, cancellation);
        return first.Status is AppendStatus.Appended or AppendStatus.AlreadyThere
            ? await Checkpoint(store, epoch, states.GetRange(half, states.Count - half), damaged, cancellation)
            : first;
    }
}
