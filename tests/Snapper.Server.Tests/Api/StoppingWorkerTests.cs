using System.Net;
using System.Text;
using System.Text.Json;
using Snapper.AspNetCore.Processes;
using Snapper.Cli.Supervision;
using Snapper.Server.Commands;
using Snapper.Server.Hosting;
using Snapper.Server.Tests.Harness;
using Xunit;

namespace Snapper.Server.Tests.Api;

/// <summary>A whole worker that was told to stop and waits for a transaction that is under way.</summary>
public sealed class StoppingWorkerTests
{
    [Fact]
    public async Task Of_an_id_that_has_committed_or_runs_a_worker_that_stops_does_not_say_that_it_was_not_executed()
    {
        using var temp = new TempFolder();
        using var stop = new CancellationTokenSource();
        var ports = Ports.Free(2);
        string[] arguments =
        [
            "--listen-port", $"{ports[0]}", "--sidecar-port", $"{ports[1]}", "--sidecar", "embedded",
            "--data", temp.Path,
        ];
        var settings = WorkerCommand.Settings(arguments, static _ => null);
        var running = WorkerProcess.Run(settings, stop.Token);
        using var http = new HttpClient { BaseAddress = new Uri($"http://127.0.0.1:{ports[0]}") };
        await Eventually.True("the worker is ready", async () =>
        {
            try
            {
                using var answer = await http.GetAsync("/readyz");
                return answer.StatusCode == HttpStatusCode.OK;
            }
            catch (HttpRequestException)
            {
                return false;
            }
        });
        Assert.Equal((200, "committed"), await Append(http, "done", delayMs: 0));
        var slow = Append(http, "slow", delayMs: 4000);
        await Eventually.True("it runs", async () =>
        {
            using var found = await http.GetAsync("/v1/transactions/slow"); // 404 until the request has arrived
            return (await found.Content.ReadAsStringAsync()).Contains("running", StringComparison.Ordinal);
        });

        await stop.CancelAsync();
        var news = 0;
        await Eventually.True("it takes nothing any more", async () =>
            (503, "rejected") == await Append(http, $"new {news++}", delayMs: 0));

        Assert.Equal((504, "inDoubt"), await Append(http, "done", delayMs: 0));
        Assert.Equal((504, "inDoubt"), await Append(http, "slow", delayMs: 4000));
        Assert.Equal((200, "committed"), await slow);
        Assert.Equal(0, await running);
    }

    private static async Task<(int Status, string? Outcome)> Append(HttpClient http, string id, int delayMs)
    {
        var body = $$"""
            {"actor":{"type":"ListAppend","id":"l"},"method":"Execute","id":"{{id}}",
             "input":{"ops":[{"f":"append","key":"l","value":1}],"delayMs":{{delayMs}} } }
            """;
        using var content = new StringContent(body, Encoding.UTF8, "application/json");
        using var answer = await http.PostAsync("/v1/transactions", content);
        using var json = JsonDocument.Parse(await answer.Content.ReadAsStringAsync());
        return ((int)answer.StatusCode, json.RootElement.GetProperty("outcome").GetString());
    }
}
