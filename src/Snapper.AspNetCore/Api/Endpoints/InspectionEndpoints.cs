using System.Globalization;
using System.Text.Json.Serialization.Metadata;
using Microsoft.Net.Http.Headers;
using Snapper.AspNetCore.Api.Answers;
using Snapper.AspNetCore.Api.Paths;
using Snapper.AspNetCore.Api.Requests;
using Snapper.Contracts;
using Snapper.Protocol.Messages;
using Snapper.Runtime.Door;
using Snapper.Runtime.Inspection;

namespace Snapper.AspNetCore.Api.Endpoints;

/// <summary>Looking inside a worker: status, actor types, actors, schedules, batches, aborts.</summary>
internal sealed class InspectionEndpoints(IWorkerInspection inspection, WatchEndpoints watch)
{
    private static readonly string[] s_reasons = [.. Enum.GetValues<AbortReason>().Where(static reason => reason != AbortReason.None).Select(AbortReasons.Name)];

    public Task Status(HttpContext context) => Respond.View(context, inspection.Status(), ContractJson.Default.WorkerStatus);

    public Task ActorTypes(HttpContext context) =>
        Respond.View(
            context, new ActorTypesView { Types = [.. inspection.ActorTypes().Select(WithoutOwn)] },
            ContractJson.Default.ActorTypesView);

    /// <summary>GET /v1/actors/{type}/{id}, .../schedule and .../timeline. A slash inside an id is written <c>%2F</c>.</summary>
    public async Task Actor(HttpContext context)
    {
        if (!ActorAddress.TryReadView(RawPath.After(context, ActorAddress.Prefix) ?? string.Empty, out var actor, out var aspect, out var problem))
        {
            await Respond.Send(context, problem);
            return;
        }

        if (aspect == ActorAspect.Timeline)
        {
            await watch.Timeline(context, actor);
        }
        else if (aspect == ActorAspect.Schedule)
        {
            var schedule = await inspection.Schedule(actor, context.RequestAborted);
            await AnswerOrNotFound(context, schedule, ContractJson.Default.ScheduleView, "actor type");
        }
        else
        {
            var view = await inspection.Actor(actor, context.RequestAborted);
            if (view is not null && IsKnown(context, view.Version))
            {
                context.Response.StatusCode = StatusCodes.Status304NotModified;
                return;
            }

            await AnswerOrNotFound(context, view, ContractJson.Default.ActorView, "actor type");
        }
    }

    /// <summary>GET /v1/actors?type=&amp;after=&amp;search=&amp;limit=: stored actors that this worker owns, in the order of their ids.</summary>
    public async Task Actors(HttpContext context)
    {
        var query = context.Request.Query;
        var (type, after, prefix) = ((string?)query["type"] ?? "", (string?)query["after"], (string?)query["search"] ?? "");
        var limit = LimitParameter.Read(context);
        var problem = QueryNames.Problem(query, "type", "after", "search", "limit") is { } wrong ? wrong
            : limit is null ? LimitParameter.Rule
            : NameRules.ActorTypeError(type) is { } typeError ? $"type: {typeError}"
            : (after is null ? null : NameRules.ActorIdError(after)) is { } afterError ? $"after: {afterError}"
            : (prefix.Length == 0 ? null : NameRules.ActorIdError(prefix)) is { } prefixError ? $"search: {prefixError}"
            : null;
        if (problem is not null)
        {
            await Respond.Send(context, Problem.Invalid(problem + "."));
            return;
        }

        var list = await inspection.Actors(type, after, prefix, limit!.Value, context.RequestAborted);
        await AnswerOrNotFound(context, list, ContractJson.Default.ActorListView, "actor type");
    }

    public async Task Batches(HttpContext context)
    {
        if (LimitParameter.Read(context) is { } limit)
        {
            var batches = new BatchesView { Batches = await inspection.Batches(limit, context.RequestAborted) };
            await Respond.View(context, batches, ContractJson.Default.BatchesView);
        }
        else
        {
            await Respond.Send(context, Problem.Invalid(LimitParameter.Rule + "."));
        }
    }

    public async Task Batch(HttpContext context)
    {
        if (long.TryParse((string?)context.Request.RouteValues["bid"], NumberStyles.None, CultureInfo.InvariantCulture, out var bid))
        {
            var batch = await inspection.Batch(bid, context.RequestAborted);
            await AnswerOrNotFound(context, batch, ContractJson.Default.BatchView, "batch, or it is no longer kept");
        }
        else
        {
            await Respond.Send(context, Problem.Invalid("A batch has a whole number."));
        }
    }

    /// <summary>GET /v1/aborts?limit=&amp;reason=&amp;repeated=.</summary>
    public async Task Aborts(HttpContext context)
    {
        var query = context.Request.Query;
        var (reason, repeated) = ((string?)query["reason"], (string?)query["repeated"]);
        var limit = LimitParameter.Read(context);
        var problem = QueryNames.Problem(query, "limit", "reason", "repeated") is { } wrong ? wrong
            : limit is null ? LimitParameter.Rule
            : reason is not null && !s_reasons.Contains(reason) ? $"reason must be one of {string.Join(", ", s_reasons)}"
            : repeated is not (null or "true" or "false") ? "repeated must be true or false"
            : null;
        if (problem is not null)
        {
            await Respond.Send(context, Problem.Invalid(problem + "."));
            return;
        }

        bool? isRepeated = repeated is null ? null : repeated == "true";
        var aborts = await inspection.Aborts(limit!.Value, reason, isRepeated, context.RequestAborted);
        await Respond.View(context, new AbortsView { Aborts = aborts }, ContractJson.Default.AbortsView);
    }

    /// <summary>
    /// Tags the answer with the state's version, and looks whether the caller has that state. The tag is weak: fields
    /// beside the state may differ.
    /// </summary>
    private static bool IsKnown(HttpContext context, long version)
    {
        var tag = new EntityTagHeaderValue(
            string.Create(CultureInfo.InvariantCulture, $"\"{version}\""), isWeak: true);
        context.Response.Headers.ETag = tag.ToString();
        return context.Request.GetTypedHeaders().IfNoneMatch
            .Any(known => known.Compare(tag, useStrongComparison: false));
    }

    // Methods that no caller can name are not shown.
    private static ActorTypeView WithoutOwn(ActorTypeView type) =>
        type.Methods.All(static method => method.Name[0] != StateMethods.Mark) ? type
            : type with { Methods = [.. type.Methods.Where(static method => method.Name[0] != StateMethods.Mark)] };

    private static Task AnswerOrNotFound<TView>(HttpContext context, TView? view, JsonTypeInfo<TView> form, string what)
        where TView : class => view is null
            ? Respond.Send(context, Problem.NotFound($"Unknown {what}."))
            : Respond.View(context, view, form);
}
