using System.Globalization;
using System.Net.Http.Json;
using System.Text.Json;
using System.Text.Json.Nodes;
using Snapper.Cli.Supervision;

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
    private readonly Dictionary<string, Seen> _workers = new(StringComparer.Ordinal);
    private readonly Dictionary<string, string> _migrations = new(StringComparer.Ordinal);
    private string? _master;
    private bool _first = true;

    private sealed record Seen(long Epoch, string State, long Entries, string? Rescuer);

    /// <summary>Until cancelled.</summary>
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

    /// <inheritdoc/>
    public void Dispose() => _http.Dispose();

    /// <summary>Takes in what one worker says of all, and says what is new.</summary>
    internal void Workers(JsonNode workers)
    {
        string? master = null;
        foreach (var worker in workers["workers"]!.AsArray())
        {
            var name = (string)worker!["worker"]!;
            var now = new Seen((long)worker["epoch"]!, (string)worker["state"]!, (long)worker["entries"]!, (string?)worker["rescuer"]);
            if ((bool)worker["master"]!) master = name;
            if (_workers.TryGetValue(name, out var before)) Say(name, before, now);
            else if (!_first) Line($"{name} is there: it owns {now.Entries}");
            _workers[name] = now;
        }

        if (master is not null && master != _master)
        {
            if (_master is not null) Line($"{master} is the master now, no longer {_master}");
            _master = master;
        }
    }

    /// <summary>Takes in the migrations, and says which have begun or ended.</summary>
    internal void Migrations(JsonNode migrations)
    {
        foreach (var migration in migrations["migrations"]!.AsArray())
        {
            foreach (var part in migration!["parts"]!.AsArray())
            {
                var (plan, state) = ((string)part!["plan"]!, (string)part["state"]!);
                if (_migrations.TryGetValue(plan, out var before) && before == state) continue;
                _migrations[plan] = state;
                if (!_first) Line($"migration {plan}: {part["keys"]} from {part["from"]} to {part["to"]} {state}{Took(part)}{(part["why"] is { } why ? ": " + why : "")}");
            }
        }

        _first = false;
    }

    private static string Took(JsonNode part) =>
        part["created"] is { } created && part["ended"] is { } ended
            ? string.Create(CultureInfo.InvariantCulture, $" after {(ended.GetValue<DateTimeOffset>() - created.GetValue<DateTimeOffset>()).TotalMilliseconds:0} ms")
            : "";

    private void Say(string name, Seen before, Seen now)
    {
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
            var workers = await _http.GetFromJsonAsync<JsonNode>(url + "/v1/workers", cancellation);
            var migrations = await _http.GetFromJsonAsync<JsonNode>(url + "/v1/migrations", cancellation);
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
