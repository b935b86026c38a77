using System.Text;
using Snapper.Protocol.Batches;
using Snapper.Protocol.Commitment;
using Snapper.Protocol.Messages;
using Snapper.Runtime.Door;
using Snapper.Storage.Log.Records;

namespace Snapper.Runtime.Execution;

/// <summary>What of a batch or an ACT goes into the log, and what it weighs there. Times are Unix milliseconds.</summary>
public static class CommitRecords
{
    /// <summary>What <see cref="Of(CommitSet, int, long)"/> will make of it.</summary>
    public static long WeightOf(Component component, int keptMax)
    {
        var batch = component.Batch;
        var bytes = 0L;
        for (var slot = component.FirstSlot; slot >= 0; slot = batch.NextSlot(slot))
        {
            if (batch.ChangeOf(slot) is { } change)
            {
                bytes += RecordWeight.Of(change);
            }
        }

        for (var i = batch.FirstRoot(component); i >= 0; i = batch.NextRoot(i))
        {
            var request = Request.Of(batch.Tickets[i]);
            var isCommitted = batch.StateOf(i) == MemberState.Committed;
            if (!HasOutcome(request, isCommitted))
            {
                continue;
            }

            bytes += isCommitted
                ? RecordWeight.OfOutcome(request.Id, null, KeptOf(request.Result!, keptMax).Length)
                : RecordWeight.OfOutcome(request.Id, request.Abort!.Actor, 3 * request.Abort.Text.Length);
        }

        return bytes;
    }

    /// <summary>The record of components that are final (D3); null: nothing of them has to be kept.</summary>
    public static LocalBatchCommitted? Of(CommitSet set, int keptMax, long now)
    {
        var batch = set.Batch;
        var isWhole = set.Components.Count == batch.Components.Count;
        var changes = new List<ActorChange>(isWhole ? batch.SlotCount : 2 * set.Components.Count);
        var outcomes = new List<OutcomeRecord>(isWhole ? batch.Tickets.Length : set.Components.Count);
        foreach (var component in set.Components)
        {
            AddChanges(changes, component, withVersions: true);
            AddOutcomes(outcomes, component, keptMax, now);
        }

        return changes.Count == 0 && outcomes.Count == 0
            ? null
            : new LocalBatchCommitted { Batch = batch.Bid, LastTransaction = batch.LastTid, Changes = changes, Outcomes = outcomes };
    }

    /// <summary>The conditional record of a worker's part of a global batch (L3): outcomes of the roots that are here, changes without versions (L7).</summary>
    public static Prepared Prepare(Batch batch, int keptMax, long now)
    {
        var changes = new List<ActorChange>(batch.SlotCount);
        var outcomes = new List<OutcomeRecord>(batch.Tickets.Length);
        AddChanges(changes, batch.Components[0], withVersions: false);
        AddOutcomes(outcomes, batch.Components[0], keptMax, now);
        return new Prepared { Global = batch.Part!.Bid, Batch = batch.Bid, LastTransaction = batch.LastTid, Changes = changes, Outcomes = outcomes };
    }

    public static Decided Of(DecidedPart decided)
    {
        var versions = new List<long>(decided.Batch.SlotCount);
        for (var slot = 0; decided.Committed && slot < decided.Batch.SlotCount; slot++)
        {
            if (decided.Batch.ChangeOf(slot) is { } change)
            {
                versions.Add(change.Version);
            }
        }

        return new Decided { Global = decided.Batch.Part!.Bid, Committed = decided.Committed, Versions = versions };
    }

    /// <summary>The record of an ACT; null: nothing of it has to be kept. One of several workers is kept as their decision (R).</summary>
    public static ActCommitted? Of(ActOutcome act, int keptMax, long now)
    {
        var outcome = OutcomeOf(Request.Of(act), act.Committed, keptMax, now);
        if (act.Changes.Count == 0 && outcome is null && !IsDecision(act))
        {
            return null;
        }

        var others = new int[IsDecision(act) ? act.Others.Count : 0];
        for (var i = 0; i < others.Length; i++)
        {
            others[i] = act.Others[i].Worker;
        }

        return new ActCommitted { Transaction = act.Tid, Changes = ChangesOf(act, withVersions: true), Participants = others, Outcome = outcome };
    }

    /// <summary>Others wait for what becomes of it, and ask the log for it when they must (R2).</summary>
    public static bool IsDecision(ActOutcome act) => act.Committed && act.Others.Count > 0;

    /// <summary>
    /// The conditional record of a worker's part of an ACT, also of one that only read (H2), or whose root refuses by
    /// itself: what that rests on stays until it is decided (H7).
    /// </summary>
    public static ActPrepared Of(PreparedAct prepared) => new()
    {
        Transaction = prepared.Part.Tid,
        Root = prepared.Part.RootWorker,
        Changes = ChangesOf(prepared.Part, withVersions: false),
    };

    /// <summary>The marker of an <see cref="ActPrepared"/>.</summary>
    public static ActEnded Of(DecidedAct decided)
    {
        var versions = new List<long>(decided.Part.Changes.Count);
        for (var i = 0; decided.Committed && i < decided.Part.Changes.Count; i++)
        {
            versions.Add(decided.Part.Changes[i].Version);
        }

        return new ActEnded { Transaction = decided.Part.Tid, Committed = decided.Committed, Versions = versions };
    }

    private static void AddChanges(List<ActorChange> changes, Component component, bool withVersions)
    {
        for (var slot = component.FirstSlot; slot >= 0; slot = component.Batch.NextSlot(slot))
        {
            if (component.Batch.ChangeOf(slot) is { } change)
            {
                changes.Add(ChangeOf(change, withVersions));
            }
        }
    }

    private static List<ActorChange> ChangesOf(ActOutcome act, bool withVersions)
    {
        var changes = new List<ActorChange>(act.Changes.Count);
        foreach (var change in act.Changes)
        {
            changes.Add(ChangeOf(change, withVersions));
        }

        return changes;
    }

    private static void AddOutcomes(List<OutcomeRecord> outcomes, Component component, int keptMax, long now)
    {
        var batch = component.Batch;
        for (var i = batch.FirstRoot(component); i >= 0; i = batch.NextRoot(i))
        {
            var isCommitted = batch.StateOf(i) == MemberState.Committed;
            if (OutcomeOf(Request.Of(batch.Tickets[i]), isCommitted, keptMax, now) is { } outcome)
            {
                outcomes.Add(outcome);
            }
        }
    }

    private static ActorChange ChangeOf(Change change, bool withVersion) =>
        new(change.Actor, withVersion ? change.Version : 0, [new StateField(StateField.WholeState, change.State is byte[] bytes ? bytes : (ReadOnlyMemory<byte>?)null)]);

    /// <summary>The record of an outcome alone (I3).</summary>
    internal static LogRecord Of(LateOutcome late, int keptMax, long now)
    {
        var outcome = OutcomeOf(late.Request, late.Committed, keptMax, now, isCallerKey: true);
        return late.Batch is { } batch
            ? new LocalBatchCommitted
            {
                Batch = batch.Bid,
                LastTransaction = batch.LastTid,
                Changes = [],
                Outcomes = [outcome],
            }
            : new ActCommitted { Transaction = outcome.Transaction, Changes = [], Outcome = outcome };
    }

    /// <summary>
    /// I4: every request that has effects is named; what only read, or refused, is named when its caller may ask again by
    /// its own key (I2). Aborts that may succeed later are not: their id may run again.
    /// </summary>
    public static bool HasOutcome(Request request, bool committed) =>
        request.HasCallerKey ? IsKept(request, committed)
        : committed && (request.Attempt!.Wrote || request.Attempt.IsDistributed);

    /// <summary>The outcome is the last one of its id (I2).</summary>
    public static bool IsKept(Request request, bool committed) =>
        committed || AbortReasons.IsKept(request.Abort!.Reason);

    /// <summary>I3: a small request must not make a large outcome, which stays for the whole window.</summary>
    private static byte[] KeptOf(byte[] result, int keptMax) => result.Length <= keptMax ? result : [];

    private static OutcomeRecord? OutcomeOf(Request request, bool committed, int keptMax, long now) =>
        HasOutcome(request, committed) ? OutcomeOf(request, committed, keptMax, now, request.HasCallerKey) : null;

    private static OutcomeRecord OutcomeOf(
        Request request, bool committed, int keptMax, long now, bool isCallerKey)
    {
        var attempt = request.Attempt!;
        var kept = committed ? KeptOf(request.Result!, keptMax) : Encoding.UTF8.GetBytes(request.Abort!.Text);
        return new OutcomeRecord
        {
            RequestId = request.Id,
            IsCallerKey = isCallerKey,
            RequestHash = request.IsAnswered ? request.Hash() : request.RequestHash, // in doubt by now
            IsAct = !request.IsPact,
            Transaction = attempt.Tid,
            Batch = attempt.Bid,
            Attempts = request.Attempts,
            AtUnixMs = now,
            Abort = committed ? AbortReason.None : request.Abort!.Reason,
            Payload = kept,
            IsResultDropped = committed && kept.Length < request.Result!.Length,
            AbortActor = committed ? null : request.Abort!.Actor,
        };
    }

    /// <summary>Generated ids whose callers were told "in doubt" are kept as callers' ids are: they will be asked for, after a restart too.</summary>
    public static void Settle(object item, LogRecord record)
    {
        switch (item)
        {
            case ActOutcome act:
                Settle(Request.Of(act), record);
                break;
            case CommitSet set:
                foreach (var component in set.Components)
                {
                    Settle(component, record);
                }

                break;
        }
    }

    /// <inheritdoc cref="Settle(object, LogRecord)"/>
    public static void Settle(Component component, LogRecord record)
    {
        var batch = component.Batch;
        for (var i = batch.FirstRoot(component); i >= 0; i = batch.NextRoot(i))
        {
            Settle(Request.Of(batch.Tickets[i]), record);
        }
    }

    private static void Settle(Request request, LogRecord record)
    {
        if (request.HasCallerKey || !request.Settle())
        {
            return;
        }

        switch (record)
        {
            case ActCommitted { Outcome: { } outcome }:
                outcome.IsInDoubt = true;
                break;
            case LocalBatchCommitted batch:
                Mark(batch.Outcomes, request);
                break;
            case Prepared prepared:
                Mark(prepared.Outcomes, request);
                break;
        }
    }

    private static void Mark(IReadOnlyList<OutcomeRecord> outcomes, Request request)
    {
        foreach (var outcome in outcomes)
        {
            outcome.IsInDoubt |= outcome.RequestId == request.Id;
        }
    }
}
