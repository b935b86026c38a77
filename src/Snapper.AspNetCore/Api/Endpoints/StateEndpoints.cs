using Snapper.AspNetCore.Api.Access;
using Snapper.AspNetCore.Api.Answers;
using Snapper.AspNetCore.Api.Paths;
using Snapper.AspNetCore.Api.Requests;
using Snapper.Cluster.Control;
using Snapper.Protocol.Identity;
using Snapper.Runtime.Door;

namespace Snapper.AspNetCore.Api.Endpoints;

/// <summary>
/// An operator's hand on one actor's state: <c>PUT</c> puts a state in its place, <c>DELETE</c> takes it away. Both are PACTs on that actor, so that they stand in the order of all others.
/// </summary>
internal sealed class StateEndpoints(ITransactionService door, ApiOptions options, Func<IClusterControl?> control)
{
    /// <summary>Longest reason, in UTF-16 code units.</summary>
    private const int ReasonMax = 300;

    /// <summary>PUT /v1/actors/{type}/{id}?id=&amp;reason=&amp;damaged=; the body is the state.</summary>
    public async Task Import(HttpContext context)
    {
        if (await Asked(context, "import") is not { } asked)
        {
            return;
        }

        using var held = options.Bytes.Open(context.Features.Get<RequestCaller>());
        using var body = await PooledBody.Read(context.Request, options, held, holdsTransactions: false);
        if (body.Refused is { } refused)
        {
            await Respond.SendUnread(context, refused, options.RetryAfter);
            return;
        }

        await Run(context, asked, asked.OverDamage ? StateMethods.ImportOverDamage : StateMethods.Import, body.Bytes.ToArray());
    }

    /// <summary>DELETE /v1/actors/{type}/{id}?id=&amp;reason=&amp;damaged=.</summary>
    public async Task Delete(HttpContext context)
    {
        if (await Asked(context, "delete") is { } asked)
        {
            await Run(context, asked, asked.OverDamage ? StateMethods.DeleteDamaged : StateMethods.Delete, ReadOnlyMemory<byte>.Empty);
        }
    }

    private static async Task<Change?> Asked(HttpContext context, string action)
    {
        if (!ActorAddress.TryRead(RawPath.After(context, ActorAddress.Prefix) ?? "", out var actor, out var problem))
        {
            await Respond.Send(context, problem);
            return null;
        }

        var query = context.Request.Query;
        var (id, reason, damaged) = ((string?)query["id"], (string?)query["reason"], (string?)query["damaged"]);
        AuditNote.Say(context, actor.ToString(), reason, damaged is null ? action : $"{action} damaged");
        var wrong = QueryNames.Problem(query, "id", "reason", "damaged") is { } names ? names
            : (id is null ? null : NameRules.RequestIdError(id)) is { } idError ? $"id: {idError}"
            : reason is { Length: > ReasonMax } ? $"reason: it has more than {ReasonMax} characters"
            : damaged is null or "replace" ? null
            : "damaged: it must be 'replace', or be left out";
        if (wrong is null)
        {
            return new Change(actor, id, damaged is not null);
        }

        await Respond.Send(context, Problem.Invalid(wrong + "."));
        return null;
    }

    private async Task Run(HttpContext context, Change change, string method, ReadOnlyMemory<byte> input)
    {
        EnvelopeAnswer.NameWorker(context, control());
        var origin = RequestOrigin.Of(context);
        var request = new TransactionRequest
        {
            Actor = change.Actor,
            Method = method,
            Input = input,
            Mode = TransactionMode.Pact,
            Access = [new DeclaredAccess(change.Actor, 1)],
            Id = change.Id,
            Caller = origin.Caller,
            CountedFor = origin.CountedFor,
            TraceParent = origin.TraceParent,
            TraceState = origin.TraceState,
        };
        await EnvelopeAnswer.Send(context, await door.Submit(request, context.RequestAborted), options);
    }

    private sealed record Change(ActorKey Actor, string? Id, bool OverDamage);
}
