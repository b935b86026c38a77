using System.Threading.RateLimiting;
using Snapper.Runtime.Door;
using Snapper.Server.Api.Answers;
using Snapper.Sidecar;

namespace Snapper.Server.Api.Access;

/// <summary>
/// How many transactions are under way at the doors of a worker, those included that wait for another one of their id,
/// or for another worker. One caller that is known apart has a share of them.
/// </summary>
/// <remarks>Thread-safe.</remarks>
internal sealed class RequestPlaces : IDisposable
{
    /// <summary>
    /// Requests that a sidecar may have at this worker, packets between workers apart. daprd calls an app 1,024 times
    /// at once, packets included: with more of ours they would wait, and the worker would be taken for a silent one.
    /// </summary>
    public const int SidecarMost = 900;

    private const string CalleeHeader = "dapr-callee-app-id";

    private readonly PartitionedRateLimiter<RequestCaller> _shares;
    private readonly ConcurrencyLimiter _all;
    private readonly ConcurrencyLimiter _sidecar = LimiterOf(SidecarMost);
    private readonly int _most;
    private readonly int _share;

    /// <param name="most">All places.</param>
    /// <param name="share">Of one caller, above 0 to 1.</param>
    public RequestPlaces(int most, double share)
    {
        _most = most;
        _share = Math.Max(1, (int)(most * share));
        _all = LimiterOf(most);
        _shares = PartitionedRateLimiter.Create<RequestCaller, string>(
            caller => IsKnownApart(caller)
                ? RateLimitPartition.GetConcurrencyLimiter(caller.Key, _ => Options(_share))
                : RateLimitPartition.GetNoLimiter("(others)"),
            StringComparer.Ordinal);
    }

    /// <summary>Takes places of a caller; they are given back when the result is disposed of.</summary>
    /// <param name="caller">Who.</param>
    /// <param name="count">How many, 1 or more.</param>
    /// <param name="refused">Why there are none; null: there are.</param>
    public Taken Take(RequestCaller caller, int count, out Rejection? refused)
    {
        var isApart = IsKnownApart(caller);
        if (count > (isApart ? _share : _most))
        {
            refused = Refusal(caller, isApart);
            return default;
        }

        var own = _shares.AttemptAcquire(caller, count);
        if (!own.IsAcquired)
        {
            own.Dispose();
            refused = Refusal(caller, isShare: true);
            return default;
        }

        var place = _all.AttemptAcquire(count);
        if (!place.IsAcquired)
        {
            place.Dispose();
            own.Dispose();
            refused = Refusal(caller, isShare: false);
            return default;
        }

        refused = null;
        return new Taken(own, place);
    }

    /// <summary>Takes one of the places of what comes through the sidecar.</summary>
    /// <param name="refused">Why there is none; null: there is one.</param>
    public Taken TakeOfSidecar(out Rejection? refused)
    {
        var place = _sidecar.AttemptAcquire();
        refused = place.IsAcquired ? null
            : new Rejection(RejectionKind.Overloaded, $"{SidecarMost} requests are under way through the sidecar.");
        return new Taken(place, null);
    }

    /// <summary>
    /// Counts what the sidecar brings by service invocation; actor calls are counted by their host. daprd shows who it
    /// is by the token that both have, or by the port that it alone calls.
    /// </summary>
    /// <param name="app">The application, before anything that waits.</param>
    /// <param name="appPort">The port that the sidecar alone calls; 0: it has none.</param>
    /// <param name="retryAfter">What a refusal says.</param>
    public void Use(IApplicationBuilder app, int appPort, TimeSpan retryAfter) => app.Use(next => context =>
        IsInvocation(context, appPort) ? Pass(context, next, retryAfter) : next(context));

    public void Dispose()
    {
        _shares.Dispose();
        _all.Dispose();
        _sidecar.Dispose();
    }

    private static bool IsInvocation(HttpContext context, int appPort) =>
        context.Request.Path.StartsWithSegments("/v1", StringComparison.OrdinalIgnoreCase)
        && (context.Connection.LocalPort == appPort || context.Request.Headers.ContainsKey(DaprHeaders.ApiToken)
            || context.Request.Headers.ContainsKey(CalleeHeader));

    private async Task Pass(HttpContext context, RequestDelegate next, TimeSpan retryAfter)
    {
        using var place = TakeOfSidecar(out var refused);
        await (refused is null ? next(context) : Respond.Send(context, Problem.Of(refused, retryAfter)));
    }

    // Who comes from this machine, or through the sidecar without a name, may be anyone.
    private static bool IsKnownApart(RequestCaller caller) => caller.Name is not null || caller.IsOfAnotherMachine;

    private Rejection Refusal(RequestCaller caller, bool isShare) => new(
        RejectionKind.Overloaded,
        isShare
            ? $"{caller.Key} has as many transactions under way as one caller may, {_share} (Snapper:Security:Share)."
            : $"{_most} transactions are under way.");

    private static ConcurrencyLimiter LimiterOf(int most) => new(Options(most));

    private static ConcurrencyLimiterOptions Options(int most) => new() { PermitLimit = most, QueueLimit = 0 };

    /// <summary>Places that were taken.</summary>
    public readonly struct Taken(RateLimitLease? own, RateLimitLease? place) : IDisposable
    {
        public void Dispose()
        {
            place?.Dispose();
            own?.Dispose();
        }
    }
}
