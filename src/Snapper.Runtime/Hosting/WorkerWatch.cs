using Snapper.Contracts;
using Snapper.Protocol.Identity;
using Snapper.Runtime.Execution;
using Snapper.Runtime.Inspection;
using Snapper.Runtime.Inspection.Watching;

namespace Snapper.Runtime.Hosting;

/// <summary>What a running worker tells those who look.</summary>
public sealed class WorkerWatch(Worker worker) : IWorkerWatch
{
    public Task<TimelineView?> Timeline(ActorKey actor, CancellationToken cancellation)
    {
        if (worker.FindType(actor.Type) is null)
        {
            return Task.FromResult<TimelineView?>(null);
        }

        if (worker.Watch.Timelines.Watch(actor) is not { } timeline)
        {
            throw new TooManyWatchedException($"{ActorTimelines.Most} actors are being watched already.");
        }

        var view = new TaskCompletionSource<TimelineView?>(TaskCreationOptions.RunContinuationsAsynchronously);
        var executor = worker.ExecutorOf(actor);
        executor.PostRun(() =>
        {
            if (executor.FindCell(actor)?.Schedule is { } machine)
            {
                timeline.Listen(machine);
            }

            view.SetResult(timeline.View(actor, worker.Options.Name));
        });
        return view.Task.WaitAsync(cancellation);
    }

    public TracesView Traces(TraceFilter filter) => worker.Watch.Traces(filter);

    public HotView Hot(int limit) => worker.Watch.Hot(limit);

    public AccessView Access() => worker.Watch.Access();

    public RingView Ring()
    {
        // Looks from another thread may be a moment late.
        var ring = worker.RingStatistics;
        var coordinators = new List<CoordinatorView>(worker.Coordinators.Length);
        var holder = -1;
        foreach (var coordinator in worker.Coordinators)
        {
            holder = coordinator.HoldsToken ? coordinator.Index : holder;
            coordinators.Add(new CoordinatorView(
                coordinator.Index, coordinator.Waiting, coordinator.HoldsToken, ring.BatchesOf(coordinator.Index), ring.TransactionsOf(coordinator.Index)));
        }

        var master = worker.Peers.Master;
        return new RingView(worker.Options.Name)
        {
            Coordinators = coordinators,
            Token = new TokenView(holder),
            Rotation = new RotationView(
                ring.Rotations.Count, ring.Rotations.Percentile(50), ring.Rotations.Percentile(99), ring.Rotations.Max),
            BatchSize = new BatchSizeView(
                worker.Batches.Count, ring.BatchSizes.Percentile(50), ring.BatchSizes.Percentile(99), ring.BatchSizes.Max),
            Master = master.IsNone ? null : Incarnation.NameOf(master.Worker),
        };
    }
}
