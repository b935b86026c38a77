using Snapper.Cluster.Node;
using Snapper.Cluster.Recovering;
using Snapper.Protocol.Directory;
using Snapper.Protocol.Identity;
using Snapper.Runtime.Execution;
using Snapper.Runtime.Hosting;
using Snapper.Storage;
using Snapper.Storage.Checkpoints;
using Snapper.Storage.Log;
using Snapper.Storage.Log.Writing;
using Snapper.Storage.Membership;
using Snapper.Storage.Recovery;

namespace Snapper.Cluster.Membership;

/// <summary>
/// The beginning of a worker's life among others: its log is open and read, it registers, keeps its lease, and finds out what became of what its last life had prepared,
/// before anything of it opens (R2, R4).
/// </summary>
internal sealed class ClusterJoining : IAsyncDisposable
{
    private static readonly TimeSpan s_again = TimeSpan.FromMilliseconds(50);

    private readonly WorkerSetup _setup;
    private readonly ClusterSettings _cluster;
    private readonly CancellationTokenSource _failed = new();
    private Worker? _worker;

    private ClusterJoining(WorkerSetup setup, ClusterSettings cluster, Incarnation self)
    {
        _setup = setup;
        _cluster = cluster;
        Store = cluster.OpenStore(self);
        Gate = new PeerMessenger(
            self, Store.Members, cluster.Transport, cluster.Mailboxes, setup.Time, setup.Background, setup.Logger,
            Fail);
        Seat = new MasterElection(Store, setup.Time);
        Doubts = new InDoubtResolver(Gate, Store, Seat, setup.Time);
        Lease = new LeaseKeeper(Store, cluster.Options.Lease, setup.Time, setup.Background, Fail);
    }

    public IClusterStore Store { get; }

    public PeerMessenger Gate { get; }

    public MasterElection Seat { get; }

    public InDoubtResolver Doubts { get; }

    public LeaseKeeper Lease { get; }

    /// <summary>Partition of an actor; null: no type names a partition key.</summary>
    public Func<ActorKey, Partition>? PartitionOf { get; private set; }

    /// <summary>Why it cannot go on; null: it can.</summary>
    public Exception? Failure { get; private set; }

    /// <summary>Registers.</summary>
    /// <param name="setup">The worker's.</param>
    /// <param name="cluster">What it takes to be one of several.</param>
    /// <param name="opening">Its log as it was opened.</param>
    /// <param name="recovered">What its log holds; all checkpointed but what is in doubt.</param>
    /// <param name="cancellation">Gives up.</param>
    public static async Task<ClusterJoining> Begin(
        WorkerSetup setup, ClusterSettings cluster, LogOpening opening, RecoverySummary recovered, CancellationToken cancellation)
    {
        var joining = new ClusterJoining(setup, cluster, new Incarnation(setup.Options.Number, opening.Epoch));
        var decided = new List<TransactionId>();
        foreach (var act in recovered.ActsWithOthers)
        {
            decided.Add(act.Transaction);
        }

        await joining.DemandStored(recovered, cancellation).ConfigureAwait(false);
        joining.Gate.Read(setup.Options.Number, opening.Epoch, decided);
        cluster.Opened(joining.Gate.Hub);
        joining.Gate.System = await joining.Lease.Begin(cluster.Address, cancellation).ConfigureAwait(false);
        try
        {
            await joining.Declare(cancellation).ConfigureAwait(false);
        }
        catch
        {
            await joining.DisposeAsync().ConfigureAwait(false); // else it would keep a lease, and own nothing
            throw;
        }

        return joining;
    }

    /// <summary>
    /// Who registers before the first division says that its log is in the states (R4): others may be given any actor.
    /// What was set aside must be there by then. Later its entry stays with this worker.
    /// </summary>
    private async Task DemandStored(RecoverySummary recovered, CancellationToken cancellation)
    {
        if (recovered.SetAside.Count == 0)
        {
            return;
        }

        var page = await Store.Directory.Read(DirectoryCursor.Start, 1, cancellation).ConfigureAwait(false);
        if (page is { IsDone: true, Value.Entries.Count: 0 })
        {
            var first = recovered.SetAside[0];
            throw new CorruptLogException(
                $"The actors are not divided among workers yet, and the log has changes of {first.Actor} that "
                + $"cannot be stored: {first.Damage}");
        }
    }

    /// <summary>
    /// All workers place actors alike, or one of them does not join. A type that names a key and is new waits for those who do not know it: of workers that were started anew
    /// together the last lives may still have their leases.
    /// </summary>
    private async Task Declare(CancellationToken cancellation)
    {
        var types = new List<KeyValuePair<string, char?>>();
        foreach (var type in _setup.ActorTypes)
        {
            types.Add(new(type.Type, type.PartitionSeparator));
        }

        var own = new PartitionKeys(types);
        var began = _setup.Time.GetTimestamp();
        while (true)
        {
            var declared = await Store.Directory.Declare(own, cancellation).ConfigureAwait(false);
            if (declared.IsDone)
            {
                PartitionOf = _cluster.PartitionOf ?? (declared.Value!.Any ? declared.Value.Of : null);
                return;
            }

            if (declared.Status is ClusterStatus.Fenced or ClusterStatus.Lost or ClusterStatus.Stale)
            {
                throw new LogLostException(AppendStatus.Fenced, $"{Store.Self} is no member any more ({declared.Status}): {declared.Detail}");
            }

            if (declared.Status == ClusterStatus.Conflict || _setup.Time.GetElapsedTime(began) > _cluster.Options.Lease * 1.5)
            {
                throw new PlacementMismatchException(
                    $"Worker w{Store.Self.Worker} cannot join: {declared.Detail}. "
                    + (declared.Status == ClusterStatus.Conflict
                        ? "The partition key of a type is for good, since stored actors are found by it; give the type its key back, or give the class another type's name."
                        : "Stop all workers that run the program without it, and start again."),
                    declared.Status == ClusterStatus.Conflict);
            }

            await Background.Pause(s_again, _setup.Time, cancellation).ConfigureAwait(false);
        }
    }

    /// <summary>Settles what was in doubt.</summary>
    public async Task<SettledRecovery> Settle(
        LogOpening opening, RecoverySummary recovered, CancellationToken cancellation)
    {
        if (recovered.IsSettled)
        {
            return new SettledRecovery(opening, [], recovered);
        }

        var members = await Store.Members.Read(cancellation).ConfigureAwait(false);
        Gate.OnMembers(members);
        foreach (var member in members)
        {
            if (member.State == MemberState.Live && member.Incarnation.Worker != Store.Self.Worker)
            {
                Gate.Hub.Learn(member.Incarnation);
            }
        }

        using var either = CancellationTokenSource.CreateLinkedTokenSource(cancellation, _failed.Token);
        try
        {
            var verdicts = await Doubts.Resolve(recovered.InDoubt, _cluster.Options.Lease * _cluster.SettleLeases, either.Token).ConfigureAwait(false);
            return await Settlement.Run(_setup.Log, _setup.Store, opening, recovered, verdicts, _setup.Time, either.Token).ConfigureAwait(false);
        }
        catch (OperationCanceledException) when (Failure is not null && !cancellation.IsCancellationRequested)
        {
            // Another took this life for dead and rescues it: nobody speaks to it any more, so that it would ask for ever (R4).
            throw new LogLostException(AppendStatus.Fenced, Failure.Message);
        }
        catch (UnsettledException unsettled)
        {
            RuntimeLog.GivingUp(_setup.Logger, Store.Self.ToString(), unsettled.Message);
            await GiveUp(cancellation).ConfigureAwait(false);
            throw new LogLostException(AppendStatus.Fenced, $"{Store.Self} has given its actors up to the others: {unsettled.Message}");
        }
    }

    /// <summary>
    /// Lets the lease run out, so that others fence this life and take its actors over (R4), and waits until they have, so that the next life does not come in between. Not for good:
    /// there may be no worker that can. A rescuer may take longer, and would have to begin anew.
    /// </summary>
    private async Task GiveUp(CancellationToken cancellation)
    {
        Lease.Cease();
        var since = _setup.Time.GetTimestamp();
        while (_setup.Time.GetElapsedTime(since) < _cluster.Options.Lease * _cluster.SettleLeases)
        {
            try
            {
                var members = await Store.Members.Read(cancellation).ConfigureAwait(false);
                var self = members.FirstOrDefault(member => member.Incarnation == Store.Self);
                if (self is null or { State: MemberState.Fenced, Entries: 0 })
                {
                    return;
                }

                var rescuer = members.FirstOrDefault(member => member.Incarnation == self.Rescuer);
                if (rescuer?.State == MemberState.Live && self.State == MemberState.Fenced)
                {
                    since = _setup.Time.GetTimestamp();
                }
            }
            catch (Exception exception) when (StorageFaults.IsPassing(exception))
            {
                // The next look tells.
            }

            await Background.Pause(s_again, _setup.Time, cancellation).ConfigureAwait(false);
        }
    }

    /// <summary>From now on the worker hears of what fails, and gets what comes.</summary>
    public void Attach(Worker worker, IMemberNode node)
    {
        _worker = worker;
        Interlocked.MemoryBarrier(); // what fails looks the other way round, on another thread: one sees the other
        if (Failure is { } failure)
        {
            worker.Fail(failure);
        }

        Gate.Attach(node);
    }

    public async ValueTask DisposeAsync()
    {
        await Lease.DisposeAsync().ConfigureAwait(false);
        Gate.Dispose();
    }

    private void Fail(Exception exception)
    {
        if (exception is LogLostFailure && Lease.IsLeaving)
        {
            return; // a peer that has read that this life leaves takes nothing of it, and says so
        }

        Failure ??= exception;
        _failed.Cancel();
        _worker?.Fail(exception);
    }
}
