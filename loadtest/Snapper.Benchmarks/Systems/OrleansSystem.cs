using System.Globalization;
using System.Net.Http.Json;
using System.Text.Json;
using Snapper.Benchmarks.HotLists;
using Snapper.Benchmarks.Load;
using Snapper.Benchmarks.Measurement;
using Snapper.Benchmarks.Runs;

namespace Snapper.Benchmarks.Systems;

/// <summary>
/// One silo of Orleans or several, each in a process of its own (<c>Snapper.Baselines.Orleans</c>), which is built when
/// it is needed. Grain storage is in memory.
/// </summary>
public sealed class OrleansSystem : IAsyncDisposable
{
    /// <summary>What the tables call its processes.</summary>
    public const string Role = "silo";

    private const string Project = "Snapper.Baselines.Orleans";
    private const string TransferItem = """{"root":"{0}","to":["{1}","{2}","{3}"]}""";
    private static readonly TimeSpan s_startDeadline = TimeSpan.FromSeconds(60);

    // A sum of accounts, and a join; a run takes its own time besides.
    private static readonly TimeSpan s_grace = TimeSpan.FromSeconds(90);

    private static readonly HttpClient s_client = new() { Timeout = TimeSpan.FromSeconds(30) };

    private readonly List<ChildProcess> _silos = [];
    private readonly List<Uri> _doors = [];
    private int _asked;

    private OrleansSystem()
    {
    }

    /// <summary>The HTTP endpoint of each silo.</summary>
    public IReadOnlyList<Uri> Doors => _doors;

    /// <summary>All silos, whose CPU time counts.</summary>
    public IReadOnlyList<MeasuredProcess> Processes =>
        [.. _silos.Select(static silo => new MeasuredProcess(Role, silo.Id))];

    /// <summary>Settings that a number depends on.</summary>
    public static IReadOnlyDictionary<string, string> Facts { get; } = new Dictionary<string, string>
    {
        ["Orleans: durability"] = "none, grain storage in memory",
        ["Orleans: GC"] = "server, concurrent",
        ["Orleans: aborted transactions"] = "counted, not repeated",
    };

    /// <summary>Builds and starts it; the silos know each other then.</summary>
    /// <exception cref="InvalidOperationException">It does not build, or does not start.</exception>
    public static async Task<OrleansSystem> StartAsync(int silos)
    {
        var program = await OldBuild.BuildAsync(ServerTools.RepositoryRoot(), Project);
        var system = new OrleansSystem();
        try
        {
            var primary = 0;
            for (var i = 0; i < silos; i++)
            {
                var port = Ports.FreeRun(3);
                primary = primary == 0 ? port : primary;
                await system.AddAsync(program, port, primary);
            }

            await Task.WhenAll(system._silos.Select(silo => system.AskAsync(silo, "join", $"{silos}", TimeSpan.Zero)));
            return system;
        }
        catch
        {
            await system.DisposeAsync();
            throw;
        }
    }

    /// <summary>Runs a load in the process of the first silo.</summary>
    public async Task<RunResult> RunAsync(OrleansRun run)
    {
        var all = JsonSerializer.Serialize(run with { Others = [.. _silos.Skip(1).Select(static silo => silo.Id)] });
        var result = await AskAsync(_silos[0], "run", all, TimeSpan.FromSeconds(run.Warmup + run.Measured));
        return JsonSerializer.Deserialize<RunResult>(result)!;
    }

    /// <summary>What all accounts hold together.</summary>
    public async Task<decimal> SumAsync(bool plain, int accounts)
    {
        var what = string.Create(CultureInfo.InvariantCulture, $"{(plain ? "plain" : "transactions")} {accounts}");
        return decimal.Parse(await AskAsync(_silos[0], "sum", what, TimeSpan.Zero), CultureInfo.InvariantCulture);
    }

    /// <summary>One of the hot lists, read at a silo.</summary>
    public static async Task<IReadOnlyList<long>> ListAsync(Uri door, string key)
    {
        var read = new ListTransaction([new ListOperation(key, null)], 0);
        using var body = new ByteArrayContent(ListRequests.Input(read));
        using var answer = await s_client.PostAsync(new Uri(door, OrleansDoor.PathOf(OrleansWork.Lists)), body);
        answer.EnsureSuccessStatusCode();
        var answered = await answer.Content.ReadFromJsonAsync<JsonElement>();
        return [.. answered.GetProperty("result").GetProperty("ops")[0].GetProperty("value").EnumerateArray()
            .Select(static value => value.GetInt64())];
    }

    /// <summary>One transfer for each request, at one of the silos.</summary>
    public static HttpWorkload MultiTransfer(OrleansWork way, IAccountChooser chooser, Uri door) => new(
        door,
        RequestTemplate.Single("POST", door, OrleansDoor.PathOf(way), "", TransferItem, 4),
        chooser,
        new EnvelopeAnswers());

    /// <inheritdoc />
    public async ValueTask DisposeAsync()
    {
        // The first one keeps the membership, so it goes last.
        for (var i = _silos.Count - 1; i >= 0; i--)
        {
            await _silos[i].DisposeAsync();
        }
    }

    private async Task AddAsync(string program, int port, int primary)
    {
        string[] arguments = ["exec", program, .. new[] { port, port + 1, port + 2, primary }.Select(Text)];
        var silo = ChildProcess.Start("a silo of Orleans", BaselineSystem.DotnetHost(), arguments);
        _silos.Add(silo);
        _doors.Add(new Uri($"http://127.0.0.1:{port + 2}"));
        await silo.WaitForLineAsync(static line => line == "listening", s_startDeadline, "\"listening\"");
    }

    private async Task<string> AskAsync(ChildProcess silo, string command, string what, TimeSpan time)
    {
        var number = Interlocked.Increment(ref _asked);
        var prefix = string.Create(CultureInfo.InvariantCulture, $"result {number} ");
        await silo.WriteLineAsync(string.Create(CultureInfo.InvariantCulture, $"{command} {number} {what}"));
        var line = await silo.WaitForLineAsync(
            line => line.StartsWith(prefix, StringComparison.Ordinal), time + s_grace, $"the answer to \"{command}\"");
        return line[prefix.Length..];
    }

    private static string Text(int number) => number.ToString(CultureInfo.InvariantCulture);
}
