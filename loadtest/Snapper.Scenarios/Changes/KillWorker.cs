using System.ComponentModel;
using System.Diagnostics;
using System.Globalization;
using System.Net.Http.Json;
using System.Text.Json;
using Snapper.Contracts;
using Snapper.Scenarios.Targets;

namespace Snapper.Scenarios.Changes;

/// <summary>
/// A worker's process is killed, and whoever supervises it starts it again. Only on this machine: the pid is the one that the worker itself tells at a loopback address, and the process of that
/// number must be a worker of this product.
/// </summary>
public sealed class KillWorker : IChange
{
    private const string Program = "Snapper.Server";

    private static readonly TimeSpan s_back = TimeSpan.FromSeconds(30);

    /// <inheritdoc/>
    public string Describe() => "one worker's process is killed; its supervisor starts it again";

    /// <inheritdoc/>
    public async Task<IReadOnlyDictionary<string, double>> Run(ChangeContext context, CancellationToken cancellation)
    {
        var members = (await context.Target.Refresh(cancellation).ConfigureAwait(false)).Where(static member => member.State == "live").ToArray();
        var victim = members.Length == 0 ? null : Members.Pick(members, context.Worker);
        var address = victim is null ? context.Target.Addresses[0] : new Uri(victim.Url);
        if (!address.IsLoopback)
        {
            throw new TargetException($"{address} is not on this machine: processes are killed only here.");
        }

        using var http = new HttpClient(new SocketsHttpHandler { UseProxy = false }) { Timeout = TimeSpan.FromSeconds(2) };
        var status = await Status(http, address, cancellation).ConfigureAwait(false)
            ?? throw new TargetException($"{address} does not tell its process id; through a sidecar nothing can be killed.");
        var name = victim?.Worker ?? "the worker";
        context.Log.BeginChange($"kill of {name}");
        var began = Stopwatch.GetTimestamp();
        try
        {
            Kill(status.Pid);
            context.Log.Note(string.Create(CultureInfo.InvariantCulture, $"{name}, pid {status.Pid}, is killed"));
            await Back(http, address, status.Pid, name, cancellation).ConfigureAwait(false);
            if (victim is not null)
            {
                await context.Target.Await($"{name} alive in a new epoch", worker => worker.Worker == name && worker.State == "live" && worker.Epoch > victim.Epoch, cancellation).ConfigureAwait(false);
            }
        }
        finally
        {
            context.Log.EndChange();
        }

        return new Dictionary<string, double> { ["recovery-ms"] = Stopwatch.GetElapsedTime(began).TotalMilliseconds };
    }

    private static async Task Back(HttpClient http, Uri address, int before, string name, CancellationToken cancellation)
    {
        var until = Environment.TickCount64 + (long)s_back.TotalMilliseconds;
        while (Environment.TickCount64 < until)
        {
            if (await Status(http, address, cancellation).ConfigureAwait(false) is { } now && now.Pid != before)
            {
                return;
            }

            await Task.Delay(50, cancellation).ConfigureAwait(false);
        }

        throw new TimeoutException($"{name} at {address} was not back {s_back.TotalSeconds:0} s after its process {before} was killed.");
    }

    private static async Task<WorkerStatus?> Status(HttpClient http, Uri address, CancellationToken cancellation)
    {
        try
        {
            var url = new Uri(address, "v1/status");
            var status = await http
                .GetFromJsonAsync(url, ContractJson.Default.WorkerStatus, cancellation).ConfigureAwait(false);
            return status is { Pid: > 0 } ? status : null;
        }
        catch (Exception problem) when (problem is HttpRequestException or JsonException || (problem is TaskCanceledException && !cancellation.IsCancellationRequested))
        {
            return null; // it is away, or just starting
        }
    }

    private static void Kill(int pid)
    {
        var commandLine = $"/proc/{pid.ToString(CultureInfo.InvariantCulture)}/cmdline";
        if (File.Exists(commandLine) && !File.ReadAllText(commandLine).Contains(Program, StringComparison.Ordinal))
        {
            throw new TargetException($"Process {pid} of this machine is no worker: the worker's id is one of another machine or container. Nothing was killed.");
        }

        try
        {
            using var process = Process.GetProcessById(pid);
            process.Kill();
        }
        catch (Exception problem) when (problem is ArgumentException or Win32Exception or InvalidOperationException)
        {
            throw new TargetException($"Process {pid} cannot be killed: {problem.Message}");
        }
    }
}
