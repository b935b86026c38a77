using Snapper.Protocol.Directory;
using Snapper.Protocol.Identity;
using Snapper.Storage.Log;
using Snapper.Storage.Log.Writing;
using Snapper.Storage.Membership;
using Snapper.Storage.MigrationPlans;
using Snapper.Storage.Recovery;
using Snapper.Storage.States;
using Snapper.Storage.Tests.Support;
using Xunit;

namespace Snapper.Storage.Tests.Cluster;

/// <summary>Three workers and a few actors under a seed. Each step of a take-over or a migration is a step of its own, so that anything comes between.</summary>
internal sealed class InterleavingWorld(IClusterBackend backend, int seed, Dictionary<string, int> counts)
{
    private const int Workers = 3;
    private static readonly CancellationToken None = CancellationToken.None;
    private static readonly string[] Actors = [.. Enumerable.Range(0, 6).Select(i => $"actor{i}")];

    private readonly Random _random = new(seed);
    private readonly Life?[] _lives = new Life?[Workers + 1];
    private readonly List<Life> _zombies = [];
    private readonly Dictionary<string, long> _acknowledged = Actors.ToDictionary(a => a, _ => 0L);
    private readonly Dictionary<string, (MigrationPlan Plan, string Actor)> _plans = [];
    private readonly DirectoryTable _table = new();
    private DirectoryCursor _cursor = DirectoryCursor.Start;
    private readonly List<DirectoryEntry> _news = [];
    private int _planNumber;

    public async Task Run(int steps)
    {
        for (var worker = 1; worker <= Workers; worker++)
        {
            _lives[worker] = await Open(worker);
            await Advance(_lives[worker]!);
        }

        var first = _lives[1]!.Worker;
        Assert.True((await first.Directory.AssignAll(PartitionDivision.Evenly([.. _lives.OfType<Life>().Select(l => l.Worker.Self)]), None)).IsDone);
        foreach (var life in _lives.OfType<Life>())
        {
            await Advance(life);
            await Advance(life);
        }

        await Check(withCounts: true);
        for (var step = 0; step < steps; step++)
        {
            try
            {
                await Step();
                await Check(withCounts: step % 20 == 0);
            }
            catch (Exception problem)
            {
                throw new InvalidOperationException($"Seed {seed}, step {step}: {problem.Message}", problem);
            }
        }
    }

    private async Task Step()
    {
        if (_random.Next(4) == 0 && _lives.FirstOrDefault(l => l?.Rescue is not null) is { } rescuer)
        {
            await Advance(rescuer);
            return;
        }

        var worker = _random.Next(1, Workers + 1);
        var life = _zombies.Count > 0 && _random.Next(5) == 0 ? _zombies[_random.Next(_zombies.Count)] : _lives[worker];
        if (life is null)
        {
            _lives[worker] = await Open(worker);
            Count("restart");
            return;
        }

        switch (_random.Next(20))
        {
            case < 8:
                await Write(life);
                break;
            case < 13:
                await Advance(life);
                break;
            case < 15:
                await Fence(life);
                break;
            case 15:
                await PlanMove(life);
                break;
            case 16 or 17:
                await EndPlan(life);
                break;
            case 18:
                await TimePasses();
                break;
            default:
                await GoAway(life);
                break;
        }
    }

    private async Task<Life> Open(int number)
    {
        var log = backend.NewLog(number);
        var opening = await log.Open(None);
        var self = new Incarnation(number, opening.Epoch);
        return new Life(new TestWorker(self, log, opening, backend.NewStates(log, number), backend.NewStore(log, self)));
    }

    private async Task Write(Life life)
    {
        if (life.Open.Count == 0)
        {
            return;
        }

        var actor = life.Open.Keys.Order(StringComparer.Ordinal).ElementAt(_random.Next(life.Open.Count));
        var status = await life.Worker.Write(actor, life.Open[actor] + 1);
        if (status == AppendStatus.Fenced)
        {
            Count("write fenced");
            End(life);
            return;
        }

        Assert.Equal(AppendStatus.Appended, status);
        Assert.True(_acknowledged[actor] == life.Open[actor], $"{life.Worker.Self} brings {actor} from {life.Open[actor]} on, and {_acknowledged[actor]} was acknowledged: two owners");
        _acknowledged[actor] = ++life.Open[actor];
        life.Dirty[actor] = life.Open[actor];
        Count("write");
    }

    /// <summary>The next step of whatever this life is at: starting, or rescuing.</summary>
    private async Task Advance(Life life)
    {
        var worker = life.Worker;
        try
        {
            switch (life.Stage)
            {
                case Stage.Opened:
                    life.Stage = Passed(life, (await worker.Members.Register(new MemberAddress("w", "", 1, ""), None)).Status) ? Stage.Registered : life.Stage;
                    return;
                case Stage.Registered:
                    await LogRecovery.Run(worker.Log, worker.States, worker.Opening, new NoSink(), TimeProvider.System, None);
                    Certain(await worker.Log.Trim(worker.Self.Epoch, worker.Opening.NextSequence, default, None));
                    life.Stage = Stage.Recovered;
                    return;
                case Stage.Recovered:
                    var reclaimed = await worker.Directory.Reclaim(await KeysOf(worker.Self.Worker), None);
                    if (Passed(life, reclaimed.Status))
                    {
                        life.Stage = Stage.Ready;
                        Count("reclaim");
                        await OpenEntries(life, reclaimed.Value!);
                        await OpenEntries(life, await Named(worker.Self));
                    }

                    return;
                default:
                    await AdvanceRescue(life);
                    return;
            }
        }
        catch (LogLostException lost) when (lost.Status == AppendStatus.RescuerFenced || life.Rescue is null)
        {
            Count("rescuer fenced");
            End(life);
        }
        catch (LogLostException)
        {
            life.Rescue = null;
        }
    }

    private async Task AdvanceRescue(Life life)
    {
        if (life.Rescue is not { } rescue)
        {
            return;
        }

        if (!life.Recovered)
        {
            await LogRecovery.Run(rescue.Log, rescue.States, rescue.Opening, new NoSink(), TimeProvider.System, None);
            Certain(await rescue.Log.Trim(rescue.Opened.Epoch, rescue.Opening.NextSequence, default, None));
            life.Recovered = true;

            // What it will take is settled here; much may happen before it does.
            life.ToTake = await KeysOf(rescue.Opened.Worker);
            Count("recover");
            return;
        }

        // To itself or another, all at once or in two parts.
        var keys = life.ToTake;
        var part = _random.Next(2) == 0 ? keys : keys[..(keys.Count / 2)];
        var target = _random.Next(3) == 0 ? _lives[_random.Next(1, Workers + 1)] ?? life : life;
        var taken = await life.Worker.Directory.TakeOver(rescue, part, target.Worker.Self, None);
        if (taken.Status == ClusterStatus.Stale && target != life)
        {
            Count("stale");
            return;
        }

        if (Passed(life, taken.Status))
        {
            Count(part.Count == keys.Count ? "take over" : "take over in two parts");
            await OpenEntries(target, taken.Value!);
        }

        life.Rescue = part.Count == keys.Count ? null : life.Rescue;
    }

    private async Task Fence(Life life)
    {
        if (life.Stage != Stage.Ready || life.Rescue is not null)
        {
            return;
        }

        var members = await life.Worker.Members.Read(None);
        var other = members[_random.Next(members.Count)];
        var always = _random.Next(4) == 0;
        var rescue = await life.Worker.Members.Fence(other.Incarnation, always ? FenceWhen.Always : FenceWhen.LeaseExpired, None);
        if (rescue.Status == ClusterStatus.Done)
        {
            Assert.True(always || other.State is not MemberState.Live, "a live worker was fenced");
            life.Rescue = rescue.Value;
            life.Recovered = false;
            Count("fence");
            return;
        }

        Assert.Contains(rescue.Status, new[] { ClusterStatus.Stale, ClusterStatus.NotYet, ClusterStatus.Fenced });
        _ = Passed(life, rescue.Status);
    }

    private async Task PlanMove(Life life)
    {
        if (life.Stage != Stage.Ready || life.Open.Count == 0 || _lives[_random.Next(1, Workers + 1)] is not { Stage: Stage.Ready } target || target.Worker.Self.Worker == life.Worker.Self.Worker)
        {
            return;
        }

        var actor = life.Open.Keys.Order(StringComparer.Ordinal).ElementAt(_random.Next(life.Open.Count));
        var entry = _table.Find(Some.Actor(actor))!;
        var key = _random.Next(2) == 0 && !entry.Key.IsActor ? entry.Key : _table.KeyOf(Some.Actor(actor));

        // Freeze, and hand over by checkpointing everything, so that the target finds it in the hash.
        var checkpoints = life.Dirty.OrderBy(u => u.Key, StringComparer.Ordinal)
            .Select(u => new StateCheckpoint(Some.Actor(u.Key), 0, u.Value, Some.Change(u.Key, u.Value, $"{{\"v\":{u.Value}}}").Fields)).ToList();
        var checkpointed = await life.Worker.States.Checkpoint(life.Worker.Self.Epoch, checkpoints, None);
        var trimmed = checkpointed.Status == AppendStatus.Appended ? await life.Worker.Log.Trim(life.Worker.Self.Epoch, life.Worker.Next, default, None) : checkpointed;
        if (trimmed.Status == AppendStatus.Fenced)
        {
            End(life);
            return;
        }

        Assert.Equal(AppendStatus.Appended, trimmed.Status);
        life.Dirty.Clear();
        var plan = new MigrationPlan($"plan{++_planNumber}", [key], life.Worker.Self, target.Worker.Self, "");
        var made = await life.Worker.Plans.Create(plan, None);
        if (made.Status == ClusterStatus.Done)
        {
            life.Open.Remove(actor, out var version);
            life.Frozen.Add(actor, version);
            _plans.Add(plan.Id, (plan, actor));
            Count("plan");
        }
        else
        {
            _ = Passed(life, made.Status);
        }
    }

    private async Task EndPlan(Life life)
    {
        if (_plans.Count == 0)
        {
            return;
        }

        var (plan, actor) = _plans[_plans.Keys.Order(StringComparer.Ordinal).ElementAt(_random.Next(_plans.Count))];
        var source = Of(plan.From);
        if (_random.Next(3) == 0)
        {
            var cancelled = await life.Worker.Plans.Cancel(plan.Id, "test", None);
            if (Passed(life, cancelled.Status) && cancelled.Status == ClusterStatus.Done)
            {
                // It stays in the list: somebody may still try to commit or cancel it. That lets nobody go who is frozen for a later plan (M3).
                Count("cancel");
                if (source is not null && source.Frozen.Remove(actor, out var version))
                {
                    source.Open.Add(actor, version);
                }
            }

            return;
        }

        var committed = await life.Worker.Plans.Commit(plan.Id, None);
        if (committed.Status == ClusterStatus.Done)
        {
            Count("commit");
            _plans.Remove(plan.Id);
            source?.Frozen.Remove(actor);
            await OpenEntries(Of(plan.To), committed.Value!);
        }
        else
        {
            _ = Passed(life, committed.Status);
        }
    }

    private async Task TimePasses()
    {
        for (var i = 0; i < 3; i++)
        {
            await backend.Pass(backend.Options.Lease / 2);
            foreach (var life in _lives.OfType<Life>().ToArray())
            {
                if (life.Stage != Stage.Opened)
                {
                    var cursor = await Follow(life);
                    _ = Passed(life, (await life.Worker.Members.Renew(cursor.DirectoryId, cursor.Through, None)).Status);
                }
            }
        }
    }

    private Task GoAway(Life life)
    {
        // A crash; or a pause, after which it goes on as if nothing had been.
        var number = life.Worker.Self.Worker;
        if (_lives[number] == life)
        {
            _lives[number] = null;
            if (_random.Next(2) == 0)
            {
                _zombies.Add(life);
            }
        }
        else
        {
            _zombies.Remove(life);
        }

        return Task.CompletedTask;
    }

    /// <summary>An owner opens what the directory gave it: it finds all that was acknowledged.</summary>
    private async Task OpenEntries(Life? life, IReadOnlyList<DirectoryEntry> entries)
    {
        if (life is null)
        {
            return;
        }

        await Follow(life);
        foreach (var actor in Actors)
        {
            var key = Some.Actor(actor);
            if (entries.Any(e => e == _table.Find(key)) && !life.Open.ContainsKey(actor) && !life.Frozen.ContainsKey(actor))
            {
                var version = (await life.Worker.States.Load(key, None))?.Version ?? 0;
                Assert.True(version == _acknowledged[actor], $"{life.Worker.Self} finds {actor} at {version}, and {_acknowledged[actor]} was acknowledged");
                life.Open.Add(actor, version);
            }
        }
    }

    private async Task Check(bool withCounts)
    {
        var observer = _lives.OfType<Life>().Concat(_zombies).FirstOrDefault();
        if (observer is null)
        {
            _news.Clear();
            return;
        }

        await Follow(observer);
        var members = (await observer.Worker.Members.Read(None)).ToDictionary(m => m.Incarnation.Worker);
        // No step both gives an entry and fences somebody: whoever was given one now is current now, or the entry is ownerless for good.
        foreach (var entry in _news)
        {
            Assert.True(members[entry.Owner.Worker].CurrentEpoch == entry.Owner.Epoch, $"{entry} was given to an incarnation that is not current");
        }

        _news.Clear();
        if (withCounts)
        {
            CheckCounts(members);
        }

        foreach (var actor in Actors)
        {
            var owners = _lives.OfType<Life>().Concat(_zombies)
                .Where(l => (l.Open.ContainsKey(actor) || l.Frozen.ContainsKey(actor)) && members[l.Worker.Self.Worker].CurrentEpoch == l.Worker.Self.Epoch).ToList();
            Assert.True(owners.Count <= 1, $"{actor} is owned by {string.Join(" and ", owners.Select(l => l.Worker.Self))}");
            Assert.All(owners, l => Assert.Equal(_table.Resolve(Some.Actor(actor)), l.Worker.Self));
        }
    }

    private void CheckCounts(Dictionary<int, Member> members)
    {
        var entries = new List<DirectoryEntry>();
        for (var worker = 1; worker <= Workers; worker++)
        {
            var before = entries.Count;
            _table.AddOwnedBy(worker, entries);
            Assert.True(members[worker].Entries == entries.Count - before, $"w{worker} is counted with {members[worker].Entries} entries and has {entries.Count - before}");
        }

        Assert.Equal(Partition.Count, entries.Count(e => !e.Key.IsActor));
        Assert.DoesNotContain(entries, e => e.Owner.Epoch > members[e.Owner.Worker].CurrentEpoch);
    }

    private async Task<List<DirectoryKey>> KeysOf(int worker)
    {
        await Follow((_lives.OfType<Life>().Concat(_zombies)).First());
        var entries = new List<DirectoryEntry>();
        _table.AddOwnedBy(worker, entries);
        var wanted = Actors.Select(a => Partition.Of(Some.Actor(a))).ToHashSet();
        return [.. entries.Where(e => wanted.Contains(e.Key.Partition)).Select(e => e.Key)];
    }

    /// <summary>What already names an incarnation: given to it before it was ready.</summary>
    private async Task<List<DirectoryEntry>> Named(Incarnation self)
    {
        var named = new List<DirectoryEntry>();
        foreach (var key in await KeysOf(self.Worker))
        {
            var entry = key.IsActor ? _table.Find(key.Actor!)! : _table.Find(key.Partition)!;
            if (entry.Owner == self)
            {
                named.Add(entry);
            }
        }

        return named;
    }

    private async Task<DirectoryCursor> Follow(Life life)
    {
        while (true)
        {
            var page = await life.Worker.Directory.Read(_cursor, IClusterDirectory.LongestPage, None);
            Assert.Equal(ClusterStatus.Done, page.Status);
            _table.Advance(page.Value!.Entries, page.Value.Next.Through);
            _news.AddRange(page.Value.Entries);
            _cursor = page.Value.Next;
            if (page.Value.IsLast)
            {
                return _cursor;
            }
        }
    }

    private Life? Of(Incarnation incarnation) => _lives.OfType<Life>().Concat(_zombies).FirstOrDefault(l => l.Worker.Self == incarnation);

    /// <summary>Whether a step was done; a life that was told that it is fenced ends.</summary>
    private bool Passed(Life life, ClusterStatus status)
    {
        if (status == ClusterStatus.Fenced)
        {
            Count("rescuer fenced");
            End(life);
        }
        else if (status == ClusterStatus.Stale)
        {
            Count("stale");
            life.Rescue = null;
        }

        Assert.NotEqual(ClusterStatus.Lost, status);
        return status is ClusterStatus.Done or ClusterStatus.AlreadyDone;
    }

    private static void Certain(AppendResult result)
    {
        if (result.Status != AppendStatus.Appended)
        {
            throw new LogLostException(result.Status, result.Detail);
        }
    }

    private void End(Life life)
    {
        _zombies.Remove(life);
        if (_lives[life.Worker.Self.Worker] == life)
        {
            _lives[life.Worker.Self.Worker] = null;
        }
    }

    private void Count(string what) => counts[what] = counts.GetValueOrDefault(what) + 1;

    private enum Stage
    {
        Opened,
        Registered,
        Recovered,
        Ready,
    }

    /// <summary>One life of a worker, and what it believes.</summary>
    private sealed class Life(TestWorker worker)
    {
        public TestWorker Worker => worker;

        public Stage Stage { get; set; }

        /// <summary>Actors that it takes for its own, by version.</summary>
        public Dictionary<string, long> Open { get; } = [];

        public Dictionary<string, long> Frozen { get; } = [];

        public Dictionary<string, long> Dirty { get; } = [];

        public Rescue? Rescue { get; set; }

        public bool Recovered { get; set; }

        public List<DirectoryKey> ToTake { get; set; } = [];
    }
}
