using Snapper.AspNetCore.Api.Access;
using Snapper.AspNetCore.Api.Answers;
using Snapper.AspNetCore.Api.Paths;
using Snapper.AspNetCore.Api.Requests;
using Snapper.Cluster.Control;
using Snapper.Runtime.Door;
using Snapper.Sidecar;

namespace Snapper.AspNetCore.Api.Endpoints;

/// <summary>The service and direct doors: submit one transaction or many, and ask by id.</summary>
internal sealed partial class TransactionEndpoints(ITransactionService door, ApiOptions options, ILogger log, Func<IClusterControl?> control)
{
    /// <summary>POST /v1/transactions.</summary>
    public async Task Submit(HttpContext context)
    {
        EnvelopeAnswer.NameWorker(context, control());
        using var held = options.Bytes.Open(CallerOf(context));
        var parsed = await Read(context, held);
        if (parsed.Batch is { } batch)
        {
            if (IdempotencyKey.OfBatch(context.Request.Headers) is { } wrong)
            {
                await Refuse(context, wrong);
                return;
            }

            await SubmitBatch(context, batch, held);
        }
        else if (parsed.Single.Request is { } request)
        {
            if (IdempotencyKey.Apply(context.Request.Headers, ref request) is { } wrong)
            {
                await Refuse(context, wrong);
                return;
            }

            if (options.Rights?.Refusal(CallerOf(context), request) is { } refusal)
            {
                await Refuse(context, new RequestRefusal(refusal.Kind, refusal.Detail, request.Id));
                return;
            }

            using var place = options.Places?.Take(CallerOf(context), 1);
            if (place?.Refused is { } full)
            {
                // As for one over its rate: whether the id has committed is not looked up.
                await Respond.Send(context, Problem.Of(full, options.RetryAfter));
                return;
            }

            var envelope = await door.Submit(request, context.RequestAborted);
            held.Hold(envelope.Result.Length);
            await EnvelopeAnswer.Send(context, envelope, options);
        }
        else
        {
            await Refuse(context, parsed.Single.Refusal!);
        }
    }

    /// <summary>GET /v1/transactions/{id}: 200 whatever the outcome, for the question was answered.</summary>
    public async Task Find(HttpContext context)
    {
        EnvelopeAnswer.NameWorker(context, control());
        var id = RawPath.After(context, "/v1/transactions/");
        id = id is null ? null : ActorPath.WithDots(Uri.UnescapeDataString(id));
        if (id is null || NameRules.RequestIdError(id) is not null)
        {
            await Refuse(context, new RequestRefusal(RejectionKind.Invalid, "An id has 1 to 128 printable characters.", null));
            return;
        }

        using var held = options.Bytes.Open(CallerOf(context));
        var envelope = await door.Find(id, context.RequestAborted);
        if (envelope is null)
        {
            await Refuse(context, new RequestRefusal(
                RejectionKind.NotFound,
                "Nothing is known of this id. That is no decision while the request may still be under way; sending it again with the same id decides.",
                id));
        }
        else if (!held.TryHold(envelope.Result.Length))
        {
            await Respond.Send(context, Problem.Of(held.Refused!, options.RetryAfter));
        }
        else if (envelope.Outcome == Outcome.Rejected)
        {
            await EnvelopeAnswer.Send(context, envelope, options);
        }
        else
        {
            using var buffer = JsonBuffer.Rent();
            EnvelopeWriter.Write(buffer.Json, envelope, options.RetryAfter);
            await Respond.Send(context, StatusCodes.Status200OK, Respond.Json, buffer.Written);
        }
    }

    private static RequestCaller CallerOf(HttpContext context) => context.Features.Get<RequestCaller>() ?? RequestCaller.Everybody;

    private async ValueTask<ParsedBody> Read(HttpContext context, HeldBytes held)
    {
        using var body = await PooledBody.Read(context.Request, options, held);
        if (body.Refused is { } refused)
        {
            Respond.CloseUnread(context);
            return new ParsedBody(ParsedRequest.Refused(new RequestRefusal(refused.Kind, refused.Detail, null)), null);
        }

        return TransactionRequestReader.Read(body.Bytes, RequestOrigin.Of(context), options);
    }

    private async Task SubmitBatch(HttpContext context, ParsedRequest[] batch, HeldBytes held)
    {
        // The first was taken when the request came.
        if (options.Limits?.Take(CallerOf(context), batch.Length - 1) is { } later)
        {
            await Respond.Send(context, Problem.Of(new Rejection(RejectionKind.Overloaded, "The batch has more transactions than its sender's rate leaves.", later), options.RetryAfter));
            return;
        }

        using var places = options.Places?.Take(CallerOf(context), batch.Length);
        if (places?.Refused is { } full)
        {
            await Respond.Send(context, Problem.Of(full, options.RetryAfter));
            return;
        }

        // All enter the door before the first answer is awaited, in the order of the body.
        var budget = new AnswerBudget(options.BatchAnswerBytesMax, held);
        var answers = new Task<BatchAnswer>?[batch.Length];
        for (var i = 0; i < batch.Length; i++)
        {
            if (batch[i].Request is not { } request)
            {
                continue;
            }

            if (options.Rights?.Refusal(CallerOf(context), request) is { } refusal)
            {
                batch[i] = ParsedRequest.Refused(new RequestRefusal(refusal.Kind, refusal.Detail, request.Id));
            }
            else
            {
                answers[i] = Enter(request, budget, context.RequestAborted);
            }
        }

        await WriteAnswers(context, batch, answers, budget);
    }

    // What is gathered leaves in one piece, with its length; more than that in several, so that what a caller does not
    // take is not built.
    private async Task WriteAnswers(
        HttpContext context, ParsedRequest[] batch, Task<BatchAnswer>?[] answers, AnswerBudget budget)
    {
        AnswerStream? stream = null;
        using var buffer = JsonBuffer.Rent();
        buffer.Json.WriteStartObject();
        buffer.Json.WriteStartArray("results"u8);
        try
        {
            for (var i = 0; i < batch.Length; i++)
            {
                BatchAnswer answer = default;
                if (answers[i] is { } task)
                {
                    answers[i] = null; // what has left is not kept
                    answer = await WriteAnswer(buffer, batch[i].Request!, task, context.RequestAborted);
                }
                else
                {
                    EnvelopeWriter.Write(buffer.Json, batch[i].Refusal!, options.RetryAfter);
                }

                if (buffer.Length >= AnswerStream.PieceBytes)
                {
                    stream ??= new AnswerStream(
                        context, StatusCodes.Status200OK, Respond.Json, options.AnswerGrace,
                        options.AnswerBytesPerSecondMin);
                    await stream.Send(buffer.Written);
                    buffer.Clear();
                }

                budget.Give(answer);
            }

            buffer.Json.WriteEndArray();
            buffer.Json.WriteEndObject();
            await (stream?.Send(buffer.Written).AsTask()
                ?? Respond.Send(context, StatusCodes.Status200OK, Respond.Json, buffer.Written));
        }
        finally
        {
            stream?.Dispose();
        }
    }

    // What it throws at once stays in its task: the others of the batch have entered, or will; each is answered on its own.
    private async Task<BatchAnswer> Enter(TransactionRequest request, AnswerBudget budget, CancellationToken cancellation) =>
        budget.Take(await door.Submit(request, cancellation));

    private async Task<BatchAnswer> WriteAnswer(
        JsonBuffer buffer, TransactionRequest request, Task<BatchAnswer> task, CancellationToken gone)
    {
        BatchAnswer answer;
        try
        {
            answer = await task;
        }
        catch (OperationCanceledException) when (gone.IsCancellationRequested)
        {
            throw; // nobody reads the answer any more
        }
        catch (Exception failure)
        {
            LogFailure(log, failure, request.Id);
            EnvelopeWriter.WriteUnknown(buffer.Json, request);
            return default;
        }

        if (answer.Omission is { } omission)
        {
            EnvelopeWriter.WriteShortened(buffer.Json, answer.Envelope, omission);
        }
        else
        {
            EnvelopeWriter.Write(buffer.Json, answer.Envelope, options.RetryAfter);
        }

        return answer;
    }

    private async Task Refuse(HttpContext context, RequestRefusal refusal)
    {
        var problem = Problem.Of(refusal, options.RetryAfter);
        using var buffer = JsonBuffer.Rent();
        EnvelopeWriter.WriteProblem(buffer.Json, problem, refusal);
        await Respond.SendProblem(context, problem, buffer);
    }

    [LoggerMessage(EventId = 3003, Level = LogLevel.Error, Message = "A transaction of a batch request failed unexpectedly; id {Id}")]
    private static partial void LogFailure(ILogger log, Exception failure, string? id);
}
