using System.Collections.Concurrent;
using System.Diagnostics;
using System.Globalization;
using Snapper.Integration.Tests.Harness;
using Snapper.Live.Cluster;
using Snapper.Live.Rounds;
using Xunit;
using Xunit.Abstractions;

namespace Snapper.Integration.Tests.Cluster;

/// <summary>Several real workers: <c>up --workers N</c>, the demo while its processes are killed, and a short live run.</summary>
[RequiresServers]
public sealed class SeveralWorkersTests(ITestOutputHelper output)
{
    // A worker that answers no packet for so long is evicted.
    private static readonly TimeSpan s_silence = TimeSpan.FromSeconds(3);

    /// <summary>Four; <c>SNAPPER_WORKERS=8</c> makes it as many as wanted, up to 8.</summary>
    [SystemFact]
    public async Task Workers_start_take_transactions_over_all_and_stop()
    {
        var workers = int.TryParse(Environment.GetEnvironmentVariable("SNAPPER_WORKERS"), CultureInfo.InvariantCulture, out var set) ? set : 4;
        var options = UpOptions.Random(embedded: false, [.. Enumerable.Range(1, workers), .. Enumerable.Range(10, workers)]) with
        {
            More = ["--workers", workers.ToString(CultureInfo.InvariantCulture)],
        };
        await using (var up = await SnapperProcess.Start(options))
        {
            Assert.Equal(workers, up.Ready.Workers.Count);
            await TransactOverAll(up);
            await up.Stop();
        }

        Directory.Delete(options.Data, recursive: true);
    }

    /// <summary>
    /// daprd calls an app 1,024 times at once, packets between workers included: behind requests that wait, these came
    /// after 8 s, and the worker was evicted after 3.
    /// </summary>
    [SystemFact]
    public async Task Requests_that_wait_through_a_sidecar_hold_up_no_packets()
    {
        const int Sent = 1100;
        var options = UpOptions.Random(embedded: false, 1, 2, 10, 11) with { More = ["--workers", "2"] };
        await using (var up = await SnapperProcess.Start(options))
        {
            using var first = new SnapperClient(up.Worker.Url, up.Worker.Sidecar);
            using var second = new SnapperClient(up.Ready.Workers[1].Url, up.Ready.Workers[1].Sidecar);
            var waiting = Enumerable.Range(0, Sent)
                .Select(i => first.Submit(Lists.Execute($"waits-{i}", [], delayMs: 10_000).Act(), Door.Service))
                .ToArray();
            await Eventually.Holds("those beyond 900 to be refused", TimeSpan.FromSeconds(30), () =>
                Task.FromResult(waiting.Count(one => one.IsCompleted) >= Sent - 900 ? null : "not yet"));

            // Twelve lists: both workers have some of them.
            for (var i = 0; i < 20; i++)
            {
                var appends = Enumerable.Range(0, 12).Select(key => Lists.Append($"k{key}", i)).ToArray();
                var over = Lists.ExecutePact("root", appends);
                var clock = Stopwatch.StartNew();
                var answer = await second.Submit(over);
                var isQuick = clock.Elapsed < s_silence;
                Assert.True(isQuick && answer.Verdict == Verdict.Committed, $"{clock.Elapsed}: {answer}");
            }

            var answers = await Task.WhenAll(waiting);
            output.WriteLine(string.Join(", ", answers.CountBy(answer => answer.Status ?? 0)));
            var refused = answers.Where(answer => answer.Verdict != Verdict.Committed);
            Assert.All(refused, answer => Assert.Equal(429, answer.Status));
            var workers = (await second.Get("v1/workers")).Json.GetProperty("workers").EnumerateArray();
            Assert.All(workers, worker => Assert.Equal(0, worker.GetProperty("evictions").GetInt32()));
            await up.Stop();
        }

        Directory.Delete(options.Data, recursive: true);
    }

    [SystemFact]
    [Trait("Lane", "nightly")]
    public async Task The_demo_finds_the_money_right_while_its_processes_die_and_actors_move()
    {
        var options = UpOptions.Random(embedded: false, 2, 3, 4, 11, 12, 13) with { Command = "demo", More = ["--workers", "3", "--seconds", "1", "--accounts", "100", "--for", "3600"] };
        await using var demo = await SnapperProcess.Start(options);
        await Eventually.Holds("transfers to go on", TimeSpan.FromSeconds(60), () => Task.FromResult(demo.Output.Contains("Transfers go on", StringComparison.Ordinal) ? null : demo.Output));
        var url = demo.Ready.Workers[0].Url.ToString();

        ProcessTable.Signal(demo.Ready.Workers[2].Pid, ProcessTable.Kill);
        await Command(demo, "migrate", "--url", url, "--to", "w2", "Account/demo-0001", "Account/demo-0002");
        ProcessTable.Signal(demo.Ready.Workers[1].SidecarPid, ProcessTable.Kill);
        await Command(demo, "join", "--data", options.Data);
        await Command(demo, "rebalance", "--url", url);
        await Command(demo, "leave", "--data", options.Data, "w4");

        demo.Terminate();

        Assert.Equal(0, await demo.Ended());
        output.WriteLine(demo.Output);
        Assert.Contains("the money was right each of the", demo.Output, StringComparison.Ordinal);
        Assert.Contains("w4 is warm after", File.ReadAllText(Path.Combine(options.Data, "logs", "worker-w4.log")), StringComparison.Ordinal); // it came to the others, and nobody waited for it
        Directory.Delete(options.Data, recursive: true);
    }

    [SystemFact]
    [Trait("Lane", "nightly")]
    public async Task A_few_faults_of_several_workers_break_no_promise()
    {
        var options = new LiveOptions { Rounds = 2, Brief = true, Workers = 3 };
        options = options with { Seed = LoadOptions.SeedOr(options.Seed) };
        var lines = new ConcurrentQueue<string>();
        using var stop = new CancellationTokenSource(TimeSpan.FromMinutes(4));

        var passed = await new ClusterRun(options, lines.Enqueue).Run(stop.Token);

        var text = string.Join('\n', lines);
        output.WriteLine(text);
        Assert.True(passed, text);
    }

    /// <summary>I2: wherever a root is now, it has the ids, outcomes and states of all stages before.</summary>
    [SystemFact]
    public async Task Ids_outcomes_and_states_go_from_one_worker_to_three_to_one_and_to_three()
    {
        const int Roots = 12;
        var options = UpOptions.Random(embedded: false, 1, 2, 3, 10, 11, 12);
        var sent = new List<(Transaction Asked, Answer First)>();
        var workers = new[] { 1, 3, 1, 3 };
        for (var stage = 1; stage <= workers.Length; stage++)
        {
            await using var up = await SnapperProcess.Start(workers[stage - 1] == 1 ? options : options with { More = ["--workers", "3"] });
            if (stage == 4)
            {
                await Command(up, "rebalance", "--url", up.Worker.Url.ToString());
            }

            using var client = new SnapperClient([.. up.Ready.Workers.Select(worker => (worker.Url, worker.Sidecar))]);
            for (var i = 0; i < Roots; i++)
            {
                var root = $"r{i}";
                var append = (i % 3) switch
                {
                    0 => Lists.AppendTo(root, stage).Pact(),
                    1 => Lists.AppendTo(root, stage).Act(),
                    _ => Lists.Execute(root, [Lists.Append(root, stage), Lists.Append($"beside-{i}", stage)]).Act(),
                };
                append = append with { RequestId = $"s{stage}-{root}" };
                sent.Add((append, await Committed(append)));
            }

            foreach (var worker in up.Ready.Workers)
            {
                using var via = new SnapperClient(worker.Url, worker.Sidecar);
                await Task.WhenAll(sent.Select(async one =>
                {
                    Doors.IdempotencyTests.AssertSame(one.First, await Committed(one.Asked, via));
                    Doors.IdempotencyTests.AssertSame(one.First, await via.Find(one.Asked.RequestId!));
                }));
            }

            var expected = string.Join(',', Enumerable.Range(1, stage));
            for (var i = 0; i < Roots; i++)
            {
                Assert.Equal($"[{expected}]", (await Committed(Lists.ReadOf($"r{i}").Act())).Result.GetRawText());
                Assert.Equal(i % 3 == 2 ? $"[{expected}]" : "[]", (await Committed(Lists.ReadOf($"beside-{i}").Act())).Result.GetRawText());
            }

            output.WriteLine($"stage {stage}: {string.Join(", ", up.Ready.Workers)}");
            if (stage != 2)
            {
                await up.Stop();
            } // else all of it is killed, and the one that is next takes over what it has not

            async Task<Answer> Committed(Transaction transaction, SnapperClient? via = null)
            {
                var answer = default(Answer);
                await Eventually.Holds($"{transaction.RequestId} to commit", TimeSpan.FromSeconds(60), async () =>
                {
                    answer = await (via ?? client).Submit(transaction);
                    return answer.Verdict == Verdict.Committed ? null : answer.ToString();
                });
                return answer!;
            }
        }

        Directory.Delete(options.Data, recursive: true);
    }

    /// <summary>An app that may call actors is not a worker: <c>up</c> has made a secret of its own.</summary>
    private static async Task AssertRefusesForgedPackets(SnapperProcess up)
    {
        using var http = new HttpClient();
        foreach (var shown in (string?[])[null, "Snapper " + new string('0', 64)])
        {
            using var packet = new ByteArrayContent([255]);
            var mailbox = new Uri(up.Worker.Sidecar, "v1.0/actors/Mailbox@w1/0/method/Deliver");
            using var request = new HttpRequestMessage(HttpMethod.Put, mailbox);
            request.Content = packet;
            if (shown is not null)
            {
                request.Headers.TryAddWithoutValidation("Authorization", shown);
            }

            using var answer = await http.SendAsync(request);
            Assert.Contains("SNAPPER_MAILBOX_SECRET", await answer.Content.ReadAsStringAsync());
        }
    }

    [SystemFact]
    public async Task A_worker_of_two_that_owns_single_actors_and_their_partitions_is_drained_and_leaves_under_load()
    {
        var options = UpOptions.Random(embedded: false, 1, 2, 10, 11) with { More = ["--workers", "2"] };
        await using (var up = await SnapperProcess.Start(options))
        {
            await TransactOverAll(up);
            await AssertRefusesForgedPackets(up);
            using var client = new SnapperClient(up.Worker.Url, up.Worker.Sidecar);
            var load = new ListAppendLoad(client, new LoadOptions
            {
                Seed = LoadOptions.SeedOr(301), Clients = 2, ThinkTime = TimeSpan.FromMilliseconds(20),
                Patience = TimeSpan.FromSeconds(90),
            }, "moved");
            using var stop = new CancellationTokenSource();
            var running = load.Run(stop.Token);
            var url = up.Worker.Url.ToString();
            await Command(up, "migrate", "--url", url, "--to", "w2", "Account/alice", "Account/bob", "Account/carol", "Account/dave");
            await Command(up, "drain", "--url", url, "w1");
            await Command(up, "drain", "--url", url, "w2");
            await Command(up, "leave", "--data", options.Data, "w2");
            await Eventually.Holds("more than 100 commits", TimeSpan.FromSeconds(30), () =>
                Task.FromResult(load.Committed.Count > 100 ? null : $"{load.Committed.Count} commits"));
            await stop.CancelAsync();
            await running;
            var report = await load.Judge();
            Assert.True(report.Passed && load.Problems.IsEmpty, load.Describe(report));
            Assert.Equal(0, report.Statistics.Unknown);
            await up.Stop();
        }

        Directory.Delete(options.Data, recursive: true);
    }

    private static async Task TransactOverAll(SnapperProcess up)
    {
        var accounts = Enumerable.Range(0, 3 * up.Ready.Workers.Count).Select(i => $"all-{i}").ToArray();
        foreach (var worker in up.Ready.Workers)
        {
            using var client = new SnapperClient(worker.Url, worker.Sidecar);
            foreach (var door in new[] { Door.Direct, Door.Service, Door.Actor })
            {
                var pact = await client.Submit(Accounts.MultiTransfer(accounts[0], accounts[1..], 1).Pact(accounts[1..]), door);
                Assert.True(pact.Verdict == Verdict.Committed, $"{worker} at {door}: {pact}");
                var act = await client.Submit(Accounts.MultiTransfer(accounts[1], accounts[2..], 1).Act(), door);
                Assert.True(act.Verdict == Verdict.Committed, $"{worker} at {door}: {act}");
            }
        }
    }

    private static async Task Command(SnapperProcess demo, params string[] arguments)
    {
        var (exit, said) = await Repository.Snapper(arguments);
        Assert.True(exit == 0, $"{string.Join(' ', arguments)}: {said}\n{demo.Output}");
    }
}
