using Snapper.Protocol.Batches;
using Snapper.Protocol.Identity;
using Snapper.Protocol.Messages;

namespace Snapper.Protocol.Commitment;

/// <summary>What became of a PACT whose root has ended.</summary>
public enum PactEnd : byte
{
    /// <summary>Committed with its batch.</summary>
    Committed,

    /// <summary>Aborted by itself; the outcome is recorded with its batch (A3).</summary>
    Aborted,

    /// <summary>Removed and run again, marked (A4).</summary>
    RunAgain,
}

/// <summary>
/// What the root of a transaction tells the others at its end. The root coordinates: for PACTs <c>Ended</c> (A2, A3) or a
/// removal (A4), for ACTs the collection of changes. Two-phase commit over workers takes its place in <see cref="EndAct"/>.
/// </summary>
public static class RootEnding
{
    /// <summary>Ends a PACT.</summary>
    /// <param name="ticket">The PACT, numbered.</param>
    /// <param name="marked">The attempt was numbered as one that holds its turns; the ticket's mark may have changed since.</param>
    /// <param name="succeeded">The root has returned and all calls under it are joined.</param>
    /// <param name="calls">Calls made, by index of <see cref="PactTicket.Declared"/>; no more will be made.</param>
    /// <param name="outputs">Receives the messages.</param>
    public static PactEnd EndPact(PactTicket ticket, bool marked, bool succeeded, ReadOnlySpan<int> calls, OutputBuffer outputs)
    {
        if (!succeeded && !marked && ATurnMayHavePassed(ticket, calls))
        {
            outputs.ToCommit(MessageKind.PactFailed, ticket.Tid, ticket.Bid);
            return PactEnd.RunAgain;
        }

        // The result first: the root's actor completes its sub-batch only after it (no batch is final without results).
        outputs.ToCommit(MessageKind.PactDecided, ticket.Tid, ticket.Bid).Flag = succeeded;
        for (var i = 0; i < calls.Length; i++)
        {
            var access = ticket.Declared[i];
            if (!succeeded || marked || calls[i] < access.Calls || access.Actor.Equals(ticket.Root))
            {
                if (ticket.Global is { } member && member.Owners[i] != member.Pact.Root)
                {
                    TellBranch(member, i, succeeded, calls[i], outputs);
                    continue;
                }

                ref var message = ref outputs.ToActor(MessageKind.Ended, access.Actor, ticket.Tid, ticket.Bid);
                message.Flag = succeeded;
                message.Count = calls[i];
            }
        }

        return succeeded ? PactEnd.Committed : PactEnd.Aborted;
    }

    private static void TellBranch(GlobalMember member, int declared, bool succeeded, int calls, OutputBuffer outputs)
    {
        ref var message = ref outputs.Add(OutputKind.SendToBranch, MessageKind.Ended, declared);
        message.Actor = member.Pact.Declared[declared].Actor;
        message.Tid = member.Tid;
        message.Flag = succeeded;
        message.Count = calls;
        message.Body = member;
    }

    /// <summary>Ends an ACT by its own outcome (H7): its actors send their changes, the commit machine waits for H3.</summary>
    public static void EndAct(ActOutcome outcome, OutputBuffer outputs)
    {
        outputs.ToCommit(MessageKind.ActFinished, outcome.Tid, BatchId.None).Body = outcome;
        foreach (var participant in outcome.Participants)
        {
            outputs.ToActor(MessageKind.ActCollect, participant, outcome.Tid, BatchId.None).Flag = outcome.Committed;
        }

        for (var i = 0; i < outcome.Others.Count; i++)
        {
            Prepare(outcome, i, outputs);
        }
    }

    /// <summary>Asks another worker of an ACT for its vote.</summary>
    internal static void Prepare(ActOutcome outcome, int other, OutputBuffer outputs)
    {
        ref var message = ref outputs.Add(OutputKind.SendToParticipant, MessageKind.ActPrepare, other);
        message.Tid = outcome.Tid;
        message.Flag = outcome.Committed;
        message.Body = outcome;
    }

    /// <summary>Aborts an ACT at once (H7: conflicts); nothing of it remains anywhere.</summary>
    public static void AbortAct(TransactionId tid, IReadOnlyList<ActorKey> participants, OutputBuffer outputs)
    {
        outputs.ToCommit(MessageKind.ActAborted, tid, BatchId.None);
        foreach (var participant in participants)
        {
            outputs.ToActor(MessageKind.ActEnd, participant, tid, BatchId.None).Flag = false;
        }
    }

    /// <summary>
    /// A4 speaks of turns that have passed. A turn of an unmarked PACT passes when the declared calls are made; while none
    /// can have passed, every declared actor still holds its turn, exactly as for a marked one, so that A3 applies.
    /// </summary>
    private static bool ATurnMayHavePassed(PactTicket ticket, ReadOnlySpan<int> calls)
    {
        for (var i = 0; i < calls.Length; i++)
        {
            if (calls[i] > 0 && ticket.Global is { } member && member.Owners[i] != member.Pact.Root)
            {
                return true; // what was called from there is not known here before it has returned
            }

            if (calls[i] >= ticket.Declared[i].Calls && !ticket.Declared[i].Actor.Equals(ticket.Root))
            {
                return true;
            }
        }

        return false;
    }
}
