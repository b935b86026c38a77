using System.Globalization;
using System.Text.Json;
using Snapper.Apps.ListAppend;
using Snapper.Cluster;
using Snapper.Cluster.Control;
using Snapper.Protocol.Directory;
using Snapper.Protocol.Identity;
using Snapper.Runtime.Door;
using Snapper.Runtime.Execution;
using Snapper.Runtime.Hosting;
using Snapper.Runtime.Tests.Support;
using Snapper.Storage.Log;
using Snapper.Storage.Membership;
using Snapper.Storage.Memory;
using Snapper.Storage.States;
using Xunit;
using Xunit.Abstractions;

namespace Snapper.Runtime.Tests.Cluster;

/// <summary>
/// I2 over hours: ids are sent again and again inside their windows, over restarts, moves, one worker to three to one to three, wall clocks that are put forward and back, and outages of the log that are longer
/// than the window; then it is counted how many have run twice. SNAPPER_ID_RETRIES says how many retries, SNAPPER_ID_SEED with which choices.
/// </summary>
public sealed class IdRetriesTests(ITestOutputHelper output)
{
    private const int PerStep = 160; // retries, as long as fewer than a thousand steps make them all
    private const int Boxes = 24;
    private static readonly TimeSpan s_window = new WorkerOptions().IdempotencyWindow;

    private readonly Random _random = new((int)Setting("SNAPPER_ID_SEED", 1));
    private readonly SkewedTime[] _times = [new(), new(), new(), new()];
    private readonly List<Sent> _sent = [];
    private TimeSpan _now;
    private TestCluster? _cluster;
    private WorkerHost? _alone;
    private MemoryCluster _shared = null!;
    private long _retries;
    private long _answered;
    private int _plans;

    [Fact]
    public async Task No_id_runs_twice()
    {
        var most = Setting("SNAPPER_ID_RETRIES", 5_000);
        var (ids, twice, lost, episodes) = (0, 0, 0, 0);
        var perStep = (int)Math.Max(PerStep, most / 1000);
        for (; _retries < most; episodes++)
        {
            await Episode(perStep);
            var (again, gone) = await Count();
            ids += _sent.Count;
            twice += again;
            lost += gone;
            _sent.Clear();
            await _cluster!.DisposeAsync();
            _cluster = null; // the next episode begins with one worker alone
        }

        output.WriteLine($"{episodes} episodes, {ids} ids, {_retries} retries, {_answered} of them answered with the first outcome, {twice} ids ran twice, {lost} were lost");
        Assert.Equal((0, 0), (twice, lost));
        Assert.True(_answered > _retries * 0.8, $"only {_answered} of {_retries} retries were answered");
    }

    private async Task Episode(int perStep)
    {
        _shared = new MemoryCluster(TimeProvider.System, new ClusterOptions { Lease = TimeSpan.FromSeconds(1) });
        await Alone();
        await Steps(2, perStep);
        await (_random.Next(2) == 0 ? _alone!.Kill() : _alone!.Stop());
        _alone = null;
        _cluster = await TestCluster.Start(3, lease: TimeSpan.FromSeconds(1), shared: _shared, times: worker => _times[worker], patience: TimeSpan.FromSeconds(30));
        await Steps(5, perStep);
        for (var leaver = 3; leaver >= 2; leaver--)
        {
            await Leave(leaver, isKilled: _random.Next(2) == 0);
            await Steps(1, perStep);
        }

        await Restart(1);
        await Steps(2, perStep);
        _cluster.Workers = 3;
        await Task.WhenAll(_cluster.Open(2), _cluster.Open(3)).WaitAsync(TimeSpan.FromSeconds(20));
        await Rig.Until(() => _cluster[1].Worker.Cluster!.Members().Count == 3, "w1 knows of w2 and w3");
        await _cluster[1].Control!.Migrate(new MigrationAsk($"share{_plans++}", null, null, null, null, "they come", false, Rebalance: true), CancellationToken.None);
        await Steps(4, perStep);
    }

    private async Task Steps(int count, int perStep)
    {
        for (var i = 0; i < count; i++)
        {
            await Happen();
            await Send(perStep / 8, isNew: true);
            await Send(perStep / 2, isNew: false);
            if (_random.Next(2) == 0)
            {
                await Task.WhenAll(Living().Select(host => host.Worker.Checkpoints.CheckpointNow()));
            }

            await Pass(TimeSpan.FromMinutes(_random.Next(4)));
            await Send(perStep / 2, isNew: false);
        }
    }

    /// <summary>Something that an operator meets.</summary>
    private async Task Happen()
    {
        foreach (var time in _times)
        {
            if (_random.Next(3) == 0)
            {
                time.Step(TimeSpan.FromMinutes(_random.Next(-30, 31)));
            }
        }

        switch (_random.Next(4))
        {
            case 0:
                await Outage();
                break;
            case 1 when _cluster is null:
                await (_random.Next(2) == 0 ? _alone!.Kill() : _alone!.Stop());
                await Alone();
                break;
            case 1:
                await Restart(1 + _random.Next(_cluster.Workers));
                break;
            case 2 when _cluster is { Workers: > 1 }:
                for (var moves = 0; moves < 6; moves++)
                {
                    var actor = BoxKey(_random.Next(Boxes));
                    var partition = Partition.Of(actor);
                    var from = _cluster.OwnerOf(actor.Type, actor.Id).Worker.Options.Number;
                    var to = 1 + _random.Next(_cluster.Workers);
                    if (from != to)
                    {
                        await _cluster.Move($"m{_plans++}", from, to, DirectoryKey.Of(partition));
                    }
                }

                break;
        }
    }

    /// <summary>The log of one worker is away for longer than the window, with requests under way.</summary>
    private async Task Outage()
    {
        var worker = _cluster is null ? 1 : 1 + _random.Next(_cluster.Workers);
        var log = _cluster is null ? _aloneLog! : _cluster.Logs[worker]!;
        log.Hold();
        await Send(8, isNew: true, timeoutMs: 150);
        var first = _sent.Count - 8;
        await Pass(s_window + TimeSpan.FromMinutes(1));
        log.Release();
        for (var i = first; i < _sent.Count; i++)
        {
            // What waited for this log is not durable before now; what another worker took is, and its window has
            // ended.
            var actor = BoxKey(_sent[i].Box);
            _sent[i].IsOver = _cluster is not null && _cluster.OwnerOf(actor.Type, actor.Id).Worker.Options.Number != worker;
            _sent[i].Since = _now;
        }

        await Rig.Until(() => Living().All(host => host.Worker.LogOutage is null), "the log is there again");
    }

    private HeldLog? _aloneLog;

    private async Task Alone()
    {
        _aloneLog = new HeldLog(new MemoryTransactionLog(_shared.Log(1)));
        _alone = await WorkerHost.Start(
            new WorkerSetup
            {
                Options = new WorkerOptions { Name = "w1", Number = 1, DrainTimeout = TimeSpan.FromSeconds(1) },
                Time = _times[1],
                ActorTypes = SnapperAppsListAppendActors.All,
                Log = _aloneLog,
                Store = new MemoryStateStore(_shared.Log(1), _times[1], new StateStoreOptions()),
            },
            CancellationToken.None);
    }

    private async Task Restart(int worker)
    {
        await (_random.Next(2) == 0 || _cluster![worker].Failure is not null ? _cluster!.Kill(worker) : _cluster[worker].Stop());
        await _cluster.Open(worker).WaitAsync(TimeSpan.FromSeconds(20));
    }

    private async Task Leave(int leaver, bool isKilled)
    {
        if (isKilled)
        {
            await _cluster!.Kill(leaver);
        }
        else
        {
            await _cluster![1].Control!.Migrate(new MigrationAsk($"drain{_plans++}", null, null, $"w{leaver}", "w1", "it leaves", false), CancellationToken.None);
        }

        await Rig.Until(() => _cluster.Members().Result.Single(member => member.Incarnation.Worker == leaver).Entries == 0, $"w{leaver} owns nothing", 30);
        if (!isKilled)
        {
            await _cluster[leaver].Stop();
        }

        _cluster.Workers = leaver - 1;
    }

    private IEnumerable<WorkerHost> Living() => _cluster is null ? [_alone!] : Enumerable.Range(1, _cluster.Workers).Select(worker => _cluster[worker]);

    /// <summary>Time passes, minute by minute, with what is done once in each.</summary>
    private async Task Pass(TimeSpan time)
    {
        for (var minute = 0; minute < time.TotalMinutes; minute++)
        {
            _now += TimeSpan.FromMinutes(1);
            Array.ForEach(_times, static clock => clock.Advance(TimeSpan.FromMinutes(1)));
            await Task.WhenAll(Living().Select(host => host.Worker.ForgetOldIds()));
        }
    }

    private async Task Send(int count, bool isNew, int timeoutMs = 5_000)
    {
        var known = isNew ? [] : _sent.FindAll(sent => !sent.IsOver && sent.Since + s_window > _now);
        var running = new List<Task>();
        for (var i = 0; i < count && (isNew || known.Count > 0); i++)
        {
            Sent sent;
            if (isNew)
            {
                _sent.Add(sent = new Sent(_sent.Count, _random.Next(Boxes), _random.Next(2) == 0, _now));
            }
            else
            {
                sent = known[_random.Next(known.Count)];
                _retries++;
            }

            running.Add(Send(sent, isNew, timeoutMs));
            if (running.Count == 40)
            {
                await Task.WhenAll(running);
                running.Clear();
            }
        }

        await Task.WhenAll(running);
    }

    private async Task Send(Sent sent, bool isNew, int timeoutMs)
    {
        var actor = BoxKey(sent.Box);
        DeclaredAccess[]? access = sent.IsPact ? [new(actor, 1)] : null;
        var key = $"id{sent.Number}";
        var answer = _cluster is null
            ? await TestCluster.SubmitTo(_alone!, actor.Type, actor.Id, "Append", new { value = sent.Number }, access, key, timeoutMs)
            : await _cluster.Submit(actor.Type, actor.Id, "Append", new { value = sent.Number }, access, key, timeoutMs);
        lock (sent)
        {
            sent.HasCommitted |= answer.Outcome == Outcome.Committed;
            if (!isNew && answer.Outcome == Outcome.Committed)
            {
                Interlocked.Increment(ref _answered);
            }
        }
    }

    private async Task<(int Twice, int Lost)> Count()
    {
        var times = new Dictionary<int, int>();
        for (var box = 0; box < Boxes; box++)
        {
            var actor = BoxKey(box);
            var list = await _cluster!.Submit(actor.Type, actor.Id, "Read", null, null);
            Assert.True(list.Outcome == Outcome.Committed, TestWorker.Describe(list));
            foreach (var number in JsonSerializer.Deserialize<int[]>(list.Result.Span)!)
            {
                times[number] = times.GetValueOrDefault(number) + 1;
            }
        }

        foreach (var (number, ran) in times.Where(pair => pair.Value > 1).Take(5))
        {
            output.WriteLine($"id{number} on box {_sent[number].Box} ran {ran} times; sent at {_sent[number].Since}, it is {_now}");
        }

        return (times.Values.Count(ran => ran > 1), _sent.Count(sent => sent.HasCommitted && !times.ContainsKey(sent.Number)));
    }

    private static ActorKey BoxKey(int box) => new("ListAppend", string.Create(CultureInfo.InvariantCulture, $"box{box}"));

    private static long Setting(string name, long standard) => long.TryParse(Environment.GetEnvironmentVariable(name), NumberStyles.None, CultureInfo.InvariantCulture, out var number) ? number : standard;

    private sealed class Sent(int number, int box, bool isPact, TimeSpan since)
    {
        public int Number => number;

        public int Box => box;

        public bool IsPact => isPact;

        /// <summary>It was not durable before.</summary>
        public TimeSpan Since { get; set; } = since;

        public bool HasCommitted { get; set; }

        /// <summary>Nobody sends it again.</summary>
        public bool IsOver { get; set; }
    }
}
