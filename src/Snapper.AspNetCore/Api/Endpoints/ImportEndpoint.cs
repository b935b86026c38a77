using Snapper.AspNetCore.Api.Access;
using Snapper.AspNetCore.Api.Answers;
using Snapper.AspNetCore.Api.Requests;
using Snapper.Cluster.Control;
using Snapper.Contracts;
using Snapper.Runtime.Door;
using Snapper.Runtime.Inspection;

namespace Snapper.AspNetCore.Api.Endpoints;

/// <summary>
/// States of many actors that have none yet, as <c>snapper import</c> sends them: each is a PACT on that actor, which
/// leaves one that was written meanwhile as it is.
/// </summary>
internal sealed class ImportEndpoint(
    ITransactionService door, IWorkerInspection inspection, ApiOptions options, Func<IClusterControl?> control)
{
    /// <summary>The method of types that take such states: generated for what were plain Dapr actors.</summary>
    public const string Method = "$importNew";

    /// <summary>POST /v1/imports.</summary>
    public async Task Import(HttpContext context)
    {
        EnvelopeAnswer.NameWorker(context, control());
        var caller = context.Features.Get<RequestCaller>() ?? RequestCaller.Everybody;
        using var held = options.Bytes.Open(caller);
        byte[] bytes;
        using (var body = await PooledBody.Read(
            context.Request, options, held, holdsTransactions: false, options.BatchBodyBytesMax))
        {
            if (body.Refused is { } unread)
            {
                await Respond.SendUnread(context, unread, options.RetryAfter);
                return;
            }

            bytes = body.Bytes.ToArray(); // inputs are parts of it
        }

        if (ImportBody.TryRead(bytes, out var asked) is { } wrong)
        {
            await Respond.Send(context, Problem.Invalid(wrong));
            return;
        }

        AuditNote.Say(context, $"{asked.Actors.Count} actors of {asked.Type}", asked.Reason);
        using var places = options.Places?.Take(caller, asked.Actors.Count);
        if (places?.Refused is { } full)
        {
            await Respond.Send(context, Problem.Of(full, options.RetryAfter));
            return;
        }

        await Answer(context, asked, await Submit(context, asked));
    }

    private Task<TransactionEnvelope[]> Submit(HttpContext context, ImportBody asked)
    {
        var origin = RequestOrigin.Of(context);
        return Task.WhenAll(asked.Actors.Select(actor => door.Submit(
            new TransactionRequest
            {
                Actor = actor.Key,
                Method = Method,
                Input = actor.State,
                Mode = TransactionMode.Pact,
                Access = [new DeclaredAccess(actor.Key, 1)],
                Timeout = options.DefaultTimeout,
                Caller = origin.Caller,
                CountedFor = origin.CountedFor,
            },
            context.RequestAborted)));
    }

    private async Task Answer(HttpContext context, ImportBody asked, TransactionEnvelope[] envelopes)
    {
        var imported = 0;
        var failed = asked.Refused
            .Select(static one => Failure(one.Id, Problem.Invalid(one.Why), retryable: false))
            .ToList();
        for (var i = 0; i < envelopes.Length; i++)
        {
            if (Problem.Of(envelopes[i], options.RetryAfter) is { } problem)
            {
                failed.Add(Failure(
                    asked.Actors[i].Key.Id, problem,
                    problem.RetryAfter is not null || problem.Status >= 500
                        || envelopes[i].Abort is { Retryable: true }));
            }
            else if (envelopes[i].Result.Span.SequenceEqual("true"u8))
            {
                imported++;
            }
        }

        if (asked.Refused.Count == 0 && failed.Count == envelopes.Length && OfAll(asked.Type, envelopes) is { } ofAll)
        {
            await Respond.Send(context, ofAll);
            return;
        }

        var view = new ImportsView
        {
            Imported = imported, Present = envelopes.Length + asked.Refused.Count - imported - failed.Count,
            Failed = failed,
        };
        await Respond.View(context, view, ContractJson.Default.ImportsView);
    }

    private static ImportFailure Failure(string id, in Problem problem, bool retryable) => new()
    {
        Id = id,
        Reason = problem.Type[(problem.Type.LastIndexOf(':') + 1)..],
        Detail = problem.Detail,
        Retryable = retryable,
    };

    // What every one of them meets is told once.
    private Problem? OfAll(string type, TransactionEnvelope[] envelopes)
    {
        var first = Problem.Of(envelopes[0], options.RetryAfter)!.Value;
        if (!envelopes.All(one => Problem.Of(one, options.RetryAfter)!.Value.Type == first.Type))
        {
            return null;
        }

        var isKnown = inspection.ActorTypes().Any(one => one.Type == type);
        return first.Status != StatusCodes.Status404NotFound ? (first.Status is 429 or >= 500 ? first : null)
            : !isKnown ? first
            : Problem.Invalid(
                $"Actors of the type {type} take no states in this way: only classes of Snapper.DaprCompatibility do. "
                + "PUT /v1/actors/{type}/{id} puts one state in its place.");
    }
}
