using System.Collections.Concurrent;
using Snapper.Protocol.Identity;
using Snapper.Storage.Log;
using Snapper.Storage.Log.Records;
using Snapper.Storage.States;

namespace Snapper.Runtime.Tests.Support;

/// <summary>A store from which a test lets actors be loaded late.</summary>
internal sealed class HeldLoads(IStateStore inner) : IStateStore
{
    private readonly Dictionary<ActorKey, TaskCompletionSource> _held = [];

    /// <summary>How often each actor was loaded.</summary>
    public ConcurrentDictionary<ActorKey, int> Loads { get; } = new();

    public void Hold(ActorKey actor) => _held.Add(actor, new TaskCompletionSource());

    /// <summary>What waits goes on where this is called.</summary>
    public void Release(ActorKey actor)
    {
        _held.Remove(actor, out var held);
        held!.SetResult();
    }

    public async Task<StoredState?> Load(ActorKey actor, CancellationToken cancellation)
    {
        Loads.AddOrUpdate(actor, 1, static (_, count) => count + 1);
        if (_held.TryGetValue(actor, out var held))
        {
            await held.Task;
        }

        return await inner.Load(actor, cancellation);
    }

    public Task<AppendResult> Checkpoint(
        long epoch, IReadOnlyList<StateCheckpoint> checkpoints, CancellationToken cancellation) =>
        inner.Checkpoint(epoch, checkpoints, cancellation);

    public Task<AppendResult> SaveOutcomes(
        long epoch, IReadOnlyList<OutcomeRecord> outcomes, CancellationToken cancellation) =>
        inner.SaveOutcomes(epoch, outcomes, cancellation);

    public Task<AppendResult> DropOutcomes(long epoch, CancellationToken cancellation) =>
        inner.DropOutcomes(epoch, cancellation);

    public Task<OutcomeRecord?> FindOutcome(string requestId, CancellationToken cancellation) =>
        inner.FindOutcome(requestId, cancellation);

    public ValueTask DisposeAsync() => inner.DisposeAsync();
}
