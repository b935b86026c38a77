using System.Diagnostics;
using Snapper.Cli.Supervision;
using Snapper.Server.Processes;

namespace Snapper.Cli.Setup;

/// <summary>Brings redis-server by the package manager that the system has. It changes the system, so the exact commands are shown first.</summary>
internal sealed class RedisSetup(SetupMachine machine, Consent consent, MessageWriter messages, StopSignals signals)
{
    /// <summary>One way to get it. <paramref name="Note"/>: what else the package does.</summary>
    private sealed record Way(string Program, string Variable, bool NeedsRoot, string[][] Commands, string? Note);

    private static readonly Way[] Ways =
    [
        new("apt-get", "SNAPPER_APT_GET", true, [["update"], ["install", "-y", "redis-server"]],
            "the package also starts a Redis of its own on 127.0.0.1:6379, which 'up' does not use: 'sudo systemctl disable --now redis-server' ends it"),
        new("dnf", "SNAPPER_DNF", true, [["install", "-y", "redis"]], null),
        new("brew", "SNAPPER_BREW", false, [["install", "redis"]], null),
    ];

    /// <summary>True when there is one that 'up' takes, before or now.</summary>
    public async Task<bool> Run(bool offline)
    {
        var found = ServerPrograms.Redis(machine.Finder);
        if (found.Path is not null)
        {
            messages.Say($"Redis: {found.Finding}");
            return true;
        }

        messages.Say($"Redis: {found.Finding}");
        var (way, program) = Ways.Select(w => (w, machine.Finder.Find(w.Program, w.Variable).FirstOrDefault())).FirstOrDefault(w => w.Item2 is not null);
        if (offline)
        {
            messages.Say($"Redis: install Redis {ServerPrograms.LeastRedis} or later from your system's packages ({string.Join("; ", Ways.Select(w => Words(w, sudo: w.NeedsRoot)))}), "
                + "put a redis-server on PATH, or name its file in SNAPPER_REDIS_SERVER");
            return false;
        }

        if (program is null)
        {
            messages.Say($"Redis: none of {string.Join(", ", Ways.Select(w => w.Program))} is here. Install Redis {ServerPrograms.LeastRedis} or later, or name its redis-server in SNAPPER_REDIS_SERVER");
            return false;
        }

        var needsSudo = way.NeedsRoot && !machine.IsRoot;
        var sudo = needsSudo ? machine.Finder.Find("sudo", "SNAPPER_SUDO").FirstOrDefault() : null;
        if (needsSudo && sudo is null)
        {
            messages.Say($"Redis: there is no sudo; let somebody with the right run: {Words(way, sudo: false)}");
            return false;
        }

        if (way.Note is not null) messages.Say($"Redis: {way.Note}");
        if (!await consent.Ask($"Redis: run '{Words(way, needsSudo)}'?", signals.Stop)) return false;
        foreach (var arguments in way.Commands)
        {
            var start = sudo is null ? new ProcessStartInfo(program, arguments) : new ProcessStartInfo(sudo, [program, .. arguments]);
            var exit = await ForwardedProcess.Run(start, signals);
            signals.Stop.ThrowIfCancellationRequested();
            if (exit == 0) continue;
            messages.Say($"Redis: '{way.Program} {string.Join(' ', arguments)}' ended with exit code {exit}; what it wrote is above");
            return false;
        }

        var now = ServerPrograms.Redis(machine.Finder);
        messages.Say(now.Path is not null ? $"Redis: {now.Finding}" : $"Redis: installed, but {now.Finding}");
        return now.Path is not null;
    }

    private static string Words(Way way, bool sudo) =>
        string.Join(" && ", way.Commands.Select(c => $"{(sudo ? "sudo " : "")}{way.Program} {string.Join(' ', c)}"));
}
