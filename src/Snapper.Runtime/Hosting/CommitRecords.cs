using Snapper.Protocol;
using Snapper.Protocol.Commitment;
using Snapper.Runtime.Requests;
using Snapper.TransactionLog.Records;

namespace Snapper.Runtime.Hosting;

/// <summary>What of a batch or an ACT goes into the log, and what it weighs there. Times are Unix milliseconds.</summary>
internal static class CommitRecords
{
    /// <summary>What <see cref="Of(Batch, long)"/> will make of it.</summary>
    public static long WeightOf(Batch batch)
    {
        var bytes = 0L;
        for (var slot = 0; slot < batch.SlotCount; slot++)
        {
            if (batch.ChangeOf(slot) is { } change)
            {
                bytes += RecordWeight.Of(change);
            }
        }

        for (var i = 0; i < batch.Tickets.Length; i++)
        {
            var state = batch.StateOf(i);
            var request = (Request)batch.Tickets[i].Request;
            if (state == MemberState.Removed || !HasOutcome(request, state == MemberState.Committed))
            {
                continue;
            }

            bytes += state == MemberState.Committed
                ? RecordWeight.OfOutcome(request.Id, null, request.Result!.Length)
                : RecordWeight.OfOutcome(request.Id, request.Abort!.Actor, 3 * request.Abort.Message.Length);
        }

        return bytes;
    }

    /// <summary>The record of a batch that is final; null: nothing of it has to be kept.</summary>
    public static LocalBatchCommitted? Of(Batch batch, long now)
    {
        var changes = new List<ActorChange>(batch.SlotCount);
        for (var slot = 0; slot < batch.SlotCount; slot++)
        {
            if (batch.ChangeOf(slot) is { } change)
            {
                changes.Add(ChangeOf(change));
            }
        }

        var outcomes = new List<OutcomeRecord>(batch.Tickets.Length);
        for (var i = 0; i < batch.Tickets.Length; i++)
        {
            var state = batch.StateOf(i);
            if (state == MemberState.Removed)
            {
                continue;
            }

            if (OutcomeOf((Request)batch.Tickets[i].Request, state == MemberState.Committed, now) is { } outcome)
            {
                outcomes.Add(outcome);
            }
        }

        return changes.Count == 0 && outcomes.Count == 0
            ? null
            : new LocalBatchCommitted { Batch = batch.Bid, LastTransaction = batch.LastTid, Changes = changes, Outcomes = outcomes };
    }

    /// <summary>The record of an ACT; null: nothing of it has to be kept.</summary>
    public static ActCommitted? Of(ActOutcome act, long now)
    {
        var changes = new List<ActorChange>(act.Changes.Count);
        foreach (var change in act.Changes)
        {
            changes.Add(ChangeOf(change));
        }

        var outcome = OutcomeOf((Request)act.Request, act.Committed, now);
        return changes.Count == 0 && outcome is null
            ? null
            : new ActCommitted { Transaction = act.Tid, Changes = changes, Outcome = outcome };
    }

    private static ActorChange ChangeOf(Change change) =>
        new(change.Actor, change.Version, [new StateField(StateField.WholeState, (byte[])change.State)]);

    /// <summary>
    /// I4: every request that has effects is named; what only read, or refused, is named when its caller may ask again by
    /// its own key (I2). Aborts that may succeed later are not: their id may run again.
    /// </summary>
    private static bool HasOutcome(Request request, bool committed) =>
        committed ? request.HasCallerKey || request.Attempt!.Wrote : request.HasCallerKey && AbortReasons.IsKept(request.Abort!.Reason);

    private static OutcomeRecord? OutcomeOf(Request request, bool committed, long now)
    {
        if (!HasOutcome(request, committed) || Planted.Is(PlantedFault.OutcomeNotInTheRecord) || (Planted.Is(PlantedFault.AbortNotRecorded) && !committed))
        {
            return null;
        }

        var attempt = request.Attempt!;
        return new OutcomeRecord
        {
            RequestId = request.Id,
            IsCallerKey = request.HasCallerKey,
            RequestHash = request.RequestHash,
            IsAct = !request.IsPact,
            Transaction = attempt.Tid,
            Batch = attempt.Bid,
            Attempts = request.Attempts,
            AtUnixMs = now,
            Abort = committed ? AbortReason.None : request.Abort!.Reason,
            Payload = committed ? request.Result! : System.Text.Encoding.UTF8.GetBytes(request.Abort!.Message),
            AbortActor = committed ? null : request.Abort!.Actor,
        };
    }

    /// <summary>Generated ids whose callers were told "in doubt" are kept as callers' ids are: they will be asked for, after a restart too.</summary>
    public static void Settle(object item, LogRecord record)
    {
        if (item is not Batch batch)
        {
            Settle((Request)((ActOutcome)item).Request, record);
            return;
        }

        for (var i = 0; i < batch.Tickets.Length; i++)
        {
            if (batch.StateOf(i) != MemberState.Removed)
            {
                Settle((Request)batch.Tickets[i].Request, record);
            }
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
                foreach (var outcome in batch.Outcomes)
                {
                    outcome.IsInDoubt |= outcome.RequestId == request.Id;
                }

                break;
        }
    }
}
