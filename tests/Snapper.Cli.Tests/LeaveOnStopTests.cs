using System.Collections.Concurrent;
using System.Diagnostics;
using System.Net;
using System.Text;
using System.Text.Json.Nodes;
using Snapper.AspNetCore.Processes;
using Snapper.Cli.Supervision;
using Xunit;

namespace Snapper.Cli.Tests;

/// <summary>Workers, sidecars, placement and Redis as processes; one worker is told to stop as an orchestrator does it, and comes back.</summary>
public sealed class LeaveOnStopTests : IDisposable
{
    private const int Accounts = 60;
    private const int Stopping = 1;

    private static readonly HttpClient Http = new() { Timeout = TimeSpan.FromSeconds(40) };

    private readonly TempFolder _temp = new();

    public void Dispose() => _temp.Dispose();

    [NeedsServersFact]
    public async Task A_worker_that_is_stopped_under_load_moves_everything_away_first_and_nobody_notices()
    {
        var ports = Ports.Free(2);
        var settings = new Dictionary<string, string?> { ["SNAPPER_LEAVE_ON_STOP"] = "20", ["SNAPPER_TAKE_SHARE"] = "on" };
        await using var up = UpProcess.Start("up", _temp.Path, ports[0] - 1, ports[1], ["--workers", "3"], settings);
        var ready = await up.Ready();
        var asked = ready.Workers[0].Url;
        var victim = ready.Workers[Stopping];
        Assert.Equal("w2", victim.Name);
        var workers = await Workers(asked);
        Assert.NotEqual(0, Entries(workers, "w2"));
        var epoch = (long)workers.Single(worker => (string?)worker!["worker"] == "w2")!["epoch"]!;

        using var enough = new CancellationTokenSource();
        var bad = new ConcurrentQueue<string>();
        var committed = 0;
        var load = Enumerable.Range(0, 4).Select(loop => Task.Run(async () =>
        {
            for (var i = 0; !enough.IsCancellationRequested; i++)
            {
                if (await Transfer(asked, $"t-{loop}-{i}", loop * 7919 + i) is { } problem) bad.Enqueue(problem);
                else Interlocked.Increment(ref committed);
            }
        })).ToArray();
        await Eventually.True("transfers are committed", () => Volatile.Read(ref committed) > 50);

        var stopped = Stopwatch.GetTimestamp();
        Assert.True(Posix.Send(victim.Pid, Posix.Terminate));
        using (var process = Find(victim.Pid))
        {
            await (process?.WaitForExitAsync() ?? Task.CompletedTask).WaitAsync(Eventually.Deadline);
        }

        // Given away by itself, wholly, long before its time or anybody's lease was over; its sidecar was told, and came back as it did.
        Assert.True(Stopwatch.GetElapsedTime(stopped) < TimeSpan.FromSeconds(20), "it took all of its time");
        var left = await Ask(asked, $"v1/migrations/leave-w2-{epoch}-1");
        Assert.Equal("done", (string?)left["state"]);
        await Eventually.True("w2 is back", () => up.State().Workers[Stopping].Worker.Pid is var pid && pid != 0 && pid != victim.Pid);
        await Eventually.True("its sidecar ended and is back", () => up.State().Workers[Stopping].Sidecar.Pid is var pid && pid != 0 && pid != victim.SidecarPid);
        await Eventually.True("w2 has its share again", async () => Entries(await Workers(asked), "w2") > 1000);
        var w2 = (await Workers(asked)).Single(worker => (string?)worker!["worker"] == "w2")!;
        Assert.Equal((epoch + 1, 0, 0), ((long)w2["epoch"]!, (int)w2["expirations"]!, (int)w2["evictions"]!));

        var before = Volatile.Read(ref committed);
        await Eventually.True("transfers are still committed", () => Volatile.Read(ref committed) > before + 50);
        await enough.CancelAsync();
        await Task.WhenAll(load);
        Assert.Empty(bad);
        Assert.Equal(Accounts * 20_000m, await Sum(asked));

        // All are told at once: nobody hands anything to one that is about to stop, and nobody waits for it.
        up.Remember();
        up.Signal(Posix.Terminate);
        Assert.Equal(0, await up.Exit());
    }

    private static Process? Find(int pid)
    {
        try
        {
            return Process.GetProcessById(pid);
        }
        catch (ArgumentException)
        {
            return null; // it has ended
        }
    }

    private static async Task<string?> Transfer(string worker, string id, int number)
    {
        var (from, to) = (number % Accounts, (number * 31 + 17) % Accounts);
        if (from == to) to = (to + 1) % Accounts;
        var access = number % 5 == 0 ? "" : $$""","access":{"Account":["a{{from}}","a{{to}}"]}"""; // some are ACTs
        var body = $$"""{"actor":{"type":"Account","id":"a{{from}}"},"method":"Transfer","input":{"to":"a{{to}}","amount":1},"id":"{{id}}"{{access}}}""";
        using var content = new StringContent(body, Encoding.UTF8, "application/json");
        using var answer = await Http.PostAsync(new Uri($"{worker}/v1/transactions"), content);
        return answer.StatusCode == HttpStatusCode.OK ? null : $"{(int)answer.StatusCode} {await answer.Content.ReadAsStringAsync()}";
    }

    private static async Task<decimal> Sum(string worker)
    {
        var sum = 0m;
        for (var account = 0; account < Accounts; account++)
        {
            using var content = new StringContent($$"""{"actor":{"type":"Account","id":"a{{account}}"},"method":"Balance"}""", Encoding.UTF8, "application/json");
            using var answer = await Http.PostAsync(new Uri($"{worker}/v1/transactions"), content);
            sum += (decimal)JsonNode.Parse(await answer.Content.ReadAsStringAsync())!["result"]!["total"]!;
        }

        return sum;
    }

    private static async Task<JsonNode> Ask(string worker, string path) => JsonNode.Parse(await Http.GetStringAsync(new Uri($"{worker}/{path}")))!;

    private static async Task<JsonArray> Workers(string worker) => (await Ask(worker, "v1/workers"))["workers"]!.AsArray();

    private static long Entries(JsonArray workers, string name) => (long)workers.Single(worker => (string?)worker!["worker"] == name)!["entries"]!;
}
