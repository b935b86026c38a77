using Snapper.AspNetCore.Api.Answers;
using Snapper.Contracts;
using Snapper.Runtime.Inspection;

namespace Snapper.AspNetCore.Api.Endpoints;

/// <summary>Liveness and readiness, with the checks by name.</summary>
internal sealed class HealthEndpoints(LifecycleGate? door, IWorkerInspection inspection, ApiOptions options)
{
    /// <summary>GET /healthz: 503 asks for a restart of the process, so only what a restart cures belongs here.</summary>
    public Task Live(HttpContext context) =>
        Answer(context, options.Liveness is { } liveness ? liveness() : [new HealthCheck("process", true, "The process answers.")]);

    /// <summary>GET /readyz: 503 while requests would be refused.</summary>
    public Task Ready(HttpContext context)
    {
        if (door is null)
        {
            return Answer(context, inspection.Checks());
        }

        var closed = door.ClosedBecause;
        return Answer(context, [new HealthCheck("door", closed is null, closed ?? "Requests are let through."), .. inspection.Checks()]);
    }

    private static Task Answer(HttpContext context, IReadOnlyList<HealthCheck> checks)
    {
        var healthy = checks.All(static check => check.Healthy);
        var view = new ReadyView(healthy ? "healthy" : "unhealthy")
        {
            Checks = checks.ToDictionary(static check => check.Name, static check => new CheckView(check.Healthy, check.Detail)),
        };
        var status = healthy ? StatusCodes.Status200OK : StatusCodes.Status503ServiceUnavailable;
        return Respond.View(context, view, ContractJson.Default.ReadyView, status);
    }
}
