using Snapper.Storage.Log.Records;

namespace Snapper.Fuzzing.Storage;

/// <summary>Everything that a record says, as text: two records with one text mean the same.</summary>
internal static class RecordText
{
    public static string Of(LogRecord record) => record switch
    {
        LocalBatchCommitted b => $"batch {b.Batch} {b.LastTransaction} {Of(b.Changes)} {Of(b.Outcomes)}",
        ActCommitted a => $"act {a.Transaction} {Of(a.Changes)} with [{string.Join(',', a.Participants)}] {(a.Outcome is null ? "none" : Of(a.Outcome))}",
        Prepared p => $"prepared {p.Global} {p.Batch} {p.LastTransaction} {Of(p.Changes)} {Of(p.Outcomes)}",
        Decision d => $"decision {d.Global}",
        Decided d => $"decided {d.Global} {d.Committed} [{string.Join(',', d.Versions)}]",
        ActPrepared p => $"act prepared {p.Transaction} {p.Root} {Of(p.Changes)}",
        ActEnded e => $"act ended {e.Transaction} {e.Committed} [{string.Join(',', e.Versions)}]",
        MovedIn m => $"moved in {m.Plan} {m.Actor.Type}|{m.Actor.Id} {m.Version} {Of(m.Fields)} {Of(m.Outcomes)}",
        _ => throw new ArgumentException(record.GetType().Name),
    };

    public static string Of(OutcomeRecord o) =>
        $"{o.RequestId}|{o.IsCallerKey}|{o.RequestHash}|{o.IsAct}|{o.Transaction}|{o.Batch}|{o.Attempts}|{o.AtUnixMs}|{o.Abort}|{Convert.ToHexString(o.Payload.Span)}|{o.IsResultDropped}|{o.AbortActor?.Type}|{o.AbortActor?.Id}";

    public static string Of(IReadOnlyList<StateField> fields) =>
        string.Join(',', fields.OrderBy(f => f.Name, StringComparer.Ordinal).Select(f => $"{f.Name}={(f.Value is { } value ? Convert.ToHexString(value.Span) : "deleted")}"));

    private static string Of(IReadOnlyList<ActorChange> changes) => $"[{string.Join(';', changes.Select(Of))}]";

    private static string Of(IReadOnlyList<OutcomeRecord> outcomes) => $"[{string.Join(';', outcomes.Select(Of))}]";

    private static string Of(ActorChange c) => $"{c.Actor.Type}|{c.Actor.Id}|{c.Version}|{string.Join(',', c.Fields.Select(f => $"{f.Name}={(f.Value is { } value ? Convert.ToHexString(value.Span) : "deleted")}"))}";
}
