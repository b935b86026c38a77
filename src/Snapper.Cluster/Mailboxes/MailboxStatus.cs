using Snapper.Protocol.Identity;

namespace Snapper.Cluster.Mailboxes;

/// <summary>The mailboxes from and to one peer at a moment; counters count from the start of this worker.</summary>
public sealed record MailboxStatus
{
    /// <summary>Number of the peer.</summary>
    public required int Worker { get; init; }

    /// <summary>Its current life; nobody while none is known.</summary>
    public required Incarnation Peer { get; init; }

    /// <summary>Bytes that are queued or under way.</summary>
    public required long QueuedBytes { get; init; }

    /// <summary>Messages that are queued or under way.</summary>
    public required long QueuedMessages { get; init; }

    /// <summary>So much is queued that no new work should be begun that needs this peer.</summary>
    public required bool IsFull { get; init; }

    /// <summary>How long the packet under way has waited for an answer of any life of the peer, all its repetitions included; zero: none waits.</summary>
    public required TimeSpan Unanswered { get; init; }

    /// <summary>Number of the worker that passes packets on to the peer, which does not answer directly; 0: they go directly.</summary>
    public required int Via { get; init; }

    /// <summary>Packets sent, repetitions included.</summary>
    public required long PacketsSent { get; init; }

    /// <summary>Their bytes.</summary>
    public required long BytesSent { get; init; }

    /// <summary>Messages that the peer has taken.</summary>
    public required long MessagesSent { get; init; }

    /// <summary>Packets that were sent again.</summary>
    public required long Retransmissions { get; init; }

    /// <summary>Messages dropped because the life that they were for is over.</summary>
    public required long MessagesDropped { get; init; }

    /// <summary>Packets that came, repetitions included.</summary>
    public required long PacketsReceived { get; init; }

    /// <summary>Their bytes.</summary>
    public required long BytesReceived { get; init; }

    /// <summary>Messages taken.</summary>
    public required long MessagesReceived { get; init; }

    /// <summary>Messages that came again and were dropped.</summary>
    public required long Duplicates { get; init; }

    /// <summary>Packets that were refused: gaps, other lives.</summary>
    public required long Refusals { get; init; }

    /// <summary>What went wrong last, for people; null: nothing yet.</summary>
    public required string? LastProblem { get; init; }
}
