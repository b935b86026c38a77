using System.Globalization;
using Snapper.Runtime.Door;

namespace Snapper.AspNetCore.Api.Answers;

/// <summary>
/// Bounds what the answers of one batch request keep in memory until the last of them is there: whatever ends when the room is used up keeps its
/// outcome and loses what is large about it. The small ones that fit behind it still do. So it does when all requests
/// and answers of the worker hold as much as they may.
/// </summary>
/// <remarks>Thread-safe: transactions end in any order.</remarks>
/// <param name="bytesMax">Most of one request.</param>
/// <param name="held">What the request holds of what all may.</param>
internal sealed class AnswerBudget(int bytesMax, IAnswerRoom held)
{
    private const int BytesPerCharacterMax = 3;

    // What an abort message may have although the room is used up: 1,000 of them do no harm.
    private const int AlwaysFree = 1024;

    private long _left = bytesMax;

    /// <summary>Takes an answer in.</summary>
    /// <returns>The answer, or what is kept of it; a committed one without its result is told by <see cref="BatchAnswer.Omission"/>.</returns>
    public BatchAnswer Take(TransactionEnvelope envelope)
    {
        var text = (long)(envelope.Abort?.Message.Length ?? 0) + (envelope.Abort?.Code?.Details?.Length ?? 0);
        var size = envelope.Result.Length + (BytesPerCharacterMax * text) + SizeOf(envelope.Touched);
        if (size <= AlwaysFree)
        {
            return new BatchAnswer(envelope, null, 0);
        }

        var fits = Interlocked.Add(ref _left, -size) >= 0;
        if (fits && held.TryHold(size))
        {
            return new BatchAnswer(envelope, null, size);
        }

        Interlocked.Add(ref _left, size);
        var why = fits
            ? held.Refused?.Detail
            : string.Create(
                CultureInfo.InvariantCulture, $"The answers of one request hold at most {bytesMax} bytes of results.");
        var omission = new Problem(
            StatusCodes.Status413PayloadTooLarge, "urn:snapper:too-large", "Too large",
            why + " This one was left out. Ask for the transaction by its id.");
        var kept = envelope with
        {
            Result = default,
            Touched = null,
            Abort = envelope.Abort is { } abort ? abort with { Message = omission.Detail } : null,
        };
        return new BatchAnswer(kept, omission, 0);
    }

    /// <summary>An answer has left.</summary>
    public void Give(in BatchAnswer answer)
    {
        if (answer.Held > 0)
        {
            held.Give(answer.Held);
        }
    }

    private static long SizeOf(DeclaredAccess[]? touched)
    {
        long size = 0;
        foreach (var access in touched ?? [])
        {
            size += 16 + (BytesPerCharacterMax * (access.Actor.Type.Length + access.Actor.Id.Length));
        }

        return size;
    }
}

/// <summary>One answer of a batch request.</summary>
/// <param name="Envelope">The answer.</param>
/// <param name="Omission">What was left out of it; null: nothing.</param>
/// <param name="Held">Bytes that it holds until it is sent.</param>
internal readonly record struct BatchAnswer(TransactionEnvelope Envelope, Problem? Omission, long Held);
