using Snapper.Server.Cli;
using Snapper.Server.Supervision;

namespace Snapper.Server.Demo;

/// <summary>The end of the demo: commands to paste.</summary>
internal static class WhereNext
{
    /// <summary>Writes them for the addresses of this deployment.</summary>
    public static void Write(TextWriter output, ReadyLine ready, UpOptions options, bool stays)
    {
        var worker = ready.Workers[0];
        output.WriteLine();
        if (ready.Dapr == "embedded")
        {
            output.WriteLine("This ran on the embedded stand-in for Dapr" + (ready.Log == "file" ? ", with the log in a local file" : "")
                + ": right for a first look, not for production, and its numbers are no benchmark.");
            if (!options.Embedded) output.WriteLine("'./snapper doctor' says what is missing for the real thing.");
            output.WriteLine();
        }

        output.WriteLine(stays ? "Try, in another terminal:" : "Next: './snapper up' (or './snapper demo --stay'), then in another terminal:");
        output.WriteLine();
        foreach (var example in Examples(worker)) output.WriteLine("  " + example);
    }

    /// <summary>One shell command each; all succeed while the deployment is up.</summary>
    internal static IEnumerable<string> Examples(ReadyWorker worker)
    {
        var transfer = "\"method\":\"Transfer\",\"input\":{\"to\":\"bob\",\"amount\":10}";
        yield return $"curl -s {worker.Sidecar}/v1.0/actors/Account/alice/method/StartTransaction -d '{{{transfer},\"access\":{{\"Account\":[\"alice\",\"bob\"]}}}}'";
        yield return $"curl -s {worker.Sidecar}/v1.0/invoke/snapper/method/v1/transactions -H 'content-type: application/json' "
            + $"-d '{{\"actor\":{{\"type\":\"Account\",\"id\":\"alice\"}},{transfer}}}'";
        yield return $"curl -s {worker.Url}/v1/actors/Account/bob";
        yield return $"curl -s {worker.Url}/v1/status";
        yield return $"curl -s '{worker.Url}/v1/batches?limit=5'";
        yield return $"curl -s '{worker.Url}/v1/aborts?limit=5'";
    }
}
