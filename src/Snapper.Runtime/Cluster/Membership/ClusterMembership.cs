using Snapper.Protocol.Directory;
using Snapper.Protocol.Identity;
using Snapper.Runtime.Cluster.Mastering;
using Snapper.Runtime.Hosting;
using Snapper.TransactionLog;
using Snapper.TransactionLog.Cluster;

namespace Snapper.Runtime.Cluster.Membership;

/// <summary>
/// A worker's standing among the others: keeps its lease, follows the directory, and sees to it that there is a master. A loop of its own beside the executors; what it learns
/// is applied on the first of them.
/// </summary>
internal sealed class ClusterMembership : IAsyncDisposable
{
    private readonly Worker _worker;
    private readonly ClusterNode _node;
    private readonly ClusterSetup _setup;
    private readonly IClusterStore _store;
    private readonly CancellationTokenSource _ending = new();
    private readonly TimeSpan _step;
    private readonly TaskCompletionSource _placed = new(TaskCreationOptions.RunContinuationsAsynchronously);
    private Task _loop = Task.CompletedTask;
    private DirectoryCursor _cursor = DirectoryCursor.Start;
    private readonly List<DirectoryEntry> _whole = [];
    private long _membershipVersion = -1;
    private long _renewedAt;
    private Mastership? _mastership;

    public ClusterMembership(Worker worker, ClusterNode node, ClusterSetup setup, IClusterStore store)
    {
        _worker = worker;
        _node = node;
        _setup = setup;
        _store = store;
        _step = TimeSpan.FromTicks(Math.Max(setup.Options.Lease.Ticks / 16, TimeSpan.TicksPerMillisecond * 5));
    }

    /// <summary>Workers as they were read last.</summary>
    public IReadOnlyList<Member> Members { get; private set; } = [];

    /// <summary>Completes when the directory is known and what it gives to this worker is open.</summary>
    public Task Placed => _placed.Task;

    /// <summary>Begins.</summary>
    public void Start() => _loop = Task.Run(Run);

    public async ValueTask DisposeAsync()
    {
        await _ending.CancelAsync().ConfigureAwait(false);
        try
        {
            await _loop.ConfigureAwait(false);
        }
        finally
        {
            _placed.TrySetCanceled();
            if (_node.Master is { } master)
            {
                await master.DisposeAsync().ConfigureAwait(false);
            }

            _ending.Dispose();
        }
    }

    private async Task Run()
    {
        while (!_ending.IsCancellationRequested && !_worker.IsOver)
        {
            try
            {
                await Step().ConfigureAwait(false);
                await Task.Delay(_step, _worker.Time, _ending.Token).ConfigureAwait(false);
            }
            catch (OperationCanceledException) when (_ending.IsCancellationRequested)
            {
                return;
            }
            catch (Exception exception) when (StorageFaults.IsPassing(exception))
            {
                // Every step may be repeated; while the store is away nobody's lease can be judged.
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
        var standing = await Standing().ConfigureAwait(false);
        if (standing.MembershipVersion != _membershipVersion)
        {
            Members = await _store.Members.Read(_ending.Token).ConfigureAwait(false);
            _membershipVersion = standing.MembershipVersion;
            foreach (var member in Members)
            {
                if (member.Incarnation.Worker != _node.Self.Worker)
                {
                    _node.Hub.Learn(member.Incarnation);
                }
            }
        }

        if (standing.DirectoryVersion == 0)
        {
            await Assign().ConfigureAwait(false);
        }
        else if (standing.DirectoryVersion != _cursor.Through || standing.DirectoryId != _cursor.DirectoryId)
        {
            await ReadDirectory().ConfigureAwait(false);
        }

        await SeeToMaster(standing.Master).ConfigureAwait(false);
    }

    private async Task<ClusterStanding> Standing()
    {
        if (_worker.Time.GetElapsedTime(_renewedAt) < _setup.Options.Lease / 4 && _renewedAt != 0)
        {
            return await _store.Members.Look(_ending.Token).ConfigureAwait(false);
        }

        var at = _worker.Time.GetTimestamp();
        var renewed = await _store.Members.Renew(_cursor.DirectoryId, _cursor.Through, _ending.Token).ConfigureAwait(false);
        if (renewed.IsDone)
        {
            _renewedAt = at;
            return renewed.Value!;
        }

        throw renewed.Status is ClusterStatus.Fenced or ClusterStatus.Lost or ClusterStatus.Stale
            ? new LogLostFailure($"{_node.Self} is no member any more ({renewed.Status}): {renewed.Detail}")
            : new IOException($"The lease was not renewed ({renewed.Status}): {renewed.Detail}");
    }

    /// <summary>The first owners of all partitions: the workers that were announced, once they are all there.</summary>
    private async Task Assign()
    {
        var living = new List<Incarnation>();
        foreach (var member in Members)
        {
            if (member.State == MemberState.Live)
            {
                living.Add(member.Incarnation);
            }
        }

        if (living.Count >= _setup.FirstWorkers && living[0] == _node.Self)
        {
            await _store.Directory.AssignAll(PartitionDivision.Evenly(living), _ending.Token).ConfigureAwait(false); // whatever the answer: the directory is read next
        }
    }

    private async Task ReadDirectory()
    {
        while (true)
        {
            var read = await _store.Directory.Read(_cursor, IClusterDirectory.LongestPage, _ending.Token).ConfigureAwait(false);
            if (!read.IsDone)
            {
                throw new LogLostFailure($"The directory cannot be followed ({read.Status}): {read.Detail}");
            }

            var page = read.Value!;
            if (page.IsWhole)
            {
                _whole.AddRange(page.Entries);
            }

            if (!page.IsWhole)
            {
                await OnFirst(() => Advance(page)).ConfigureAwait(false);
            }
            else if (page.IsLast)
            {
                await OnFirst(() => Replace(page.Next.Through)).ConfigureAwait(false);
                _whole.Clear();
            }

            _cursor = page.Next;
            if (page.IsLast)
            {
                _placed.TrySetResult();
                return;
            }
        }
    }

    private void Advance(DirectoryPage page)
    {
        foreach (var entry in page.Entries)
        {
            if (_node.Directory.Apply(entry))
            {
                Own(entry);
            }
        }

        _node.Directory.Advance([], page.Next.Through);
    }

    private void Replace(long through)
    {
        _node.Directory.Replace(_whole, through);
        foreach (var entry in _whole)
        {
            Own(entry);
        }
    }

    private void Own(DirectoryEntry entry)
    {
        if (_node.Ownership.Apply(entry))
        {
            _node.Ownership.OpenNow(entry.Key); // R4: an entry is given only when all that its last owner logged is folded
        }
    }

    /// <summary>There is always a master: whoever finds the lease free takes it.</summary>
    private async Task SeeToMaster(MasterStanding standing)
    {
        if (_mastership is { } own)
        {
            if (standing.Holder == _node.Self && standing.MasterEpoch == own.MasterEpoch)
            {
                if (standing.Remaining < _setup.Options.Lease * 0.75)
                {
                    await _store.Master.Renew(own.MasterEpoch, _ending.Token).ConfigureAwait(false); // whatever the answer: the next look tells
                }

                return;
            }

            _mastership = null;
            await OnFirst(() => _node.Master?.End()).ConfigureAwait(false);
        }

        if (standing.IsHeld && standing.Holder != _node.Self)
        {
            _node.Requests.Follow(standing.Holder, standing.MasterEpoch);
            return;
        }

        var taken = await _store.Master.Take(_ending.Token).ConfigureAwait(false);
        if (taken.IsDone)
        {
            _mastership = taken.Value!;
            await OnFirst(() => _node.Master = new MasterHost(_node, _worker, taken.Value!, new())).ConfigureAwait(false);
            _node.Requests.Follow(_node.Self, taken.Value!.MasterEpoch);
        }
    }

    private Task OnFirst(Action action)
    {
        var done = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        _node.First.PostRun(() =>
        {
            action();
            done.SetResult();
        });
        return done.Task.WaitAsync(_ending.Token);
    }
}
