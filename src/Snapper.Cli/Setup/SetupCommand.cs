using Snapper.Cli.Supervision;
using Snapper.Server.Commands;
using Snapper.Server.Processes;

namespace Snapper.Cli.Setup;

/// <summary>Brings the servers that are missing: Redis by the system's package manager, Dapr's runtime from its release page. Asks before each step.</summary>
internal static class SetupCommand
{
    /// <summary>Arguments of <c>setup</c>.</summary>
    public static readonly CommandSyntax Syntax = new("setup", "brings what is missing, Redis and the Dapr runtime, asking before each step",
    [
        new("--yes", null, "answers every question with yes, sudo too; for scripts"),
        new("--offline", null, "fetches and changes nothing; says what to put where"),
        new("--from", "PATH", "takes Dapr from a folder (archives with their .sha256, or programs with SHA256SUMS) or from a script that fills $DAPR_RUNTIME_PATH/.dapr/bin"),
        new("--only", "WHAT", "redis | dapr"),
        new("--dapr-releases", "URL", $"a copy of Dapr's release page, https or loopback (also: {DaprRelease.Variable}); default {DaprRelease.Vendor}"),
    ]);

    /// <summary>Looks, asks, brings, looks again. Succeeds when nothing that was asked for is missing at the end.</summary>
    public static async Task<int> Run(ParsedArguments arguments, TextWriter output, TextWriter errors)
    {
        using var signals = new StopSignals();
        return await Run(arguments, SetupMachine.This(Console.In), errors, signals);
    }

    /// <summary>The same on any machine; the seam for tests.</summary>
    internal static async Task<int> Run(ParsedArguments arguments, SetupMachine machine, TextWriter errors, StopSignals signals)
    {
        var only = arguments.Text("--only") switch
        {
            null => null,
            "redis" or "dapr" => arguments.Text("--only"),
            var other => throw new UsageException($"--only must be redis or dapr, not '{other}'."),
        };
        var offline = arguments.Flag("--offline");
        var from = arguments.Text("--from");
        if (offline && from is not null) throw new UsageException("--offline and --from contradict each other: one only explains, the other installs.");
        if (from is not null && only == "redis") throw new UsageException("--from brings Dapr, and --only redis leaves it out.");
        var release = DaprRelease.At(arguments.Text("--dapr-releases") ?? machine.Variable(DaprRelease.Variable), machine.Platform);
        var messages = new MessageWriter(errors);
        var consent = new Consent(arguments.Flag("--yes"), machine.Answers, messages);
        var done = true;
        try
        {
            if (only != "dapr") done &= await new RedisSetup(machine, consent, messages, signals).Run(offline);
            if (only != "redis") done &= await new DaprSetup(machine, release, consent, messages, signals).Run(offline, from);
        }
        catch (OperationCanceledException) when (signals.Stop.IsCancellationRequested)
        {
            messages.Say("stopped; nothing half-done was left in place");
            return ExitCode.Failure;
        }

        messages.Say(done ? "nothing is missing: './snapper up' starts it, './snapper doctor' checks the rest" : "something is still missing: see above; './snapper up' uses a stand-in for it");
        return done ? ExitCode.Success : ExitCode.Failure;
    }
}
