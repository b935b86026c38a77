using Snapper.Contracts;
using Snapper.Protocol;
using Snapper.Protocol.Batches;
using Snapper.Protocol.Identity;
using Snapper.Protocol.Messages;
using Snapper.Protocol.Scheduling;

namespace Snapper.Runtime.Inspection.Watching;

/// <summary>
/// Who uses an actor, and when: it listens to the actor's machine while somebody looks, and stops by itself. Used by the actor's executor, except for <see cref="Renew"/> and
/// <see cref="IsOver"/>.
/// </summary>
public sealed class ActorTimeline(WatchClock clock, ActorTimelines timelines) : IProtocolTrace
{
    /// <summary>Entries kept; older ones are counted.</summary>
    private const int Most = 512;

    private readonly Dictionary<long, Entry> _byTid = [];
    private readonly Queue<Entry> _entries = new();
    private ActorMachine? _machine;
    private long _until;
    private long _since;
    private long _dropped;

    public bool IsOver(long now) => now > Volatile.Read(ref _until);

    public void Renew(long now, long until)
    {
        Volatile.Write(ref _until, until);
        Interlocked.CompareExchange(ref _since, now, 0);
    }

    /// <summary>Listens to the machine, in the place of an older timeline, unless somebody else does.</summary>
    public void Listen(ActorMachine machine)
    {
        if (machine.Trace is null or ActorTimeline && timelines.Has(machine.Key, this))
        {
            _machine = machine;
            machine.Trace = this;
        }
    }

    /// <summary>Lets go of the machine. Another timeline may listen to it by now, and goes on.</summary>
    public void Detach()
    {
        if (_machine is { } machine && ReferenceEquals(machine.Trace, this))
        {
            machine.Trace = null;
        }

        _machine = null;
    }

    public TimelineView View(ActorKey actor, string worker)
    {
        var entries = new List<TimelineEntry>(_entries.Count);
        foreach (var entry in _entries)
        {
            SettlePact(entry);
            entries.Add(new TimelineEntry(
                entry.Tid.Value, entry.Bid.Value, entry.Tid.IsAct ? "act" : "pact", entry.Request, entry.Root, entry.Method, clock.Ms(entry.ArrivedAt), clock.MsOrNull(entry.StartedAt),
                clock.MsOrNull(entry.ExecutedAt), clock.MsOrNull(entry.EndedAt), entry.Outcome, entry.Lock, entry.Calls, entry.Declared));
        }

        return new TimelineView(actor.Type, actor.Id, worker, clock.NowMs, clock.Ms(_since), _dropped) { Entries = entries };
    }

    public void Arrived(ActorKey actor, in Message message)
    {
        var now = clock.Now;
        if (IsOver(now) && timelines.Forget(actor, this))
        {
            Detach();
            return;
        }

        switch (message.Kind)
        {
            case MessageKind.SubBatch:
                OnSubBatch(message.SubBatch, now);
                break;
            case MessageKind.Call when message.Body is IWatchedCall call:
                Learn(Of(call, now), call);
                break;
            case MessageKind.Ended when Find(message.Tid) is { } entry:
                entry.ExecutedAt = now;
                entry.Outcome = message.Flag ? null : "aborted"; // A3: its place stays until its batch is durable
                break;
            case MessageKind.ActCollect when Find(message.Tid) is { } entry:
                entry.ExecutedAt = now;
                break;
            case MessageKind.ActEnd when Find(message.Tid) is { } entry:
                entry.ExecutedAt = entry.ExecutedAt == 0 ? now : entry.ExecutedAt;
                entry.EndedAt = now;
                entry.Outcome = message.Flag ? "committed" : "aborted";
                break;
            case MessageKind.Undo:
                OnUndo(message.Undo, now);
                break;
        }
    }

    public void LetIn(ActorKey actor, IActorCall call)
    {
        if (call is IWatchedCall frame)
        {
            var now = clock.Now;
            var entry = Of(frame, now);
            Learn(entry, frame);
            entry.StartedAt = entry.StartedAt == 0 ? now : entry.StartedAt;
            entry.Calls++;
        }
    }

    public void Asked(ActorKey actor, IActorCall call, LockMode mode, LockAnswer answer)
    {
        if (Find(call.Tid) is not { } entry)
        {
            return;
        }

        switch (answer)
        {
            case LockAnswer.Waiting:
                entry.StartedAt = 0; // it runs when it has its lock
                break;
            case LockAnswer.Granted:
                entry.Lock = NameOf(mode);
                break;
            default:
                entry.Outcome = "aborted"; // wait-die (W1)
                entry.ExecutedAt = entry.EndedAt = clock.Now;
                break;
        }
    }

    public void Granted(ActorKey actor, IActorCall call, LockMode mode)
    {
        if (Find(call.Tid) is { } entry)
        {
            entry.Lock = NameOf(mode);
            entry.StartedAt = clock.Now;
        }
    }

    public void Read(ActorKey actor, IActorCall call, object? state)
    {
    }

    public void Wrote(ActorKey actor, IActorCall call, object state)
    {
    }

    public void Completed(ActorKey actor, BatchId bid, Change? change)
    {
        // Turns that were passed on without waiting for the root's end (A1): all have run.
        var now = clock.Now;
        foreach (var entry in _entries)
        {
            if (entry.Bid == bid && entry.ExecutedAt == 0 && entry.StartedAt != 0)
            {
                entry.ExecutedAt = now;
            }
        }
    }

    public void Outgrown(Component component)
    {
    }

    public void Removing(IReadOnlyList<TransactionId> tids)
    {
    }

    public void UndoOver()
    {
    }

    private static string NameOf(LockMode mode) => mode == LockMode.Exclusive ? "exclusive" : "shared";

    private static void Learn(Entry entry, IWatchedCall call) => Learn(entry, call.Request);

    private static void Learn(Entry entry, IWatchedRequest request)
    {
        entry.Request ??= request.Id;
        entry.Root ??= request.Asked.Actor.ToString();
        entry.Method ??= request.Asked.Method;
    }

    private void SettlePact(Entry entry)
    {
        if (!entry.Tid.IsAct && entry is { EndedAt: 0, ExecutedAt: not 0 } && timelines.DurableAt(entry.Tid) is not 0 and var at)
        {
            entry.EndedAt = at;
            entry.Outcome ??= "committed";
        }
    }

    private void OnSubBatch(SubBatch subBatch, long now)
    {
        for (var i = 0; i < subBatch.Count; i++)
        {
            ref readonly var planned = ref subBatch[i];
            var entry = Find(planned.Tid) ?? Add(planned.Tid, subBatch.Bid, now); // a call from another executor may be here before the sub-batch that lets it in
            entry.Declared = planned.Calls;
            if (planned.Ticket?.Request is IWatchedRequest request)
            {
                Learn(entry, request);
            }
        }
    }

    private void OnUndo(UndoOrder order, long now)
    {
        foreach (var tid in order.Tids)
        {
            if (Find(tid) is { EndedAt: 0 } entry)
            {
                entry.ExecutedAt = entry.ExecutedAt == 0 ? now : entry.ExecutedAt;
                entry.EndedAt = now;
                entry.Outcome = "undone";
            }
        }
    }

    private Entry? Find(TransactionId tid) => _byTid.GetValueOrDefault(tid.Value);

    private Entry Of(IWatchedCall call, long now) => Find(call.Tid) ?? Add(call.Tid, call.Bid, now);

    private Entry Add(TransactionId tid, BatchId bid, long now)
    {
        var entry = new Entry { Tid = tid, Bid = bid, ArrivedAt = now };
        _byTid[tid.Value] = entry;
        _entries.Enqueue(entry);
        if (_entries.Count > Most)
        {
            _dropped++;
            var oldest = _entries.Dequeue();
            if (ReferenceEquals(Find(oldest.Tid), oldest))
            {
                _byTid.Remove(oldest.Tid.Value);
            }
        }

        return entry;
    }

    private sealed class Entry
    {
        public required TransactionId Tid { get; init; }

        public required BatchId Bid { get; init; }

        public required long ArrivedAt { get; init; }

        public long StartedAt { get; set; }

        public long ExecutedAt { get; set; }

        public long EndedAt { get; set; }

        public string? Request { get; set; }

        public string? Root { get; set; }

        public string? Method { get; set; }

        public string? Outcome { get; set; }

        public string? Lock { get; set; }

        public int Calls { get; set; }

        public int Declared { get; set; }
    }
}
