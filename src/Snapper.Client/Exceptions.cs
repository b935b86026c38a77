using System.Globalization;
using System.Text.Json;
using Snapper.Client.Messages;
using Snapper.Protocol.Identity;
using Snapper.Protocol.Messages;

namespace Snapper.Client;

/// <summary>The transaction was aborted: nothing of it remains.</summary>
public sealed class TransactionAbortedException(string transactionId, AbortDetails abort)
    : Exception($"Transaction '{transactionId}' was aborted ({abort.ReasonName}): {abort.Message}")
{
    /// <summary>The request's id.</summary>
    public string TransactionId { get; } = transactionId;

    /// <summary>Why; <see cref="AbortReason.Application"/> when a method asked for it.</summary>
    public AbortReason Reason { get; } = abort.Reason;

    /// <summary>What the method, or the system, had to say.</summary>
    public string Detail { get; } = abort.Message;

    /// <summary>The same call may succeed later. The client has already repeated it until its timeout.</summary>
    public bool IsTransient { get; } = abort.IsRetryable;

    /// <summary>The actor concerned; null when none is.</summary>
    public ActorKey? Actor { get; } = abort.Actor;

    /// <summary>The code that the application has given the abort (<c>insufficient_funds</c>); null: none.</summary>
    public string? Code { get; } = abort.Code;

    /// <summary>What goes with the code, as the application has chosen it; null: nothing.</summary>
    public JsonElement? Details { get; } = abort.Details;
}

/// <summary>
/// Whether the transaction committed could not be found out in time. Ask later with <see cref="SnapperClient.Find"/>, or
/// send the same call again with the same id: its effects happen once.
/// </summary>
public sealed class TransactionInDoubtException(string transactionId, string detail)
    : Exception($"The outcome of transaction '{transactionId}' is not known: {detail}")
{
    /// <summary>The request's id.</summary>
    public string TransactionId { get; } = transactionId;

    /// <summary>What was heard last.</summary>
    public string Detail { get; } = detail;
}

/// <summary>
/// The transaction committed, and its effects are durable. Its result was in the first answer, which did not arrive,
/// and was too large to be kept for a repetition (16 KiB by default). Read what you need by another transaction.
/// </summary>
public sealed class ResultDroppedException(string transactionId)
    : Exception($"Transaction '{transactionId}' committed, but its result was too large to be kept for a repetition.")
{
    /// <summary>The request's id.</summary>
    public string TransactionId { get; } = transactionId;
}

/// <summary>The request was refused; it was not executed.</summary>
public sealed class TransactionRejectedException(string transactionId, RejectionDetails rejection)
    : Exception(string.Create(CultureInfo.InvariantCulture, $"Transaction '{transactionId}' was refused ({rejection.Status}): {rejection.Detail}"))
{
    /// <summary>The request's id.</summary>
    public string TransactionId { get; } = transactionId;

    /// <summary>HTTP status; 503 also when no worker could be reached.</summary>
    public int Status { get; } = rejection.Status;

    /// <summary>Names what is wrong.</summary>
    public string Detail { get; } = rejection.Detail;

    /// <summary>The same call may be accepted later. The client has already repeated it until its timeout.</summary>
    public bool IsTransient { get; } = rejection.IsTransient;
}

/// <summary>A worker refused what an operator asked of it; nothing was done.</summary>
public sealed class OperationRefusedException(int status, string detail) : Exception(string.Create(CultureInfo.InvariantCulture, $"Refused (HTTP {status}): {detail}"))
{
    /// <summary>HTTP status: 400 what was asked is malformed, 404 there is no such thing or one worker alone, 409 it cannot be now.</summary>
    public int Status { get; } = status;

    /// <summary>Names what is wrong.</summary>
    public string Detail { get; } = detail;
}
