using System.Text.Json;
using Snapper.Integration.Tests.Harness;
using Xunit;

namespace Snapper.Integration.Tests.Doors;

/// <summary>What the worker says about itself.</summary>
[Collection(OnDaprAndRedis.Name)]
[RequiresServers]
public sealed class InspectionTests(DaprAndRedisSystem system) : SystemTests(system)
{
    [SystemFact]
    public async Task Health_and_readiness_name_their_checks()
    {
        foreach (var path in new[] { "healthz", "readyz" })
        {
            var answer = await Client.Get(path);
            Assert.True(answer is { Status: 200, Json.ValueKind: JsonValueKind.Object }, answer.ToString());
            var names = answer.Json.GetProperty("checks").EnumerateObject().Select(check => check.Name).ToArray();
            Assert.True(names.Length > 0 && names.Distinct().Count() == names.Length, $"Each check has a name of its own: {answer}");
        }
    }

    /// <summary>Every field of the contract, and the truth in those that can be checked from outside.</summary>
    [SystemFact]
    public async Task Status_tells_who_and_where()
    {
        var before = await Status();
        await Commit(Accounts.Balance(Name("a")).Pact());
        await Abort(Accounts.Amount("DepositChecking", Name("a"), -1), "application");
        var after = await Status();

        var worker = Shared.Process.Worker;
        Assert.Equal(worker.Name, after.GetProperty("worker").GetString());
        Assert.Equal(worker.Pid, after.GetProperty("pid").GetInt32());
        Assert.Equal(worker.SidecarPid, after.GetProperty("sidecarPid").GetInt32());
        Assert.Equal(Shared.Process.Ready.Dapr, after.GetProperty("dapr").GetString());
        Assert.Equal(Shared.Process.Ready.Log, after.GetProperty("log").GetString());
        Assert.Equal("always", after.GetProperty("durability").GetString());
        Assert.True(after.GetProperty("epoch").GetInt64() > 0);
        Assert.False(string.IsNullOrEmpty(after.GetProperty("version").GetString()));
        Assert.True(after.GetProperty("uptimeMs").GetInt64() >= before.GetProperty("uptimeMs").GetInt64());
        Assert.True(after.GetProperty("committed").GetInt64() > before.GetProperty("committed").GetInt64());
        Assert.True(after.GetProperty("aborted").GetInt64() > before.GetProperty("aborted").GetInt64());
        Assert.True(after.TryGetProperty("redisPid", out _) && after.TryGetProperty("inFlight", out _), after.ToString());
    }

    /// <summary>Whoever watches hears of a commit and an abort that happen meanwhile.</summary>
    [SystemFact]
    public async Task Events_tell_of_batches_and_aborts()
    {
        using var http = new HttpClient();
        using var timeout = new CancellationTokenSource(TimeSpan.FromSeconds(20));
        using var answer = await http.GetAsync(new Uri(Client.Worker, "v1/events"), HttpCompletionOption.ResponseHeadersRead, timeout.Token);
        using var reader = new StreamReader(await answer.Content.ReadAsStreamAsync(timeout.Token));
        Assert.Equal("event: status", await reader.ReadLineAsync(timeout.Token));
        var batch = (await Commit(Accounts.Balance(Name("a")).Pact())).Json.GetProperty("batch").GetInt64();
        var aborted = Name("a");
        await Abort(Accounts.Amount("DepositChecking", aborted, -1), "application");

        var (sawBatch, sawAbort) = (false, false);
        while (!(sawBatch && sawAbort))
        {
            var line = await reader.ReadLineAsync(timeout.Token) ?? throw new InvalidOperationException("The events ended.");
            sawBatch |= line.Contains($"\"batch\":{batch},", StringComparison.Ordinal);
            sawAbort |= line.Contains(aborted, StringComparison.Ordinal) && line.Contains("\"application\"", StringComparison.Ordinal);
        }
    }

    [SystemFact]
    public async Task Actor_types_lists_types_with_their_methods()
    {
        var answer = await Client.Get("v1/actor-types");

        Assert.Equal(200, answer.Status);
        foreach (var name in new[] { "Account", "ListAppend", "MultiTransfer", "Execute" })
        {
            Assert.Contains($"\"{name}\"", answer.Body, StringComparison.Ordinal);
        }
    }

    /// <summary>Committed state, and nothing of an open transaction.</summary>
    [SystemFact]
    public async Task An_actor_shows_its_committed_state_only()
    {
        var (x, id) = (Name("x"), Name("id"));
        var committed = await Commit(Lists.AppendTo(x, 1).Pact());
        var open = Client.Submit(Lists.Execute(x, [Lists.Append(x, 2)], delayMs: 0).Act() with { RequestId = id });

        var answer = await Client.Get($"v1/actors/ListAppend/{x}");
        await open;

        Assert.Equal(200, answer.Status);
        Assert.Equal(Shared.Process.Worker.Name, answer.Json.GetProperty("worker").GetString());
        Assert.True(answer.Json.GetProperty("lastBatch").GetInt64() >= committed.Json.GetProperty("batch").GetInt64() || answer.Json.GetProperty("lastBatch").GetInt64() == 0, answer.ToString());
        Assert.True(answer.Json.TryGetProperty("resident", out _));
        Assert.StartsWith("[1", answer.Json.GetProperty("state").GetRawText(), StringComparison.Ordinal);
    }

    /// <summary>The schedule shows who runs and who waits.</summary>
    [SystemFact]
    public async Task A_schedule_shows_a_running_transaction()
    {
        var x = Name("x");
        var slow = Client.Submit(Lists.ExecutePact(x, [Lists.Append(x, 1)], delayMs: 800));

        await Eventually.Holds($"the schedule of {x} to show an entry", TimeSpan.FromSeconds(3), async () =>
        {
            var answer = await Client.Get($"v1/actors/ListAppend/{x}/schedule");
            Assert.Equal(200, answer.Status);
            return answer.Body.Contains("pact", StringComparison.OrdinalIgnoreCase) ? null : answer.Body;
        });
        Assert.Equal(Verdict.Committed, (await slow).Verdict);
    }

    [SystemFact]
    public async Task Batches_can_be_listed_and_looked_at()
    {
        var batch = (await Commit(Accounts.Balance(Name("a")).Pact())).Json.GetProperty("batch").GetInt64();

        var list = await Client.Get("v1/batches?limit=5");
        var one = await Client.Get($"v1/batches/{batch}");

        Assert.True(list.Status == 200 && list.Body.Contains(batch.ToString(System.Globalization.CultureInfo.InvariantCulture), StringComparison.Ordinal), list.ToString());
        Assert.True(one.Status == 200, one.ToString());
    }

    [SystemFact]
    public async Task Aborts_are_listed_with_their_reason()
    {
        var id = Name("aborted");
        await Abort(Accounts.Amount("DepositChecking", Name("a"), -1) with { RequestId = id }, "application");

        var answer = await Client.Get("v1/aborts?limit=20");

        Assert.True(answer.Status == 200 && answer.Body.Contains(id, StringComparison.Ordinal) && answer.Body.Contains("application", StringComparison.Ordinal), answer.ToString());
    }

    [SystemFact]
    public async Task Metrics_are_in_Prometheus_text()
    {
        var answer = await Client.Get("metrics");

        Assert.Equal((200, "text/plain"), (answer.Status, answer.ContentType));
        Assert.Contains("# TYPE ", answer.Body, StringComparison.Ordinal);
        Assert.Contains("snapper", answer.Body, StringComparison.Ordinal);
    }

    private async Task<JsonElement> Status() => await Client.Status() ?? throw new InvalidOperationException("/v1/status does not answer.");
}
