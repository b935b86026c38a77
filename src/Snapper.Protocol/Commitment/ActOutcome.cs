using Snapper.Protocol.Batches;
using Snapper.Protocol.Identity;

namespace Snapper.Protocol.Commitment;

/// <summary>A finished ACT on its way to its record.</summary>
public sealed class ActOutcome(TransactionId tid, bool committed, IReadOnlyList<ActorKey> participants, object request)
{
    private readonly List<Change> _changes = new(participants.Count);
    private readonly List<Incarnation> _others = [];

    /// <summary>The attempt.</summary>
    public TransactionId Tid { get; } = tid;

    /// <summary>False: the application refused, or a change cannot be kept; nothing is changed, but the answer waits for H3 (H7).</summary>
    public bool Committed { get; private set; } = committed;

    /// <summary>Why a change cannot be kept; null: it can.</summary>
    public AbortInfo? Unfit { get; private set; }

    /// <summary>Other workers that it visited, once each; only where its root is.</summary>
    public IReadOnlyList<Incarnation> Others
    {
        get => _others;
        init
        {
            _others.AddRange(value);
            VotesMissing = _others.Count;
        }
    }

    /// <summary>Votes of <see cref="Others"/> that are missing.</summary>
    public int VotesMissing { get; private set; }

    /// <summary>The worker of its root, which decides; nobody: the root is here.</summary>
    public Incarnation RootWorker { get; init; }

    /// <summary>This worker takes part in an ACT whose root is elsewhere: it votes, and waits for the decision (R).</summary>
    public bool IsPart => !RootWorker.IsNone;

    /// <summary>Its vote is queued: this worker ends it no more by itself (H6).</summary>
    public bool HasVoted { get; internal set; }

    /// <summary>Every actor of this worker that it visited, once each.</summary>
    public IReadOnlyList<ActorKey> Participants { get; } = participants;

    /// <summary>The shell's request.</summary>
    public object Request { get; } = request;

    /// <summary>Changes so far; in the order of arrival.</summary>
    public IReadOnlyList<Change> Changes => _changes;

    /// <summary>Participants whose part has arrived.</summary>
    public int Arrived { get; private set; }

    /// <summary>Every part is here.</summary>
    public bool IsComplete => Arrived == Participants.Count;

    /// <summary>Bytes of its changes so far, as the shell weighs them.</summary>
    internal long Bytes { get; set; }

    /// <summary>
    /// Takes a worker in that nobody had told the root of: an ACT that fails may have calls under way elsewhere. Its own abort waits for that worker, too (H7).
    /// </summary>
    /// <returns>False: it is known.</returns>
    internal bool AddOther(Incarnation worker)
    {
        if (_others.Contains(worker))
        {
            return false;
        }

        _others.Add(worker);
        VotesMissing++;
        return true;
    }

    /// <summary>Another worker has voted to commit, or, for an outcome of the ACT's own that is none, that nothing it read there can be undone any more (H7).</summary>
    internal void Voted()
    {
        if (--VotesMissing < 0)
        {
            throw new ProtocolViolationException($"ACT {Tid}: more votes than workers.");
        }
    }

    /// <summary>A participant's part.</summary>
    public void Add(Change? change)
    {
        if (++Arrived > Participants.Count)
        {
            throw new ProtocolViolationException($"ACT {Tid}: more parts than participants.");
        }

        if (change is not null && Committed)
        {
            _changes.Add(change);
        }
    }

    /// <summary>What it changed cannot be kept: the ACT ends as one that refused by itself. The first reason counts.</summary>
    public void Refuse(AbortInfo why)
    {
        Unfit ??= why;
        Committed = false;
        _changes.Clear();
    }
}
