using System.Diagnostics;
using System.Globalization;
using System.Net.Http.Json;
using System.Text.Json.Nodes;
using Bank;
using Dapr.Actors;
using Dapr.Actors.Client;
using Snapper.Cli.Commands;
using Snapper.Cli.Supervision;
using Snapper.Cli.Tests;
using Snapper.Sidecar.Tests;
using Snapper.Storage.Tests.Support;

namespace Snapper.DaprCompatibility.Tests;

/// <summary>
/// The sample <c>samples/FromDaprActors</c>, built outside of this tree from packages, with the real daprd and Redis:
/// as it stands on Dapr's SDK, and with the few lines of its patch. Its callers are these tests, which know the
/// interface alone.
/// </summary>
public sealed class FromDaprActorsTests(CompatibilityFeed feed)
    : IClassFixture<CompatibilityFeed>, IAsyncLifetime
{
    private const int Pairs = 8;
    private const int Most = 5;
    private const int KillsMost = 12;

    private RedisServer _redis = null!;

    public async Task InitializeAsync() =>
        _redis = RedisFactAttribute.Reason is null ? await RedisServer.Start() : null!;

    public async Task DisposeAsync()
    {
        if (_redis is not null) await _redis.DisposeAsync();
    }

    [ServersFact]
    public async Task Money_that_plain_actors_make_or_lose_under_kills_stays_once_five_lines_are_changed()
    {
        await Build();

        // What is stored once nothing runs any more: while daprd repeats calls, a sum says nothing.
        var plain = Initial;
        for (var kills = 0; plain == Initial; kills++)
        {
            Assert.True(kills < KillsMost, "plain actors lost and made nothing");
            await using (
                var bank = await RunningBank.Start(
                    feed.Of("Plain/Bank"), feed.Of("plain.log"), _redis.Port, "/healthz"))
            {
                await bank.Touch();
                await bank.TransferUntilKilled();
            }

            plain = await StoredByPlainActors();
        }

        await using (
            var bank = await RunningBank.Start(
                feed.Of("Bank"), feed.Of("transactional.log"), _redis.Port, "/readyz"))
        {
            using var output = new StringWriter(CultureInfo.InvariantCulture);
            using var errors = new StringWriter(CultureInfo.InvariantCulture);
            var exit = await CommandLine.Run(
                [
                    "import", "--from-dapr", $"redis://127.0.0.1:{_redis.Port}", "--app-id", "bank",
                    "--url", bank.Worker,
                ],
                output, TextWriter.Synchronized(errors));
            Assert.True(exit == 0, output.ToString() + errors);
            var before = await bank.BalancesAtOnce();
            Assert.Equal(plain, before.Sum());
            Assert.Contains($"Account  {2 * Pairs}", output.ToString(), StringComparison.Ordinal);
            for (var kills = 0; kills < 3; kills++)
            {
                await bank.TransferUntilKilled();
                await bank.StartAgain();
                Assert.Equal(plain, (await bank.BalancesAtOnce()).Sum());
            }

            Assert.NotEqual(before, await bank.BalancesAtOnce());
        }
    }

    private static decimal Initial => 2 * Pairs * 1000m;

    private static IEnumerable<string> Ids() =>
        Enumerable.Range(0, Pairs).SelectMany(static i => (string[])[$"from-{i}", $"to-{i}"]);

    private async Task<decimal> StoredByPlainActors()
    {
        var sum = 0m;
        foreach (var id in Ids())
        {
            var answer = await _redis.Command("HGET", $"bank||Account||{id}||balance", "data");
            sum += decimal.Parse(answer.Split("\r\n")[1], CultureInfo.InvariantCulture);
        }

        return sum;
    }

    private async Task Build()
    {
        var source = Repository.Find()!;
        var sample = Path.Combine(source, "samples", "FromDaprActors");
        foreach (var folder in (string[])["Plain", "."])
        {
            Directory.CreateDirectory(feed.Of($"{folder}/Bank"));
            foreach (var file in Directory.GetFiles(Path.Combine(sample, "Bank")))
            {
                File.Copy(file, feed.Of($"{folder}/Bank/{Path.GetFileName(file)}"));
            }
        }

        var patch = Path.Combine(sample, "transactional.patch");
        var lines = await File.ReadAllLinesAsync(patch);
        Assert.InRange(lines.Count(IsAdded), 1, Most);
        Assert.InRange(lines.Count(IsTaken), 1, Most);
        Assert.DoesNotContain("IAccount.cs", string.Join('\n', lines), StringComparison.Ordinal);
        var apply = new ProcessStartInfo("git", ["apply", patch]) { WorkingDirectory = feed.Folder };
        using (var git = Process.Start(apply)!)
        {
            await git.WaitForExitAsync();
            Assert.Equal(0, git.ExitCode);
        }

        foreach (var folder in (string[])["Plain/Bank", "Bank"])
        {
            await feed.Dotnet("build", folder, "-c", "Release", "--nologo", "-p:TreatWarningsAsErrors=true");
        }
    }

    private static bool IsAdded(string line) =>
        line.StartsWith('+') && !line.StartsWith("+++ ", StringComparison.Ordinal);

    private static bool IsTaken(string line) =>
        line.StartsWith('-') && !line.StartsWith("--- ", StringComparison.Ordinal);

    /// <summary>
    /// The application with its sidecar; the application is killed and started again, the sidecar stays.
    /// </summary>
    private sealed class RunningBank : IAsyncDisposable
    {
        private readonly string _folder;
        private readonly string _log;
        private readonly int _port;
        private readonly int _redisPort;
        private readonly DaprFixture _dapr;
        private readonly string _health;
        private Process _process;

        private RunningBank(
            string folder, string log, int port, int redisPort, DaprFixture dapr, string health)
        {
            (_folder, _log, _port, _redisPort, _dapr) = (folder, log, port, redisPort, dapr);
            _health = health;
            _process = Begin();
        }

        public string Worker => $"http://127.0.0.1:{_port}";

        public static async Task<RunningBank> Start(string folder, string log, int redisPort, string health)
        {
            var resources = Directory.CreateDirectory(log + ".resources").FullName;
            await File.WriteAllTextAsync(Path.Combine(resources, "statestore.yaml"), $"""
                apiVersion: dapr.io/v1alpha1
                kind: Component
                metadata:
                  name: statestore
                spec:
                  type: state.redis
                  version: v1
                  metadata:
                    - name: redisHost
                      value: "127.0.0.1:{redisPort}"
                    - name: redisPassword
                      value: ""
                    - name: actorStateStore
                      value: "true"
                """);
            var port = DaprFixture.FreePort();
            var dapr = await DaprFixture.Start(new DaprFixtureOptions
            {
                AppPort = port, AppId = "bank", Resources = resources,
            });
            var bank = new RunningBank(folder, log, port, redisPort, dapr, health);
            try
            {
                await bank._dapr.WaitForActors();
                await bank.Served();
                return bank;
            }
            catch
            {
                await bank.DisposeAsync();
                throw;
            }
        }

        /// <summary>Makes all accounts.</summary>
        public async Task Touch()
        {
            foreach (var id in Ids()) await Account(id).Deposit(0);
        }

        /// <summary>The balances at one point in the order of all transactions.</summary>
        public async Task<decimal[]> BalancesAtOnce()
        {
            using var http = new HttpClient();
            using var answer = await http.PostAsJsonAsync(
                Worker + "/v1/reads", new { actors = Ids().Select(static id => new { type = "Account", id }) });
            var read = await answer.EnsureSuccessStatusCode().Content.ReadFromJsonAsync<JsonNode>();
            return [.. read!["actors"]!.AsArray().Select(static one => (decimal)one!["state"]!["balance"]!)];
        }

        /// <summary>Transfers over all pairs at once, and kills the application in the midst of it.</summary>
        public async Task TransferUntilKilled()
        {
            var (isKilled, done) = (false, 0);
            var transfers = Enumerable.Range(0, Pairs).Select(async i =>
            {
                while (true)
                {
                    try
                    {
                        await Account($"from-{i}").Transfer(new Transfer($"to-{i}", 1));
                        Interlocked.Increment(ref done);
                    }
                    catch (Exception) when (Volatile.Read(ref isKilled))
                    {
                        return; // whether this one was done is not known
                    }
                }
            }).ToArray();
            await Eventually.True("transfers go on", () => Volatile.Read(ref done) > 10 * Pairs);
            Volatile.Write(ref isKilled, true);
            _process.Kill();
            await _process.WaitForExitAsync();
            await Task.WhenAll(transfers).WaitAsync(TimeSpan.FromMinutes(2));
        }

        /// <summary>Starts what was killed.</summary>
        public async Task StartAgain()
        {
            _process.Dispose();
            _process = Begin();
            await Served();
        }

        public async ValueTask DisposeAsync()
        {
            if (!_process.HasExited)
            {
                _process.Kill();
                await _process.WaitForExitAsync();
            }

            _process.Dispose();
            await _dapr.DisposeAsync();
        }

        private IAccount Account(string id) => ActorProxy.Create<IAccount>(
            new ActorId(id), "Account",
            new ActorProxyOptions { HttpEndpoint = _dapr.Endpoint.ToString(), UseJsonSerialization = true });

        private Process Begin()
        {
            var start = new ProcessStartInfo("/bin/sh",
            [
                "-c", $"exec dotnet bin/Release/net10.0/Bank.dll --urls {Worker} >>'{_log}' 2>&1",
            ])
            {
                WorkingDirectory = _folder,
            };
            start.Environment["DAPR_HTTP_PORT"] = _dapr.Endpoint.Port.ToString(CultureInfo.InvariantCulture);
            start.Environment["APP_ID"] = "bank";
            start.Environment["Snapper__Redis"] = $"127.0.0.1:{_redisPort}";
            return Process.Start(start)!;
        }

        // No actor is called for it: one that was written is not imported.
        private async Task Served()
        {
            using var http = new HttpClient();
            await Eventually.True("the application serves actors", async () =>
            {
                Assert.False(_process.HasExited, "the application has ended: " + await File.ReadAllTextAsync(_log));
                try
                {
                    using var answer = await http.GetAsync(Worker + _health);
                    return answer.IsSuccessStatusCode;
                }
                catch (HttpRequestException)
                {
                    return false; // it does not listen yet
                }
            });
        }
    }
}
