using System.Globalization;
using System.Net.Http.Json;
using System.Text.Json;
using Snapper.Cli.Supervision;
using Snapper.Contracts;

namespace Snapper.Cli.Demo;

/// <summary>Says what happens to the workers while transfers go on: processes that are started again, leases that run out, take-overs, masters, migrations.</summary>
/// <param name="deployment">What runs.</param>
/// <param name="output">Where it is said, a line each.</param>
/// <param name="token">What workers want to see; null: nothing.</param>
internal sealed class DemoWatch(Deployment deployment, TextWriter output, string? token) : IDisposable
{
    private static readonly TimeSpan LookEvery = TimeSpan.FromMilliseconds(300);

    private readonly HttpClient _http = new(new SocketsHttpHandler { UseProxy = false }) { Timeout = TimeSpan.FromSeconds(2) };
    private readonly Dictionary<string, int> _pids = new(StringComparer.Ordinal);
    private readonly Dictionary<string, ClusterMember> _workers = new(StringComparer.Ordinal);
    private readonly Dictionary<string, string> _migrations = new(StringComparer.Ordinal);
    private string? _master;
    private bool _first = true;

    public async Task Run(CancellationToken cancellation)
    {
        if (Environment.GetEnvironmentVariable("SNAPPER_TOKEN") is { Length: > 0 } own) _http.DefaultRequestHeaders.TryAddWithoutValidation("Authorization", "Bearer " + own);
        if (!string.IsNullOrEmpty(token)) _http.DefaultRequestHeaders.Add("dapr-api-token", token);
        while (!cancellation.IsCancellationRequested)
        {
            LookAtProcesses();
            foreach (var worker in deployment.Workers)
            {
                if (await Look(worker.Url, cancellation)) break;
            }

            await Task.Delay(LookEvery, cancellation).ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
        }
    }

    public void Dispose() => _http.Dispose();

    /// <summary>Takes in what one worker says of all, and says what is new.</summary>
    private void Workers(WorkersView view)
    {
        foreach (var now in view.Workers)
        {
            if (_workers.TryGetValue(now.Worker, out var before))
            {
                Say(before, now);
            }
            else if (!_first)
            {
                Line($"{now.Worker} is there: it owns {now.Entries}");
            }

            _workers[now.Worker] = now;
        }

        var master = view.Workers.LastOrDefault(static worker => worker.Master)?.Worker;
        if (master is not null && master != _master)
        {
            if (_master is not null) Line($"{master} is the master now, no longer {_master}");
            _master = master;
        }
    }

    /// <summary>Takes in the migrations, and says which have begun or ended.</summary>
    private void Migrations(MigrationsView view)
    {
        foreach (var part in view.Migrations.SelectMany(static migration => migration.Parts))
        {
            if (_migrations.TryGetValue(part.Plan, out var before) && before == part.State)
            {
                continue;
            }

            _migrations[part.Plan] = part.State;
            if (!_first)
            {
                var why = part.Why is null ? "" : ": " + part.Why;
                Line($"migration {part.Plan}: {part.Keys} from {part.From} to {part.To} {part.State}{Took(part)}{why}");
            }
        }

        _first = false;
    }

    private static string Took(MigrationPart part) => part.Ended - part.Created is { } took
        ? string.Create(CultureInfo.InvariantCulture, $" after {took.TotalMilliseconds:0} ms")
        : "";

    private void Say(ClusterMember before, ClusterMember now)
    {
        var name = now.Worker;
        if (now.Epoch > before.Epoch) Line($"{name} is back, epoch {now.Epoch}: it owns {now.Entries}");
        else if (now.State != before.State)
        {
            Line(now.State switch
            {
                "expired" => $"{name} has not been heard of for the length of its lease; it owns {now.Entries}",
                "fenced" when now.Rescuer is { } rescuer => $"{name} is fenced by {rescuer}, which takes over what it owns, {now.Entries}",
                "fenced" => $"{name} is starting again; it owns {now.Entries}",
                "left" => $"{name} has left",
                _ => $"{name} is {now.State}",
            });
        }

        if (now.Entries != before.Entries) Line($"{name} owned {before.Entries}, now {now.Entries}");
    }

    private void LookAtProcesses()
    {
        foreach (var worker in deployment.Workers)
        {
            Pid("worker " + worker.Name, worker.Pid);
            Pid("sidecar of " + worker.Name, worker.SidecarPid);
        }

        foreach (var (name, pid) in deployment.Others) Pid(name, pid);
    }

    private void Pid(string name, int pid)
    {
        if (pid == 0) return;
        if (_pids.TryGetValue(name, out var before) && before != pid) Line($"{name} is started again, pid {pid}");
        _pids[name] = pid;
    }

    private async Task<bool> Look(string url, CancellationToken cancellation)
    {
        try
        {
            var workers = await _http.GetFromJsonAsync(url + "/v1/workers", ContractJson.Default.WorkersView, cancellation);
            var migrations = await _http.GetFromJsonAsync(
                url + "/v1/migrations", ContractJson.Default.MigrationsView, cancellation);
            Workers(workers!);
            Migrations(migrations!);
            return true;
        }
        catch (Exception problem) when (problem is HttpRequestException or OperationCanceledException or JsonException)
        {
            // Another one tells, or the same one a moment later.
            return cancellation.IsCancellationRequested;
        }
    }

    private void Line(string text)
    {
        output.WriteLine("  * " + text);
        output.Flush();
    }
}
