using System.Buffers.Binary;
using System.Collections.Concurrent;
using Snapper.Cluster.Mailboxes;
using Snapper.Protocol.Identity;

namespace Snapper.Server.Tests.Cluster;

/// <summary>Requires that messages come once and in order for each life of the peer, and only to the life that they name.</summary>
internal sealed class LedgerOwner(Incarnation own) : IMailboxOwner
{
    private readonly ConcurrentDictionary<Incarnation, long> _came = new();

    public ConcurrentQueue<string> Problems { get; } = new();

    public ConcurrentQueue<string> Notices { get; } = new();

    public bool IsBusy => false;

    /// <summary>Called after each message, with its place.</summary>
    public Action<long>? Next { get; set; }

    /// <summary>Messages that came from a life of the peer.</summary>
    public long Came(Incarnation from) => _came.GetValueOrDefault(from);

    /// <summary>A message of 100 bytes or more: to which epoch, and its place in the order of sending.</summary>
    public static void Write(Span<byte> message, Incarnation to, long place)
    {
        BinaryPrimitives.WriteInt64LittleEndian(message, to.Epoch);
        BinaryPrimitives.WriteInt64LittleEndian(message[8..], place);
    }

    public object? Read(Incarnation from, ReadOnlyMemory<byte> message, out string problem)
    {
        problem = "";
        var bytes = message.Span;
        return (BinaryPrimitives.ReadInt64LittleEndian(bytes), BinaryPrimitives.ReadInt64LittleEndian(bytes[8..]));
    }

    public void OnMessage(Incarnation from, object message)
    {
        var (epoch, place) = ((long, long))message;
        var expected = Came(from);
        if (epoch != own.Epoch || place != expected)
        {
            Problems.Enqueue($"{own} got message {place} to epoch {epoch} from {from} instead of {expected}.");
        }

        _came[from] = place + 1;
        Next?.Invoke(place);
    }

    public void OnHeader(Incarnation from, ReadOnlyMemory<byte> header)
    {
    }

    public void OnPeerUp(Incarnation peer) => Notices.Enqueue($"up {peer}");

    public void OnPeerGone(Incarnation peer) => Notices.Enqueue($"gone {peer}");

    public void OnOwnIncarnationEnded(Incarnation later) => Notices.Enqueue($"over by {later}");

    public void OnViolation(Exception violation) => Problems.Enqueue(violation.Message);

    public int WriteHeader(int worker, TimeSpan waited, Span<byte> header)
    {
        header[..8].Clear();
        return 8;
    }
}
