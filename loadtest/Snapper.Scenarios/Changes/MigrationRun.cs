using System.Globalization;
using Snapper.Client;
using Snapper.Contracts;
using Snapper.Scenarios.Targets;

namespace Snapper.Scenarios.Changes;

/// <summary>One migration from its order to its end, with its phases on the time axis.</summary>
internal static class MigrationRun
{
    private static readonly TimeSpan s_within = TimeSpan.FromSeconds(60);

    /// <exception cref="TargetException">It was refused, or not all of it was done.</exception>
    public static async Task<IReadOnlyDictionary<string, double>> Run(ChangeContext context, MigrationRequest request, string name, CancellationToken cancellation)
    {
        var client = context.Target.Client;
        context.Log.BeginChange(name);
        var began = context.Log.Now;
        MigrationStatus status;
        try
        {
            status = await client.Migrate(request with { Reason = "load test: " + name }, cancellation).ConfigureAwait(false);
            status = status.Parts.Count == 0 ? status : await client.WaitForMigration(status.Id, s_within, cancellation).ConfigureAwait(false);
        }
        catch (Exception problem) when (problem is OperationRefusedException or HttpRequestException)
        {
            throw new TargetException($"{name} was not possible: {problem.Message}");
        }
        finally
        {
            context.Log.EndChange();
        }

        var took = (context.Log.Now - began) * 1000;
        Tell(context, status);
        if (status.State != "done" && status.Parts.Count > 0)
        {
            var why = string.Join("; ", status.Parts.Where(static part => part.State != "done").Select(static part => $"{part.Plan} {part.State} {part.Why}"));
            throw new TargetException($"{name} is {status.State}, not done: {why}");
        }

        return new Dictionary<string, double>
        {
            ["change-ms"] = took,
            ["moved-keys"] = status.Keys,
            ["most-frozen-requests"] = status.Parts.Sum(static part => part.MostFrozenRequests),
        };
    }

    private static void Tell(ChangeContext context, MigrationStatus status)
    {
        context.Log.Note(string.Create(CultureInfo.InvariantCulture, $"{status.Id}: {status.Keys} keys in {status.Parts.Count} parts, {status.State}"));
        if (!context.Target.IsLoopback)
        {
            return; // another machine's clock says nothing on our time axis
        }

        foreach (var part in status.Parts)
        {
            var keys = string.Create(CultureInfo.InvariantCulture, $"{part.From} to {part.To}, {part.Keys}");
            foreach (var phase in part.Phases)
            {
                context.Log.Note(phase.At, $"{phase.Phase} ({keys})");
            }
        }
    }
}
