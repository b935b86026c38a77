using Snapper.Cluster.Balancing;
using Snapper.Cluster.Mastering;
using Snapper.Cluster.Migrating;
using Snapper.Cluster.Node;
using Snapper.Cluster.Recovering;
using Snapper.Protocol.Directory;
using Snapper.Protocol.Identity;
using Snapper.Runtime.Execution;
using Snapper.Storage;
using Snapper.Storage.Log;
using Snapper.Storage.Membership;

namespace Snapper.Cluster.Membership;

/// <summary>
/// What a worker does as one of several, beside its transactions: looks who is there, follows the directory, sees to it that there is a master, and that nothing stays with
/// the dead. A loop of its own beside the executors; what it learns is applied on the first of them.
/// </summary>
internal sealed partial class ClusterMembership : IAsyncDisposable
{
    private readonly Worker _worker;
    private readonly IMemberNode _node;
    private readonly ClusterSettings _setup;
    private readonly ClusterJoining _joining;
    private readonly IClusterStore _store;
    private readonly CancellationTokenSource _ending = new();
    private readonly TimeSpan _step;
    private readonly DirectoryFollower _directory;
    private readonly TakeOvers _takeOvers;
    private readonly Migrator _migrator;
    private readonly Evictions _evictions;
    private long _planVersion = -1;
    private readonly Promise<bool> _placed;
    private readonly ArchivesOfOthers _archives;
    private Task _loop = Task.CompletedTask;
    private long _membershipVersion = -1;
    private long _expired = -1;
    private string _undivided = ""; // why, as it was logged last
    private MasterElection.Taken? _seat;
    private volatile MasterHost? _master; // of that seat

    public ClusterMembership(Worker worker, IMemberNode node, ClusterSettings setup, ClusterJoining joining)
    {
        _worker = worker;
        _node = node;
        _setup = setup;
        _joining = joining;
        _store = joining.Store;
        _placed = worker.Background.Promise<bool>();
        _step = TimeSpan.FromTicks(Math.Max(setup.Options.Lease.Ticks / 16, TimeSpan.TicksPerMillisecond * 5));
        _directory = new DirectoryFollower(worker, _node, _store, setup.DirectoryPage);
        _node.Members = Living;
        _node.ReadDirectory = ReadDirectory;
        _takeOvers = new TakeOvers(worker, _node, _store, _directory, () => Members);
        _migrator = new Migrator(worker, _node, _store, _directory);
        _archives = new ArchivesOfOthers(worker, _node, setup.ArchiveOf);
        _node.ArchivesAsOf = -1;
        _evictions = new Evictions(worker, _node, setup.Patience);
        setup.Balancing.Validate();
        if (setup.Balancing.Mode != BalancingMode.Off)
        {
            _node.Balancer = new Balancer(worker, _node, _store, setup.Balancing);
        }
    }

    /// <summary>Workers as they were read last, by number.</summary>
    public IReadOnlyList<Member> Members { get; private set; } = [];

    /// <summary>Completes when the directory is known and what it gives to this worker is open.</summary>
    public Task Placed => _placed.Task;

    /// <summary>Begins.</summary>
    public void Start() => _loop = _worker.Background.Run(Run);

    public async ValueTask DisposeAsync()
    {
        _ending.Cancel(); // not CancelAsync: it would hop to the pool, away from a simulator
        await _loop.ConfigureAwait(false);
        await _takeOvers.DisposeAsync().ConfigureAwait(false);
        await _migrator.DisposeAsync().ConfigureAwait(false);
        _placed.TryCancel();
        if (_master is { } master)
        {
            await master.DisposeAsync().ConfigureAwait(false);
        }

        _ending.Dispose();
    }

    private async Task Run()
    {
        while (!_ending.IsCancellationRequested && !_worker.IsOver)
        {
            try
            {
                await Step().ConfigureAwait(false);
                await Background.Pause(_step, _worker.Time, _ending.Token).ConfigureAwait(false);
            }
            catch (OperationCanceledException) when (_ending.IsCancellationRequested || _worker.Stopping.IsCancellationRequested)
            {
                return;
            }
            catch (Exception exception) when (StorageFaults.IsPassing(exception))
            {
                // Every step may be repeated.
                await Task.Delay(_step, _worker.Time, CancellationToken.None).ConfigureAwait(false);
            }
            catch (Exception exception)
            {
                _worker.Fail(exception);
            }
        }
    }

    private async Task Step()
    {
        var gains = _node.Gains;
        var standing = await _store.Members.Look(_ending.Token).ConfigureAwait(false);
        _joining.Lease.Look(standing);

        // A worker that had expired when it was read may renew before the next count: then neither the version nor the count would show it.
        if (standing.MembershipVersion != _membershipVersion || standing.Expired != _expired || Members.Any(static member => member.State == MemberState.Expired))
        {
            await ReadMembers().ConfigureAwait(false);
            _membershipVersion = standing.MembershipVersion;
            _expired = standing.Expired;
        }

        _node.ArchivesAsOf = gains;
        if (standing.DirectoryVersion == 0)
        {
            await Assign().ConfigureAwait(false);
        }
        else if (!_placed.Task.IsCompleted || standing.DirectoryVersion != _directory.Cursor.Through || standing.DirectoryId != _directory.Cursor.DirectoryId || _node.Gone.Any)
        {
            await _directory.Read(_ending.Token).ConfigureAwait(false);
            _joining.Lease.Heard(_directory.Cursor.DirectoryId, _directory.Cursor.Through);
            if (!_placed.Task.IsCompleted)
            {
                await _directory.Reclaim(_ending.Token).ConfigureAwait(false);
                _placed.TrySet(true);
            }
        }

        await SeeToMaster(standing.Master).ConfigureAwait(false);
        if (_placed.Task.IsCompleted)
        {
            _takeOvers.Look(Members);
            await Evict().ConfigureAwait(false);
            if (standing.PlanVersion != _planVersion || _migrator.IsBusy)
            {
                await _migrator.Look(Members, _ending.Token).ConfigureAwait(false);
                _planVersion = standing.PlanVersion;
            }

            await Thaw().ConfigureAwait(false);
            await _archives.Look(_ending.Token).ConfigureAwait(false);
            if (_node.Balancer is { } balancer)
            {
                await balancer.Step(Members, _seat is not null, _ending.Token).ConfigureAwait(false);
            }
        }
    }

    /// <summary>What is read tells a life that is fenced nothing but that: what it owned is another's.</summary>
    private async Task ReadDirectory(CancellationToken cancellation)
    {
        await _directory.Read(cancellation).ConfigureAwait(false);
        var renewed = await _store.Members.Renew(_directory.Cursor.DirectoryId, _directory.Cursor.Through, cancellation).ConfigureAwait(false);
        if (!renewed.IsDone)
        {
            throw new LogLostFailure(AppendStatus.Fenced, $"{_node.Self} is no member any more ({renewed.Status}): {renewed.Detail}");
        }
    }

    /// <summary>
    /// R5: a worker that cannot be reached though its lease lives, and that has something that others need, or for which more waits than a channel may hold.
    /// </summary>
    private async Task Evict()
    {
        var unreachable = _evictions.Look(Members, _seat is not null);
        if (unreachable.Count == 0)
        {
            return;
        }

        await ReadMembers().ConfigureAwait(false); // what they own now
        foreach (var member in Members)
        {
            if (member.State == MemberState.Live && unreachable.Contains(member.Incarnation)
                && (member.Entries > 0 || IsOverfull(member.Incarnation) || await _node.Ask(() => IsAwaited(member.Incarnation)).ConfigureAwait(false))
                && _evictions.IsSilent(member.Incarnation)) // it may have answered meanwhile
            {
                if (_takeOvers.TryEvict(member))
                {
                    return; // one at a look
                }
            }
        }
    }

    /// <summary>Whatever it asks for is answered, if only with a refusal, and nothing but its end bounds that.</summary>
    private bool IsOverfull(Incarnation peer) => _node.Gate.Hub.Overfull(peer.Worker) > TimeSpan.Zero;

    private bool IsAwaited(Incarnation peer) => _node.Requests.Master == peer || (_node.Master is { IsOver: false } master && master.Awaits(peer));

    private async Task ReadMembers()
    {
        Members = await _store.Members.Read(_ending.Token).ConfigureAwait(false);
        _archives.Note(Members);
        _node.Gate.OnMembers(Members);
        if (_node.Decisions.Kept is not null)
        {
            _node.First.PostRun(ForgetDecisionsOfTheResolved); // nothing here waits for it, as for an executor that user code keeps busy
        }

        _planVersion = -1; // plans of those who are gone now are looked at, too
        foreach (var member in Members)
        {
            if (member.Incarnation.Worker == _node.Self.Worker)
            {
                continue;
            }

            if (member.CurrentEpoch > member.Incarnation.Epoch || member.State == MemberState.Left)
            {
                _node.Gate.Hub.Retire(member.Incarnation); // R4: nothing of a fenced life counts; one that has left takes nothing any more
            }
            else
            {
                _node.Gate.Hub.Learn(member.Incarnation);
            }
        }
    }

    /// <summary>
    /// L8: a worker that owns nothing and does not live has nothing in doubt (R4). Of a life that was over before this one began there is no other news; while it owns
    /// something, the directory tells when that ends. On the first executor.
    /// </summary>
    private void ForgetDecisionsOfTheResolved()
    {
        foreach (var member in Members)
        {
            if (member.State is not (MemberState.Left or MemberState.Fenced))
            {
                continue;
            }

            if (member.Entries == 0)
            {
                _node.Decisions.Kept?.Forget(member.Incarnation.Worker);
            }
            else
            {
                _node.Gone.Add(member.Incarnation);
            }
        }
    }

    /// <summary>The first owners of all partitions: the workers that were announced, once they are all there.</summary>
    private async Task Assign()
    {
        var living = Living();
        if (living.Count >= _setup.FirstWorkers && living[0] == _node.Self)
        {
            // Whatever else the answer is: the directory is read next.
            var owners = PartitionDivision.Evenly(living);
            var result = await _store.Directory.AssignAll(owners, _ending.Token).ConfigureAwait(false);
            if (result.Status == ClusterStatus.Lost)
            {
                throw new LogLostFailure(AppendStatus.Gap, $"The actors cannot be divided: {result.Detail}");
            }

            if (result.Status == ClusterStatus.NotYet && result.Detail != _undivided)
            {
                _undivided = result.Detail;
                RuntimeLog.NotDivided(_worker.Logger, result.Detail);
            }
        }
    }

    private List<Incarnation> Living()
    {
        var living = new List<Incarnation>();
        foreach (var member in Members)
        {
            if (member.State == MemberState.Live)
            {
                living.Add(member.Incarnation);
            }
        }

        return living;
    }
}
