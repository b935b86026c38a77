using Snapper.Protocol.Identity;
using Snapper.Storage.Log;
using Snapper.Storage.States;

namespace Snapper.Storage.Membership;

/// <summary>
/// A worker that this worker has fenced, and its log, opened on this worker's behalf (R4). The order is: read the log to its end and resolve what is in doubt, checkpoint all of
/// it (<see cref="Recovery.LogRecovery"/>), copy out what must be found later (<see cref="IStateStore.SaveOutcomes"/>), then
/// <see cref="IClusterDirectory.TakeOver"/>, then open. Each step may be repeated, from the fence on by anyone.
/// </summary>
/// <remarks>
/// A step that answers <see cref="AppendStatus.Fenced"/>: another worker has fenced the same worker later, or it has come back itself; this rescue is over.
/// It is never shorter than what this worker was told of it: both lives began on the same instance of the store, or the fence refuses this one (L6).
/// One that answers <see cref="AppendStatus.RescuerFenced"/>: this worker itself was fenced, and drops its memory.
/// </remarks>
public sealed record Rescue : IAsyncDisposable
{
    /// <summary>The incarnation that was fenced, as it was registered.</summary>
    public required Incarnation Fenced { get; init; }

    /// <summary>The worker whose log it is, with the epoch that fencing gave it.</summary>
    public required Incarnation Opened { get; init; }

    /// <summary>The log; every step takes the epoch of <see cref="Opened"/>.</summary>
    public required ITransactionLog Log { get; init; }

    /// <summary>Its states and outcomes; the same.</summary>
    public required IStateStore States { get; init; }

    /// <summary>Where the log stands.</summary>
    public required LogOpening Opening { get; init; }

    /// <summary>What names the opening, beside the epoch.</summary>
    internal string Mark { get; init; } = "";

    /// <summary>Lets go of log and states.</summary>
    public async ValueTask DisposeAsync()
    {
        await States.DisposeAsync().ConfigureAwait(false);
        await Log.DisposeAsync().ConfigureAwait(false);
    }
}
