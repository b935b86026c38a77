using Snapper.Protocol.Identity;

namespace Snapper.Protocol.Global;

/// <summary>A global batch at the master, from forming to the last marker.</summary>
internal sealed class GlobalBatch(BatchId bid, int members)
{
    private readonly List<Part> _parts = [];

    public BatchId Bid { get; } = bid;

    /// <summary>Number of its transactions.</summary>
    public int Members { get; } = members;

    public int PartCount => _parts.Count;

    /// <summary>Workers whose <c>Prepared</c> is not durable yet.</summary>
    public int Unprepared { get; private set; }

    /// <summary>Workers that have not written their marker.</summary>
    public int Unmarked { get; private set; }

    /// <summary>Its decision is in the queue of the log: nothing takes it back.</summary>
    public bool IsDecided { get; set; }

    /// <summary>Its decision is durable: it may be told.</summary>
    public bool IsDurable { get; set; }

    public Incarnation WorkerOf(int part) => _parts[part].Worker;

    public void AddPart(Incarnation worker)
    {
        _parts.Add(new Part(worker));
        Unprepared++;
        Unmarked++;
    }

    /// <returns>False: it has no part there, or that is prepared.</returns>
    public bool IsUnpreparedAt(Incarnation worker) => Find(worker) is { Prepared: false };

    public void Prepared(Incarnation worker)
    {
        var part = Find(worker) ?? throw new ProtocolViolationException($"Global batch {Bid} has no part on {worker}.");
        if (!part.Prepared)
        {
            part.Prepared = true;
            Unprepared--;
        }
    }

    public void Marked(Incarnation worker)
    {
        if (Find(worker) is { Marked: false } part)
        {
            part.Marked = true;
            Unmarked--;
        }
    }

    private Part? Find(Incarnation worker)
    {
        foreach (var part in _parts)
        {
            if (part.Worker == worker)
            {
                return part;
            }
        }

        return null;
    }

    private sealed class Part(Incarnation worker)
    {
        public Incarnation Worker { get; } = worker;

        public bool Prepared { get; set; }

        public bool Marked { get; set; }
    }
}
