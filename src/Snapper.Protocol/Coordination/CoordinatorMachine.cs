using Snapper.Protocol.Batches;
using Snapper.Protocol.Identity;
using Snapper.Protocol.Messages;

namespace Snapper.Protocol.Coordination;

/// <summary>
/// One member of the ring of local coordinators: collects PACTs and, when it holds the token and the log keeps up, turns
/// all that wait into a batch with contiguous tids and the previous batch per actor (thesis 3.3.2; DESIGN 4).
/// </summary>
/// <remarks>
/// No timer: a batch closes as soon as fewer than <see cref="CoordinatorOptions.OpenBatches"/> batches wait for the log,
/// so that one transaction alone never waits and load makes batches large. An idle ring parks its token.
/// </remarks>
public sealed partial class CoordinatorMachine(int index, int ringSize, CoordinatorOptions options, IOwnership? ownership = null)
{
    private readonly WaitingPacts<PactTicket> _waiting = new(
        static ticket => ticket.Caller, static ticket => ticket.Withdrawn ? 0 : ticket.Here.Length);

    private readonly List<PactTicket> _taken = [];
    private readonly Queue<Batch> _formed = new();
    private readonly List<BoundPart> _parts = [];
    private RingToken? _token;
    private bool _asked;
    private long _undurable;

    /// <summary>Its position in the ring, from 0.</summary>
    public int Index { get; } = index;

    /// <summary>It holds the token.</summary>
    public bool HoldsToken => _token is not null;

    /// <summary>PACTs that wait for a number.</summary>
    public int Waiting => _waiting.Count;

    /// <summary>Handles one message.</summary>
    public void Step(in Message message, OutputBuffer outputs)
    {
        switch (message.Kind)
        {
            case MessageKind.NewPact:
                _waiting.Add(message.Ticket);
                break;
            case MessageKind.Token:
                OnToken((RingToken)message.Body!);
                break;
            case MessageKind.TokenWanted:
                OnTokenWanted(message.Count, outputs);
                break;
            case MessageKind.LogProgress:
                _undurable = message.Value;
                break;
            case MessageKind.GlobalPart:
                _parts.Add((BoundPart)message.Body!);
                break;
            case MessageKind.GlobalUndo:
                OnGlobalUndo(message, outputs);
                break;
            case MessageKind.Withdraw:
                OnWithdraw(message.Ticket, message.Reason, outputs);
                break;
            default:
                throw new ProtocolViolationException($"Coordinator {Index}: no transition for {message.Kind}.");
        }

        FormBatches(outputs);
        PassToken(outputs);
    }

    private void OnToken(RingToken token)
    {
        if (_token is not null)
        {
            throw new ProtocolViolationException($"Coordinator {Index} got a second token.");
        }

        _token = token;
        _asked = false;
        token.WantedBy &= ~(1UL << Index);
    }

    private void OnTokenWanted(int wanter, OutputBuffer outputs)
    {
        if (_token is not null)
        {
            _token.WantedBy |= 1UL << wanter;
        }
        else if (wanter != Index)
        {
            // The wish runs round the ring until it meets the token; it cannot overtake it on a link.
            outputs.Add(OutputKind.SendToCoordinator, MessageKind.TokenWanted, Next).Count = wanter;
        }
        else if (_waiting.Count > 0)
        {
            // Once round without meeting it: the token was moving. Ask again.
            outputs.Add(OutputKind.SendToCoordinator, MessageKind.TokenWanted, Next).Count = Index;
        }
        else
        {
            _asked = false;
        }
    }

    private int Next => (Index + 1) % ringSize;

    private void OnWithdraw(PactTicket ticket, AbortReason reason, OutputBuffer outputs)
    {
        if (ticket.Tid != TransactionId.None || ticket.Withdrawn)
        {
            return; // numbered: the root ends it
        }

        ticket.Withdrawn = true;
        ref var message = ref outputs.Add(OutputKind.Dropped);
        message.Body = ticket;
        message.Reason = reason;
    }

    private void FormBatches(OutputBuffer outputs)
    {
        if (_waiting.Count == 0 && _parts.Count == 0)
        {
            return;
        }

        if (_token is null)
        {
            if (!_asked)
            {
                _asked = true;
                outputs.Add(OutputKind.SendToCoordinator, MessageKind.TokenWanted, Next).Count = Index;
            }

            return;
        }

        // The master bounds how many global batches are open, and other workers wait for this part: it waits for no log here.
        PlaceParts(_token, outputs);
        if (_waiting.Count > 0 && _undurable < options.OpenBatches)
        {
            if (options.SchedulingPolicy.BatchHeldOpen())
            {
                // It looks again when the executor has done what is under way. What it knows of the log may be old then: one batch too many is open at worst.
                ref var again = ref outputs.Add(OutputKind.SendToCoordinator, MessageKind.LogProgress, Index);
                again.Value = _undurable;
                return;
            }

            FormBatch(_token, outputs);
        }
    }

    private void FormBatch(RingToken token, OutputBuffer outputs)
    {
        ForgetFinal(token);
        var most = _waiting.Count > 1 && options.SchedulingPolicy.BatchOfOne() ? 1 : options.TransactionsPerBatch;
        var mayOwe = _undurable == 0 || ringSize > 1; // a token that comes round must find a batch
        while (_waiting.Count > 0)
        {
            _taken.Clear();
            _waiting.Take(most, options.AccessesPerBatch, mayOwe, _taken);
            if (_taken.Count == 0)
            {
                return; // those who wait may again when the log has come on
            }

            // Where all that are taken go back, those behind them must not wait for a message that may never come.
            if (Owned(_taken.ToArray(), outputs) is { } tickets)
            {
                _undurable++;
                Place(token, tickets, null, outputs);
                return;
            }
        }
    }

    private void Place(RingToken token, PactTicket[] tickets, GlobalPart? part, OutputBuffer outputs)
    {
        var bid = new BatchId(token.LastTid.Value + 1); // bid = first tid
        var batch = new Batch(bid, token.LastBid, tickets, part);
        token.LastBid = bid;
        for (var i = 0; i < tickets.Length; i++)
        {
            var ticket = tickets[i];
            var tid = new TransactionId(bid.Value + i);
            ticket.Tid = tid;
            ticket.Bid = bid;
            ticket.Attempts++;
            token.LastTid = tid;
            foreach (var access in ticket.Here)
            {
                var last = token.LastOf(access.Actor);
                if (last is null || last.Bid != bid)
                {
                    last = new SubBatch(access.Actor, bid, last, batch.SlotCount);
                    batch.AddSlot(last);
                    token.SetLast(last);
                }

                var isRoot = !ticket.IsRemote && access.Actor.Equals(ticket.Root);
                last.Add(new SubBatchEntry(tid, access.Access, access.Calls, ticket.Marked, isRoot ? ticket : null));
            }
        }

        _formed.Enqueue(batch);
        outputs.ToCommit(MessageKind.BatchFormed, TransactionId.None, bid).Body = batch;
        for (var slot = 0; slot < batch.SlotCount; slot++)
        {
            var subBatch = batch.SubBatchOf(slot);
            outputs.ToActor(MessageKind.SubBatch, subBatch.Actor, TransactionId.None, bid).Body = subBatch;
        }
    }

    private void ForgetFinal(RingToken token)
    {
        // As many as there were: one that is not over, as a transaction takes long, goes behind the others.
        for (var looks = _formed.Count; looks > 0; looks--)
        {
            var batch = _formed.Dequeue();
            if (!batch.IsFinal)
            {
                _formed.Enqueue(batch);
                continue;
            }

            for (var slot = 0; slot < batch.SlotCount; slot++)
            {
                token.Forget(batch.SubBatchOf(slot));
            }
        }
    }

    private bool IsPassedUnasked() => ringSize > 1 && _waiting.Count == 0 && options.SchedulingPolicy.TokenPassedUnasked();

    private void PassToken(OutputBuffer outputs)
    {
        if (_token is null || (_token.WantedBy == 0 && !IsPassedUnasked()))
        {
            return; // parked: an idle ring burns no CPU
        }

        if (_waiting.Count > 0 && _undurable >= options.OpenBatches)
        {
            // The log is behind, for everybody: the token would run round the ring without forming a batch, and where all
            // coordinators share an executor nothing else would run there, the news of the log included. LogProgress
            // comes here too; then this batch is formed and the token goes on.
            return;
        }

        if (_waiting.Count > 0)
        {
            _token.WantedBy |= 1UL << Index; // it comes round again
        }

        outputs.Add(OutputKind.SendToCoordinator, MessageKind.Token, Next).Body = _token;
        _token = null;
        _asked = _waiting.Count > 0;
    }
}
