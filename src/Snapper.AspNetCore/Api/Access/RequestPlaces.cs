using System.Threading.RateLimiting;
using Snapper.AspNetCore.Api.Answers;
using Snapper.Runtime.Door;
using Snapper.Sidecar;

namespace Snapper.AspNetCore.Api.Access;

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

    private readonly PartitionedRateLimiter<RequestCaller> _shares;
    private readonly ConcurrencyLimiter _all;
    private readonly ConcurrencyLimiter _sidecar = LimiterOf(SidecarMost);
    private readonly int _most;
    private readonly int _share;

    /// <param name="inFlight">
    /// Transactions that the worker runs. There are twice as many places: for those too that wait for one of their id, or
    /// for another worker.
    /// </param>
    /// <param name="share">Of one caller: a part of what the worker runs, above 0 to 1.</param>
    public RequestPlaces(int inFlight, double share)
    {
        _most = 2 * inFlight;
        _share = Math.Max(1, (int)(inFlight * share));
        _all = LimiterOf(_most);
        _shares = PartitionedRateLimiter.Create<RequestCaller, string>(
            caller => RateLimitPartition.GetConcurrencyLimiter(caller.Key, _ => Options(_share)),
            StringComparer.Ordinal);
    }

    /// <summary>Takes places of a caller; they are given back when the result is disposed of.</summary>
    /// <param name="caller">Who.</param>
    /// <param name="count">How many, 1 or more.</param>
    public Taken Take(RequestCaller caller, int count)
    {
        var share = caller.IsKnownApart && count <= _share ? _shares.AttemptAcquire(caller, count) : null;
        if (caller.IsKnownApart && share is not { IsAcquired: true })
        {
            share?.Dispose();
            return Taken.Nothing(
                $"{caller.Key} has as many transactions under way as one caller may, {_share} (Snapper:Security:Share).");
        }

        var place = count <= _most ? _all.AttemptAcquire(count) : null;
        if (place is { IsAcquired: true })
        {
            return new Taken(share, place, null);
        }

        place?.Dispose();
        share?.Dispose();
        return Taken.Nothing($"{_most} transactions are under way.");
    }

    /// <summary>Takes one of the places of what comes through the sidecar.</summary>
    public Taken TakeOfSidecar()
    {
        var place = _sidecar.AttemptAcquire();
        if (place.IsAcquired)
        {
            return new Taken(null, place, null);
        }

        place.Dispose();
        return Taken.Nothing($"{SidecarMost} requests are under way through the sidecar.");
    }

    /// <summary>
    /// Counts what the sidecar brings by service invocation; actor calls are counted by their host. daprd shows who it
    /// is by the token that both have, or by the port that it alone calls.
    /// </summary>
    /// <param name="app">The application, before anything that waits.</param>
    /// <param name="appPort">The port that the sidecar alone calls; 0: it has none.</param>
    /// <param name="retryAfter">What a refusal says.</param>
    public void Use(IApplicationBuilder app, int appPort, TimeSpan retryAfter) =>
        app.Use(next => Before(next, appPort, retryAfter));

    /// <summary>The same before a handler.</summary>
    public RequestDelegate Before(RequestDelegate next, int appPort, TimeSpan retryAfter) =>
        context => IsInvocation(context, appPort) ? Pass(context, next, retryAfter) : next(context);

    public void Dispose()
    {
        _shares.Dispose();
        _all.Dispose();
        _sidecar.Dispose();
    }

    private static bool IsInvocation(HttpContext context, int appPort) =>
        context.Request.Path.StartsWithSegments("/v1", StringComparison.OrdinalIgnoreCase)
        && (context.Connection.LocalPort == appPort || context.Request.Headers.ContainsKey(DaprHeaders.ApiToken)
            || context.Request.Headers.ContainsKey(DaprHeaders.CalleeAppId));

    private async Task Pass(HttpContext context, RequestDelegate next, TimeSpan retryAfter)
    {
        using var place = TakeOfSidecar();
        await (place.Refused is { } full ? Respond.Send(context, Problem.Of(full, retryAfter)) : next(context));
    }

    private static ConcurrencyLimiter LimiterOf(int most) => new(Options(most));

    private static ConcurrencyLimiterOptions Options(int most) => new() { PermitLimit = most, QueueLimit = 0 };

    /// <summary>Places that were taken, or why none were.</summary>
    public readonly struct Taken(RateLimitLease? share, RateLimitLease? place, Rejection? refused) : IDisposable
    {
        /// <summary>Why there are none; null: there are.</summary>
        public Rejection? Refused => refused;

        public static Taken Nothing(string why) => new(null, null, new Rejection(RejectionKind.Overloaded, why));

        public void Dispose()
        {
            place?.Dispose();
            share?.Dispose();
        }
    }
}
