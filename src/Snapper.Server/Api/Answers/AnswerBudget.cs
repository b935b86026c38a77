using System.Globalization;
using Snapper.Runtime.Door;

namespace Snapper.Server.Api.Answers;

/// <summary>
/// Bounds what the answers of one batch request keep in memory until the last of them is there: whatever ends when the room is used up keeps its
/// outcome and loses what is large about it. The small ones that fit behind it still do.
/// </summary>
/// <remarks>Thread-safe: transactions end in any order.</remarks>
internal sealed class AnswerBudget(int bytesMax)
{
    private const int BytesPerCharacterMax = 3;

    // What an abort message may have although the room is used up: 1,000 of them do no harm.
    private const int AlwaysFree = 1024;

    private long _left = bytesMax;

    /// <summary>Takes an answer in.</summary>
    /// <returns>The answer, or what is kept of it; a committed one without its result is told by <see cref="BatchAnswer.Omission"/>.</returns>
    public BatchAnswer Take(TransactionEnvelope envelope)
    {
        var size = envelope.Result.Length + ((long)BytesPerCharacterMax * (envelope.Abort?.Message.Length ?? 0)) + SizeOf(envelope.Touched);
        if (size <= AlwaysFree || Interlocked.Add(ref _left, -size) >= 0)
        {
            return new BatchAnswer(envelope, null);
        }

        Interlocked.Add(ref _left, size);
        var omission = new Problem(
            StatusCodes.Status413PayloadTooLarge, "urn:snapper:too-large", "Too large", string.Create(
                CultureInfo.InvariantCulture,
                $"The answers of one request hold at most {bytesMax} bytes of results; this one was left out. Ask for the transaction by its id."));
        var kept = envelope with
        {
            Result = default,
            Touched = null,
            Abort = envelope.Abort is { } abort ? abort with { Message = omission.Detail } : null,
        };
        return new BatchAnswer(kept, omission);
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
internal readonly record struct BatchAnswer(TransactionEnvelope Envelope, Problem? Omission);
