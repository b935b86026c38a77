using Snapper.Simulation.Core;
using Snapper.Simulation.Faults;
using Snapper.Storage.Log;
using Snapper.Storage.Memory;

namespace Snapper.Simulation.Storage;

/// <summary>
/// The connection of one process to the log server. A call travels, is carried out, and its answer travels back; on the way
/// it may be lost, late, or refused. A call that a dead process had sent is still carried out.
/// </summary>
internal sealed class StorageLink(World world, ProcessScope scope)
{
    private const long Patience = 200 * TimeSpan.TicksPerMillisecond;

    /// <summary>Whose calls these are.</summary>
    public ProcessScope Sender => scope;

    /// <summary>A call whose refusal the caller understands.</summary>
    public Task<AppendResult> Fenced(Func<AppendResult> carryOut, CancellationToken cancellation) =>
        Send(carryOut, static () => new AppendResult(AppendStatus.Refused, "simulated: no room"), cancellation);

    /// <summary>The epoch of the opening; 0: not opened yet.</summary>
    public long Epoch { get; set; }

    /// <summary>Every record below it was acknowledged to this process.</summary>
    public long AcknowledgedNext { get; set; }

    /// <summary>So many checkpoints, trims and savings of outcomes were acknowledged to this process.</summary>
    public long Changes { get; set; }

    /// <summary>One of those.</summary>
    public async Task<AppendResult> Counted(Func<AppendResult> carryOut, CancellationToken cancellation)
    {
        var (result, changes) = await Send(
            () => (carryOut(), world.Storage.Kept.Changes), static () => (new AppendResult(AppendStatus.Refused, "simulated: no room"), 0L), cancellation);
        Changes = result.Status == AppendStatus.Appended ? Math.Max(Changes, changes) : Changes;
        return result;
    }

    /// <summary>A call before the log is open, and its opening.</summary>
    public Task<T> Opening<T>(Func<T> carryOut, CancellationToken cancellation) => Send(carryOut, null, cancellation);

    /// <summary>
    /// A call that only reads, on the server where it arrives, if that one has all that this process knows when it
    /// sends it (as the scripts of the Redis log).
    /// </summary>
    public async Task<T> Read<T>(Func<MemoryStorage, T> carryOut, CancellationToken cancellation)
    {
        var (epoch, acknowledged, changes) = (Epoch, AcknowledgedNext, Changes);

        // Callers may be inside a method of an actor, whose context must not get the rest of this.
        var (answer, isStale) = await Send(
            () =>
            {
                var older = world.Storage.Older();
                return older is not null && SimulatedStorage.IsOlder(older, epoch, acknowledged, changes)
                    ? (default(T)!, true)
                    : (carryOut(older ?? world.Storage.Kept), false);
            },
            null,
            cancellation).ConfigureAwait(false);
        return isStale ? throw new IOException("simulated: an older copy") : answer;
    }

    private Task<T> Send<T>(Func<T> carryOut, Func<T>? refuse, CancellationToken cancellation)
    {
        // Continuations run inline: there is one thread, and the order of things is the seed's.
        var answer = new TaskCompletionSource<T>();
        if (cancellation.CanBeCanceled)
        {
            if (cancellation.IsCancellationRequested)
            {
                return Task.FromCanceled<T>(cancellation);
            }

            cancellation.Register(() => answer.TrySetCanceled(cancellation));
        }

        var server = world.Storage.Server;
        var fate = world.Storage.Draw(canRefuse: refuse is not null);
        switch (fate)
        {
            case null or FaultKind.StorageSlow or FaultKind.StorageFull:
                var there = world.Storage.Travel(fate == FaultKind.StorageSlow);
                world.After(there, null, () =>
                {
                    if (server != world.Storage.Server)
                    {
                        GiveUp(answer);
                        return;
                    }

                    var isRefused = fate == FaultKind.StorageFull
                        || (refuse is not null && world.Storage.Older() is not null);
                    var result = isRefused ? refuse!() : carryOut();
                    world.After(world.Storage.Travel(slow: false), scope, () => answer.TrySetResult(result));
                });
                break;
            case FaultKind.StorageAnswerLost:
                world.After(world.Storage.Travel(slow: false), null, CarryOutThere);
                GiveUp(answer);
                break;
            case FaultKind.StorageCallLate:
                world.After(Patience + world.Chance.Between(0, 2 * Patience), null, CarryOutThere);
                GiveUp(answer);
                break;
            default:
                GiveUp(answer);
                break;
        }

        return answer.Task;

        void CarryOutThere()
        {
            if (server == world.Storage.Server)
            {
                carryOut();
            }
        }
    }

    private void GiveUp<T>(TaskCompletionSource<T> answer) =>
        world.After(world.Chance.Between(Patience / 20, Patience), scope, () => answer.TrySetException(new IOException("simulated: the connection broke")));
}
