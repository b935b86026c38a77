using System.Diagnostics;
using System.Globalization;

namespace Snapper.Integration.Tests.Crash;

/// <summary>How a system came back after one of its processes was killed.</summary>
/// <param name="Victim">Which.</param>
/// <param name="BackAfter">From the kill until the new process was there.</param>
/// <param name="ReadyAfter">From then until it was ready and a transaction through the sidecar committed.</param>
internal readonly record struct Recovery(string Victim, TimeSpan BackAfter, TimeSpan ReadyAfter)
{
    public override string ToString() => string.Create(
        CultureInfo.InvariantCulture, $"{Victim}: back after {BackAfter.TotalMilliseconds:0} ms, ready {ReadyAfter.TotalMilliseconds:0} ms later");
}

/// <summary>Kills one process of a running system by kill -9, and watches it come back by itself.</summary>
internal sealed class Victim(SnapperProcess snapper, SnapperClient client, string name, string statusField)
{
    private static readonly TimeSpan Patience = TimeSpan.FromSeconds(30);
    private int _probes;

    /// <summary>Those that the system has, worker first.</summary>
    public static Victim[] Of(SnapperProcess snapper, SnapperClient client) => snapper.Options.Embedded
        ? [new Victim(snapper, client, "server", "pid")]
        : [new Victim(snapper, client, "server", "pid"), new Victim(snapper, client, "daprd", "sidecarPid"), new Victim(snapper, client, "redis-server", "redisPid")];

    public async Task<Recovery> KillAndAwaitRecovery()
    {
        var pid = await Pid();
        var before = snapper.Processes();
        var victim = before.FirstOrDefault(entry => entry.Pid == pid);
        if (victim == default)
        {
            throw new InvalidOperationException($"/v1/status says that {name} is process {pid}, but that is none that this system started.");
        }

        var killed = Stopwatch.GetTimestamp();
        ProcessTable.Signal(pid, ProcessTable.Kill);
        await Eventually.Holds($"{name} ({pid}) to be dead", Patience, () => Task.FromResult(victim.IsAlive ? "it is alive" : null));
        await Eventually.Holds($"{name} to be started again", Patience, () =>
            Task.FromResult(snapper.Processes().Any(entry => !before.Contains(entry)) ? null : $"no new process; up says:\n{snapper.Output}"));
        var back = Stopwatch.GetTimestamp();
        await Eventually.Holds($"transactions to commit again after the death of {name}", Patience, Missing);
        return new Recovery(name, Stopwatch.GetElapsedTime(killed, back), Stopwatch.GetElapsedTime(back));
    }

    private async Task<string?> Missing()
    {
        var ready = await client.Get("readyz");
        if (ready.Status != 200)
        {
            return ready.ToString();
        }

        var probe = Accounts.Amount("DepositChecking", $"probe-{name}", 1).Pact() with { RequestId = $"probe-{name}-{++_probes}" };
        var answer = await client.Submit(probe, Door.Service);
        return answer.Verdict == Verdict.Committed ? null : answer.ToString();
    }

    private async Task<int> Pid()
    {
        var pid = 0;
        await Eventually.Holds($"/v1/status to name the process of {name}", Patience, async () =>
        {
            var status = await client.Status();
            pid = status is { } json && json.TryGetProperty(statusField, out var value) && value.TryGetInt32(out var found) ? found : 0;
            return pid > 1 && ProcessTable.Read(pid) is not null ? null : $"{statusField} of {status}";
        });
        return pid;
    }
}
