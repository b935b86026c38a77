using System.Diagnostics;
using Microsoft.Extensions.Configuration;
using Snapper.Security;

namespace Snapper.Cli.Supervision;

/// <summary>The dashboard beside the system. The system does not need it: whatever becomes of it, the rest runs on.</summary>
internal sealed partial class Deployment
{
    private static readonly TimeSpan DashboardWithin = TimeSpan.FromSeconds(20);

    private string DashboardUrl => $"http://127.0.0.1:{options.DashboardPort}";

    /// <summary>Starts it, and again whenever it ends; or says why there is none.</summary>
    private void StartDashboard()
    {
        if (!options.Dashboard) return;
        if (!Ports.IsFree(options.DashboardPort))
        {
            var holder = Ports.Holder(options.DashboardPort) is { } known ? $" by {known}" : "";
            Say($"dashboard: not started, because port {options.DashboardPort} on 127.0.0.1 is taken{holder}; choose another with --dashboard-port");
            return;
        }

        if (DashboardProgram.Find() is not { } program)
        {
            Say("dashboard: not started, because it is not built here; './snapper up' in a clone of the repository builds it");
            return;
        }

        if (WhyBlind(new ConfigurationBuilder().AddEnvironmentVariables().Build()) is { } why) Say($"dashboard: {why}");
        _dashboard = Supervise(ChildCommands.Dashboard(program, _data!, options, [.. _workers.Select(worker => worker.Url)], watchParent: _wrappers.Setpriv is null));

        // It is started again without limit, like everything else once the system is up.
        _dashboard.Settle();
        _dashboard.Start();
    }

    /// <summary>Why workers will not show it anything, as far as that is known before it starts; null: nothing is.</summary>
    /// <param name="configuration">As it and the workers read it.</param>
    internal static string? WhyBlind(IConfiguration configuration)
    {
        try
        {
            if (!string.IsNullOrEmpty(configuration["SNAPPER_TOKEN"]) || SecuritySettings.Read(configuration).Tokens.Count == 0) return null;
        }
        catch (FormatException wrong)
        {
            return wrong.Message;
        }

        return "tokens are configured, and SNAPPER_TOKEN is not set: whoever signs in will see nothing, because it asks the workers with that token, which needs the role viewer (docs/dashboard.md#signing-in)";
    }

    /// <summary>Its address once it answers there; null: there is none. One that does not answer in time is told of, and not waited for.</summary>
    private async Task<string?> DashboardAddress(CancellationToken cancellation)
    {
        if (_dashboard is null) return null;
        using var http = new HttpClient { Timeout = TimeSpan.FromSeconds(2) };
        for (var started = Stopwatch.GetTimestamp(); Stopwatch.GetElapsedTime(started) < DashboardWithin; await Task.Delay(50, cancellation))
        {
            try
            {
                using var answer = await http.GetAsync($"{DashboardUrl}/healthz", cancellation);
                Say($"dashboard: {DashboardUrl}");
                return DashboardUrl;
            }
            catch (Exception problem) when (problem is HttpRequestException || (problem is OperationCanceledException && !cancellation.IsCancellationRequested))
            {
                // It starts.
            }
        }

        Say($"dashboard: {DashboardUrl} does not answer yet; its messages are in {_dashboard.Spec.Log.FilePath}");
        return DashboardUrl;
    }
}
