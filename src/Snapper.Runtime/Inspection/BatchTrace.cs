using Snapper.Contracts;
using Snapper.Protocol.Batches;
using Snapper.Protocol.Identity;

namespace Snapper.Runtime.Inspection;

/// <summary>Phase times of one batch, in milliseconds since it was formed; null: not yet. Not thread-safe: <see cref="BatchTraces"/> guards it.</summary>
/// <param name="batch">The batch.</param>
/// <param name="formedAt">When it was formed.</param>
/// <param name="at">The same as a timestamp of the clock.</param>
public sealed class BatchTrace(Batch batch, DateTimeOffset formedAt, long at)
{
    private readonly long _previous = batch.Previous.Value;
    private readonly int _transactions = batch.Tickets.Length;
    private readonly int _actors = batch.SlotCount;
    private readonly long? _global = batch.Part?.Bid.Value;

    // Released once the batch is queued, so that old traces keep no transactions alive.
    private Batch? _open = batch;
    private int _components;

    // The last acknowledgement until all had acted for the first time, and the one before it, of another actor.
    private ActorKey? _last;
    private double _lastMs;
    private ActorKey? _beforeLast;
    private double _beforeLastMs;
    private double? _completedMs;

    public long Batch { get; } = batch.Bid.Value;

    public long At { get; } = at;

    public double? InTurnMs { get; set; }

    public double? PreparedMs { get; set; }

    public double? QueuedMs { get; private set; }

    public double? CommittedMs { get; set; }

    public double? EmptiedMs { get; private set; }

    public void Queue(double afterMs)
    {
        QueuedMs = afterMs;
        Release();
    }

    public void Empty(double afterMs)
    {
        EmptiedMs = afterMs;
        Release();
    }

    /// <summary>One of the last two acknowledgements until all had acted; those that an undo takes back come again later, and tell of the undo alone.</summary>
    public void Acknowledge(ActorKey actor, double afterMs)
    {
        if (_completedMs is not null)
        {
            return;
        }

        // It took its own back meanwhile: the one before it is another actor.
        if (!actor.Equals(_last))
        {
            (_beforeLast, _beforeLastMs) = (_last, _lastMs);
        }

        (_last, _lastMs) = (actor, afterMs);
    }

    public void Complete(ActorKey last, double afterMs)
    {
        Acknowledge(last, afterMs);
        _completedMs ??= afterMs;
    }

    public BatchView View()
    {
        var waiting = new List<string>();
        for (var slot = 0; slot < (_open?.SlotCount ?? 0); slot++)
        {
            if (!_open!.IsSlotComplete(slot))
            {
                waiting.Add(_open.SubBatchOf(slot).Actor.ToString());
            }
        }

        var state = CommittedMs is not null ? "committed" : EmptiedMs is not null ? "aborted" : QueuedMs is not null ? "queued" : waiting.Count == 0 ? "complete" : "executing";
        var isComplete = waiting.Count == 0 && _completedMs is not null; // an undo may have taken acknowledgements back
        var (heldBy, heldMs) = HeldBack();
        return new BatchView(
            Batch, _previous, _transactions, _actors, state, formedAt.ToUnixTimeMilliseconds(),
            isComplete ? _completedMs : null, QueuedMs, CommittedMs)
        {
            WaitingFor = waiting,
            Components = Components,
            OpenComponents = _open is null ? [] : ComponentViews.OfOpen(_open),
            GlobalBatch = _global,
            PreparedMs = PreparedMs,
            LastActor = isComplete ? _last!.ToString() : null,
            BeforeLastActor = isComplete && _actors > 1 ? _beforeLast?.ToString() : null,
            LastActorAfterMs = isComplete && _actors > 1 && _beforeLast is not null ? _lastMs - _beforeLastMs : null,
            HeldBackBy = heldBy,
            HeldBackMs = heldMs,
        };
    }

    private int Components => _open?.Components.Count ?? _components;

    private void Release()
    {
        _components = Components;
        _open = null;
    }

    private (string? By, double? Ms) HeldBack()
    {
        if ((CommittedMs ?? EmptiedMs) is not { } end || _completedMs is not { } acted)
        {
            return (null, null);
        }

        var queued = QueuedMs ?? end;
        var inTurn = InTurnMs ?? queued;
        var prepared = PreparedMs ?? inTurn;
        var by = HeldBackBy.Actors;
        var most = acted;
        Weigh(HeldBackBy.Batches, inTurn - acted);
        Weigh(HeldBackBy.Decision, queued - prepared);
        Weigh(HeldBackBy.Log, prepared - inTurn + (end - queued));

        // A part cannot tell an actor that was slow from one that waited for a call from another worker.
        if (by == HeldBackBy.Actors && _global is null && (_actors == 1 || (_beforeLast is not null && (_lastMs - _beforeLastMs) * 2 >= acted)))
        {
            by = HeldBackBy.Actor;
        }

        return (by, most);

        void Weigh(string phase, double ms)
        {
            if (ms > most)
            {
                (by, most) = (phase, ms);
            }
        }
    }
}
