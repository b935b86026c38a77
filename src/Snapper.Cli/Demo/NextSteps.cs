using Snapper.Cli.Supervision;

namespace Snapper.Cli.Demo;

/// <summary>The end of the demo: commands to paste.</summary>
internal static class NextSteps
{
    private static readonly string s_name = ProgramName.Value;

    /// <summary>Writes them for the addresses of this deployment.</summary>
    public static void Write(TextWriter output, ReadyLine ready, UpOptions options, bool stays)
    {
        var worker = ready.Workers[0];
        output.WriteLine();
        if (ready.Dapr == "embedded")
        {
            output.WriteLine("This ran on the embedded stand-in for Dapr" + (ready.Log == "file" ? ", with the log in a local file" : "")
                + ": right for a first look, not for production, and its numbers are no benchmark.");
            if (!options.Embedded) output.WriteLine(
                $"'{s_name} doctor' says what is missing for the real thing.");
            output.WriteLine();
        }

        output.WriteLine(stays ? "Try, in another terminal:"
            : $"Next: '{s_name} up' (or '{s_name} demo --stay'), then in another terminal:");
        output.WriteLine();
        foreach (var example in Examples(worker, options.AppId)) output.WriteLine("  " + example);
        if (stays && ready.Dashboard is { } dashboard) output.WriteLine($"\nThe dashboard is at {dashboard}");
    }

    /// <summary>The end of the check with several workers: what runs, and what to do to it while transfers go on.</summary>
    public static void Write(TextWriter output, Deployment deployment, UpOptions options)
    {
        output.WriteLine();
        output.WriteLine($"  {"",-8} {"address",-24} {"pid",-8} {"sidecar",-24} pid");
        foreach (var worker in deployment.Workers)
        {
            output.WriteLine($"  {worker.Name,-8} {worker.Url,-24} {worker.Pid,-8} {worker.Sidecar,-24} {worker.SidecarPid}");
        }

        foreach (var (name, pid) in deployment.Others) output.WriteLine($"  {name,-33} {pid}");
        output.WriteLine();
        if (deployment.Ready.Dashboard is { } dashboard) output.WriteLine($"The dashboard is at {dashboard}");
        output.WriteLine("Transfers go on until Ctrl-C. Try, in another terminal, while they do:");
        output.WriteLine();
        foreach (var example in Examples(deployment.Workers, options)) output.WriteLine("  " + example);
        output.WriteLine();
        output.Flush();
    }

    /// <summary>One shell command each; all succeed while the deployment is up.</summary>
    internal static IEnumerable<string> Examples(IReadOnlyList<ReadyWorker> workers, UpOptions options)
    {
        var url = workers[0].Url == "http://127.0.0.1:5101" ? "" : $" --url {workers[0].Url}";
        var data = options.DataDirectory == Path.GetFullPath(".snapper") ? "" : $" --data {options.DataDirectory}";
        var (second, last) = (workers[1].Name, workers[^1].Name);
        yield return $"{s_name} workers{url}";
        yield return $"kill -9 {workers[1].Pid}         # {second}; or any other pid: of a worker, a sidecar, placement, Redis";
        yield return $"kill -STOP {workers[1].Pid}      # {second} is taken over when its lease has run out; kill -CONT wakes it";
        yield return $"{s_name} migrate{url} --to {last} Account/{DemoSettings.Account(0)} Account/{DemoSettings.Account(1)}";
        yield return $"{s_name} drain{url} {second}";
        yield return $"{s_name} join{data}";
        yield return $"{s_name} rebalance{url}";
        yield return $"{s_name} leave{data} {last}";
        yield return $"curl -s '{workers[0].Url}/v1/directory?actor=Account/{DemoSettings.Account(0)}'";
        yield return $"curl -s {workers[0].Url}/v1/migrations";
    }

    /// <summary>One shell command each; all succeed while the deployment is up.</summary>
    internal static IEnumerable<string> Examples(ReadyWorker worker, string appId)
    {
        var transfer = "\"method\":\"Transfer\",\"input\":{\"to\":\"bob\",\"amount\":10}";
        yield return $"curl -s {worker.Sidecar}/v1.0/actors/Account/alice/method/StartTransaction -d '{{{transfer},\"access\":{{\"Account\":[\"alice\",\"bob\"]}}}}'";
        yield return $"curl -s {worker.Sidecar}/v1.0/invoke/{appId}/method/v1/transactions -H 'content-type: application/json' "
            + $"-d '{{\"actor\":{{\"type\":\"Account\",\"id\":\"alice\"}},{transfer}}}'";
        yield return $"curl -s {worker.Url}/v1/actors/Account/bob";
        yield return $"curl -s {worker.Url}/v1/status";
        yield return $"curl -s '{worker.Url}/v1/batches?limit=5'";
        yield return $"curl -s '{worker.Url}/v1/aborts?limit=5'";
    }
}
