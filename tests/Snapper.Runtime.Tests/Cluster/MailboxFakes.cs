using System.Text;
using Snapper.Cluster.Mailboxes;
using Snapper.Protocol.Identity;

namespace Snapper.Runtime.Tests.Cluster;

/// <summary>Writes down what it is told.</summary>
internal sealed class RecordingOwner : IMailboxOwner
{
    public List<string> Heard { get; } = [];

    public byte[] Header { get; set; } = [];

    /// <summary>What it was told of the packet that was sent last.</summary>
    public TimeSpan Waited { get; private set; }

    public Action<Incarnation, string>? Message { get; set; }

    public bool IsBusy { get; set; }

    /// <summary>A message that it cannot read; null: it reads all.</summary>
    public string? Unreadable { get; set; }

    /// <summary>Lives that it does not believe in.</summary>
    public HashSet<Incarnation> Disbelieved { get; } = [];

    /// <summary>Called before a message is read.</summary>
    public Action<string>? Reading { get; set; }

    public bool Believes(Incarnation claimed) => !Disbelieved.Contains(claimed);

    public object? Read(Incarnation from, ReadOnlyMemory<byte> message, out string problem)
    {
        var text = Encoding.UTF8.GetString(message.Span);
        Reading?.Invoke(text);
        problem = $"it is {text}";
        return text == Unreadable ? null : text;
    }

    public void OnMessage(Incarnation from, object message)
    {
        var text = (string)message;
        Heard.Add($"{from}: {text}");
        Message?.Invoke(from, text);
    }

    /// <summary>How much it had heard at the end of each packet.</summary>
    public List<int> PacketEnds { get; } = [];

    public void OnPacketEnd() => PacketEnds.Add(Heard.Count);

    public void OnHeader(Incarnation from, ReadOnlyMemory<byte> header) => Heard.Add($"{from} head {Encoding.UTF8.GetString(header.Span)}");

    public void OnPeerUp(Incarnation peer) => Heard.Add($"up {peer}");

    public void OnPeerGone(Incarnation peer) => Heard.Add($"gone {peer}");

    public void OnOwnIncarnationEnded(Incarnation later) => Heard.Add($"over by {later}");

    public void OnViolation(Exception violation) => Heard.Add($"violation: {violation.Message}");

    public List<string> Roads { get; } = [];

    public void OnRoad(int worker, int via) => Roads.Add(via == 0 ? $"w{worker} directly" : $"w{worker} by w{via}");

    public int WriteHeader(int worker, TimeSpan waited, Span<byte> header)
    {
        Waited = waited;
        Header.CopyTo(header);
        return Header.Length;
    }
}

/// <summary>Keeps packets until the test says what becomes of them.</summary>
internal sealed class HeldTransport : IMailboxTransport
{
    public List<HeldPacket> Packets { get; } = [];

    public Task<ReadOnlyMemory<byte>> Deliver(int worker, ReadOnlyMemory<byte> packet, CancellationToken cancellation)
    {
        // Answers go on inside SetResult, as in a simulator.
        var held = new HeldPacket(worker, packet.ToArray(), new TaskCompletionSource<ReadOnlyMemory<byte>>(), cancellation);
        Packets.Add(held);
        return held.Answer.Task;
    }

    public HeldPacket Last(int worker) => Packets.Last(packet => packet.Worker == worker);

    public int Count(int worker) => Packets.Count(packet => packet.Worker == worker);
}

internal sealed record HeldPacket(int Worker, byte[] Bytes, TaskCompletionSource<ReadOnlyMemory<byte>> Answer, CancellationToken Cancellation)
{
    /// <summary>Arrives, and the answer arrives.</summary>
    public void Carry(MailboxHub to) => Answer.SetResult(to.Deliver(Bytes));

    /// <summary>Arrives, and the answer is lost.</summary>
    public void CarryOneWay(MailboxHub to)
    {
        to.Deliver(Bytes);
        Lose();
    }

    public void Lose() => Answer.SetException(new IOException("lost"));
}

/// <summary>One worker's mailboxes with held packets and a manual clock.</summary>
internal sealed class MailboxRig
{
    public MailboxRig(int worker, long epoch, ManualTime time, MailboxOptions? options = null)
    {
        Own = new Incarnation(worker, epoch);
        Hub = new MailboxHub(Own, Transport, Owner, options ?? Options(), time);
    }

    public Incarnation Own { get; }

    public RecordingOwner Owner { get; } = new();

    public HeldTransport Transport { get; } = new();

    public MailboxHub Hub { get; }

    public IReadOnlyList<string> Heard => Owner.Heard;

    public static MailboxOptions Options(Snapper.Protocol.Channels.ChannelLimits? limits = null) =>
        new() { PumpsInline = true, Seed = 1, Limits = limits ?? new() };

    public Snapper.Protocol.Channels.EnqueueResult Send(Incarnation to, string text) => Hub.Send(to, Encoding.UTF8.GetBytes(text));

    public MailboxStatus StatusOf(int worker) => Hub.Status().Single(status => status.Worker == worker);
}
