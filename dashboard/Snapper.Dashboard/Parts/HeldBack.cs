using Snapper.Contracts;

namespace Snapper.Dashboard.Parts;

/// <summary>A batch and its worker.</summary>
public sealed record BatchRow(string Worker, BatchView Batch);

/// <summary>What a batch waited for longest, in words. The workers tell which it was; of a part of a batch over several workers, which of the parts came last is seen here.</summary>
public static class HeldBack
{
    /// <summary>A piece of a sentence, and where it leads; null: nowhere.</summary>
    public readonly record struct Piece(string Text, string? Link = null);

    /// <summary>In a few words; null: it is under way and waits for no actor, or its worker is of an older version.</summary>
    public static string? Short(BatchRow row) => row.Batch switch
    {
        { WaitingFor: [var only] } => only,
        { WaitingFor: [var first, ..] } => $"{first} and {row.Batch.WaitingFor.Count - 1} more",
        { HeldBackBy: "actor" } => row.Batch.LastActor,
        { HeldBackBy: "actors", GlobalBatch: not null } => "its actors here, or calls",
        { HeldBackBy: "actors" } => "all its actors",
        { HeldBackBy: "batches" } => "batches before it",
        { HeldBackBy: "decision" } => "other workers",
        { HeldBackBy: "log" } => "the log",
        _ => null,
    };

    /// <summary>The page of the actor that <see cref="Short"/> names; null: it names none, or several.</summary>
    public static string? Link(BatchRow row) => row.Batch switch
    {
        { WaitingFor: [var only] } => Fmt.ActorLink(only),
        { WaitingFor.Count: 0, HeldBackBy: "actor", LastActor: { } last } => Fmt.ActorLink(last),
        _ => null,
    };

    /// <summary>As a sentence that begins in its middle.</summary>
    /// <param name="row">The batch; nobody is waited for any more.</param>
    /// <param name="parts">What is known of all parts of its global batch, its own among them.</param>
    public static IReadOnlyList<Piece> Sentence(BatchRow row, IReadOnlyList<BatchRow> parts) => row.Batch.State == "aborted"
        ? [.. Reason(row, parts), new(" An undo emptied it; its transactions run again under other numbers, except one that failed by itself.")]
        : Reason(row, parts);

    private static IReadOnlyList<Piece> Reason(BatchRow row, IReadOnlyList<BatchRow> parts)
    {
        var batch = row.Batch;
        if (batch.HeldBackBy is null || batch.LastActor is null) return [new(batch.State is "committed" or "aborted" ? "its worker does not tell." : "it is under way; all its actors have acknowledged.")];
        var spent = Fmt.Ms(batch.HeldBackMs) + (batch.CommittedMs is { } total ? $" of {Fmt.Ms(total)}" : "");
        return batch.HeldBackBy switch
        {
            "actor" when batch.BeforeLastActor is null => [new("its only actor "), Actor(batch.LastActor), new($", {spent}.")],
            "actor" => [Actor(batch.LastActor), new(" alone: it "), .. Acknowledged(batch), new($". All had acknowledged after {spent}.")],
            "actors" when batch.GlobalBatch is not null && batch.BeforeLastActor is null => [new("its only actor here "), Actor(batch.LastActor), new($", or calls from other workers that it waited for, {spent}.")],
            "actors" when batch.GlobalBatch is not null => [new($"its actors here, or calls to and from other workers that they waited for, {spent}: "), Actor(batch.LastActor), new(" "), .. Acknowledged(batch), new(".")],
            "actors" => [new($"all its actors about together, {spent}: "), Actor(batch.LastActor), new(" "), .. Acknowledged(batch), new(".")],
            "batches" => [new($"the batches before it, or an undo that reached it, {spent}. "), .. Last(batch)],
            "log" => [new($"the log, which made it durable in {spent}. "), .. Last(batch)],
            "decision" => [new($"the decision about its global batch {batch.GlobalBatch}, {spent}: "), .. Decision(row, parts)],
            _ => [new($"{batch.HeldBackBy}, {spent}. "), .. Last(batch)],
        };
    }

    /// <summary>The part that waited least for the decision was prepared last, as far as that can be told without a common clock. Null: not all parts that are known have been decided.</summary>
    public static BatchRow? LastPart(IReadOnlyList<BatchRow> parts) =>
        parts.Count < 2 || parts.Any(part => part.Batch is not { PreparedMs: not null, QueuedMs: not null }) ? null : parts.MinBy(part => part.Batch.QueuedMs - part.Batch.PreparedMs);

    private static IEnumerable<Piece> Decision(BatchRow row, IReadOnlyList<BatchRow> parts)
    {
        if (LastPart(parts) is not { } last)
        {
            return [new("the other workers' parts are not known here. "), .. Last(row.Batch)];
        }

        if (last.Worker == row.Worker)
        {
            return [new("its own part was prepared last, the rest is the master's. "), .. Last(row.Batch)];
        }

        var link = $"/batches?worker={Uri.EscapeDataString(last.Worker)}&batch={last.Batch.Batch}";
        return last.Batch.LastActor is { } actor
            ? [new("the part of "), new(last.Worker, link), new(" was prepared last, where "), Actor(actor), new(" "), .. Acknowledged(last.Batch), new(".")]
            : [new("the part of "), new(last.Worker, link), new(" was prepared last.")];
    }

    private static IEnumerable<Piece> Last(BatchView batch) =>
        [new($"Its actors had acknowledged after {Fmt.Ms(batch.CompletedMs)}, the last of them "), Actor(batch.LastActor!), new(".")];

    private static IEnumerable<Piece> Acknowledged(BatchView batch) => batch.BeforeLastActor is { } before
        ? [new($"acknowledged last, {Fmt.Ms(batch.LastActorAfterMs)} after "), Actor(before)]
        : [new("is the only actor")];

    private static Piece Actor(string actor) => new(actor, Fmt.ActorLink(actor));
}
