using Snapper.AspNetCore.Applications;

namespace Snapper.AspNetCore;

/// <summary>The worker among the health checks of its application.</summary>
public static class SnapperHealthExtensions
{
    /// <summary>Adds the worker's readiness, as <c>/readyz</c> has it, to the application's health checks.</summary>
    /// <param name="checks">Of the application.</param>
    /// <param name="name">Of the check.</param>
    public static IHealthChecksBuilder AddSnapper(this IHealthChecksBuilder checks, string name = "snapper")
    {
        ArgumentNullException.ThrowIfNull(checks);
        return checks.AddCheck<WorkerHealthCheck>(name, tags: ["ready"]);
    }
}
