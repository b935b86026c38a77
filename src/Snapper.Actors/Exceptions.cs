using System.Text;
using System.Text.Json;
using Snapper.Protocol.Commitment;
using Snapper.Protocol.Identity;
using Snapper.Protocol.Messages;

namespace Snapper.Actors;

/// <summary>Thrown by <c>throw Abort("...")</c>: the application refuses the transaction; nothing of it remains.</summary>
public sealed class TransactionAbortException : Exception
{
    /// <summary>An abort with a message for people.</summary>
    /// <param name="message">For people.</param>
    public TransactionAbortException(string message)
        : base(message)
    {
    }

    /// <summary>An abort with a code that callers' programs read.</summary>
    /// <param name="code">1 to 64 lower-case letters, digits or <c>_</c>.</param>
    /// <param name="details">What goes with it; written as JSON, at most 4,096 bytes. Null: nothing.</param>
    /// <param name="message">For people; null: the code.</param>
    /// <exception cref="ArgumentException">The code has another form, or the details are too large.</exception>
    public TransactionAbortException(string code, object? details, string? message)
        : base(message ?? code)
    {
        ArgumentNullException.ThrowIfNull(code);
        if (!AbortCode.IsCode(code))
        {
            throw new ArgumentException(
                $"An abort's code is 1 to {AbortCode.LongestCode} lower-case letters, digits or '_'.", nameof(code));
        }

        var json = details is null
            ? null
            : JsonSerializer.Serialize(details, details.GetType(), JsonSerializerOptions.Web);
        if (json is not null && Encoding.UTF8.GetByteCount(json) > AbortCode.MostBytes)
        {
            throw new ArgumentException(
                $"The details of an abort have at most {AbortCode.MostBytes} bytes as JSON.", nameof(details));
        }

        Code = code;
        Details = json;
    }

    /// <summary>What callers' programs read; null: a message alone.</summary>
    public string? Code { get; }

    /// <summary>What goes with the code, as JSON; null: nothing.</summary>
    public string? Details { get; }
}

/// <summary>
/// The transaction can no longer commit: a callee failed, a lock was refused, a declaration was wrong, time ran out.
/// Catching it changes nothing (protocol A10); every later use of the context throws it again.
/// </summary>
public sealed class TransactionDoomedException(AbortReason reason, string message, ActorKey? actor = null) : Exception(message)
{
    /// <summary>Why.</summary>
    public AbortReason Reason { get; } = reason;

    /// <summary>Where it happened; null when no single actor is to blame.</summary>
    public ActorKey? Actor { get; } = actor;
}
