using Snapper.TransactionLog.Records;

namespace Snapper.Fuzzing.Storage;

/// <summary>Everything that a record says, as text: two records with one text mean the same.</summary>
internal static class RecordText
{
    public static string Of(LogRecord record) => record switch
    {
        LocalBatchCommitted b => $"batch {b.Batch} {b.LastTransaction} [{string.Join(';', b.Changes.Select(Of))}] [{string.Join(';', b.Outcomes.Select(Of))}]",
        ActCommitted a => $"act {a.Transaction} [{string.Join(';', a.Changes.Select(Of))}] {(a.Outcome is null ? "none" : Of(a.Outcome))}",
        _ => throw new ArgumentException(record.GetType().Name),
    };

    public static string Of(OutcomeRecord o) =>
        $"{o.RequestId}|{o.IsCallerKey}|{o.RequestHash}|{o.IsAct}|{o.Transaction}|{o.Batch}|{o.Attempts}|{o.AtUnixMs}|{o.Abort}|{Convert.ToHexString(o.Payload.Span)}|{o.AbortActor?.Type}|{o.AbortActor?.Id}";

    public static string Of(IReadOnlyList<StateField> fields) =>
        string.Join(',', fields.OrderBy(f => f.Name, StringComparer.Ordinal).Select(f => $"{f.Name}={(f.Value is { } value ? Convert.ToHexString(value.Span) : "deleted")}"));

    private static string Of(ActorChange c) => $"{c.Actor.Type}|{c.Actor.Id}|{c.Version}|{string.Join(',', c.Fields.Select(f => $"{f.Name}={(f.Value is { } value ? Convert.ToHexString(value.Span) : "deleted")}"))}";
}
