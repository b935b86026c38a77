using Microsoft.Extensions.Diagnostics.HealthChecks;
using Snapper.AspNetCore.Hosting;

namespace Snapper.AspNetCore.Applications;

/// <summary>What <c>/readyz</c> says, as a health check of the application.</summary>
internal sealed class WorkerHealthCheck(WorkerParts parts) : IHealthCheck
{
    public Task<HealthCheckResult> CheckHealthAsync(
        HealthCheckContext context, CancellationToken cancellationToken = default)
    {
        var failing = parts.Inspection.Checks().Where(static check => !check.Healthy)
            .Select(static check => $"{check.Name}: {check.Detail}").ToArray();
        var closed = parts.Door.ClosedBecause;
        return Task.FromResult(closed is null && failing.Length == 0
            ? HealthCheckResult.Healthy("Requests are let through.")
            : new HealthCheckResult(
                context.Registration.FailureStatus,
                string.Join("; ", closed is null ? failing : [closed, .. failing])));
    }
}
