using System.Globalization;
using System.Text.Json.Serialization.Metadata;
using Snapper.AspNetCore.Api.Access;
using Snapper.AspNetCore.Api.Answers;
using Snapper.AspNetCore.Api.Paths;
using Snapper.AspNetCore.Api.Requests;
using Snapper.Contracts;
using Snapper.Protocol.Identity;
using Snapper.Runtime.Door;
using Snapper.Runtime.Inspection;

namespace Snapper.AspNetCore.Api.Endpoints;

/// <summary>What a worker tells while somebody looks: timelines of actors, sampled transactions, hot actors, declared against touched, the ring.</summary>
internal sealed class WatchEndpoints(IWorkerInspection inspection)
{
    private static readonly TimeSpan s_lease = TimeSpan.FromSeconds(IWorkerWatch.LeaseSeconds);

    private readonly FairShare<ActorKey> _timelines = new(IWorkerWatch.TimelinesMax / 2, TimeProvider.System);

    /// <summary>GET /v1/traces, with <c>limit</c>, <c>id</c>, <c>actor</c> (Type/id), <c>reason</c>, <c>outcome</c> and <c>minMs</c>.</summary>
    public Task Traces(HttpContext context) => Answer(
        context, ["limit", "id", "actor", "reason", "outcome", "minMs"], ContractJson.Default.TracesView, Filter(context) is { } filter ? watch => watch.Traces(filter) : null);

    /// <summary>GET /v1/traces/{id}: the attempts of one request that are kept. A slash inside an id is written <c>%2F</c>.</summary>
    public Task Trace(HttpContext context)
    {
        var id = RawPath.After(context, "/v1/traces/") is { } path && Sidecar.ActorPath.TryDecode(path, out var decoded) ? Sidecar.ActorPath.WithDots(decoded) : string.Empty;
        return NameRules.RequestIdError(id) is { } wrong
            ? Respond.Send(context, Problem.Invalid($"The id is wrong: {wrong}."))
            : Answer(context, [], ContractJson.Default.TracesView, watch => watch.Traces(new TraceFilter(LimitParameter.Most, id)));
    }

    public Task Hot(HttpContext context) => Answer(context, ["limit"], ContractJson.Default.HotView, LimitParameter.Read(context) is { } limit ? watch => watch.Hot(limit) : null);

    public Task Access(HttpContext context) => Answer(context, [], ContractJson.Default.AccessView, watch => watch.Access());

    public Task Ring(HttpContext context) => Answer(context, [], ContractJson.Default.RingView, watch => watch.Ring());

    /// <summary>The timeline of an actor whose address was read already.</summary>
    public async Task Timeline(HttpContext context, ActorKey actor)
    {
        if (inspection.Watch is not { } watch)
        {
            await Respond.Send(context, NotYet());
            return;
        }

        var caller = context.Features.Get<RequestCaller>();
        if (!_timelines.Take(caller, actor, s_lease))
        {
            await TooMany(context, $"{caller!.Principal.Name} watches {_timelines.Most} actors already, which is one token's part.");
            return;
        }

        try
        {
            if (await watch.Timeline(actor, context.RequestAborted) is { } timeline)
            {
                await Respond.View(context, timeline, ContractJson.Default.TimelineView);
            }
            else
            {
                _timelines.Leave(caller, actor);
                await Respond.Send(context, Problem.NotFound("Unknown actor type."));
            }
        }
        catch (TooManyWatchedException tooMany)
        {
            _timelines.Leave(caller, actor);
            await TooMany(context, tooMany.Message);
        }
    }

    private static Task TooMany(HttpContext context, string detail) =>
        Respond.Send(context, Problem.Overloaded(detail, s_lease));

    /// <param name="context">The request.</param>
    /// <param name="known">Query parameters that it may have.</param>
    /// <param name="form">How the view is written.</param>
    /// <param name="view">The view; null: a parameter has a wrong value.</param>
    private async Task Answer<TView>(HttpContext context, string[] known, JsonTypeInfo<TView> form, Func<IWorkerWatch, TView>? view)
    {
        if (QueryNames.Problem(context.Request.Query, known) is { } wrong)
        {
            await Respond.Send(context, Problem.Invalid(wrong + "."));
        }
        else if (view is null)
        {
            await Respond.Send(context, Problem.Invalid(LimitParameter.Rule + "; minMs a number that is not negative."));
        }
        else if (inspection.Watch is not { } watch)
        {
            await Respond.Send(context, NotYet());
        }
        else
        {
            await Respond.View(context, view(watch), form);
        }
    }

    private static TraceFilter? Filter(HttpContext context)
    {
        var query = context.Request.Query;
        var atLeast = 0.0;
        return LimitParameter.Read(context) is not { } limit
            || (query.TryGetValue("minMs", out var text) && !(double.TryParse(text, NumberStyles.AllowDecimalPoint, CultureInfo.InvariantCulture, out atLeast) && double.IsFinite(atLeast)))
            ? null
            : new TraceFilter(limit, query["id"], query["actor"], query["reason"], query["outcome"], atLeast);
    }

    private static Problem NotYet() =>
        new(StatusCodes.Status503ServiceUnavailable, "urn:snapper:starting", "Starting", "The worker is starting; there is nothing to look at yet.", TimeSpan.FromSeconds(1));
}
