using System.Text.Json;
using Snapper.Cluster.Mailboxes;
using Snapper.Cluster.Wire;
using Snapper.Protocol.Identity;
using Snapper.Runtime.Tests.Support;
using Snapper.Storage;
using Snapper.Storage.States;
using Xunit;

namespace Snapper.Runtime.Tests.Cluster;

/// <summary>Another worker, played by the test.</summary>
internal sealed class BenchPeer : IMailboxOwner, IMailboxTransport, IDisposable
{
    private readonly ClusterBench _bench;
    private long _calls;

    public BenchPeer(ClusterBench bench, Incarnation life)
    {
        _bench = bench;
        Life = life;
        Store = bench.Shared.Open(life, new StateStoreOptions());
        Hub = new MailboxHub(life, this, this, MailboxRig.Options(), bench.Time);
    }

    public Incarnation Life { get; }

    public IClusterStore Store { get; }

    public MailboxHub Hub { get; }

    /// <summary>What w1 has said to it, in order.</summary>
    public List<WireMessage> Heard { get; } = [];

    public IReadOnlyList<T> All<T>()
        where T : WireMessage => [.. Heard.OfType<T>()];

    public T Single<T>()
        where T : WireMessage => Assert.Single(Heard.OfType<T>());

    /// <summary>Says something to w1, or several things right behind each other, and lets it do what follows.</summary>
    public void Send(params WireMessage[] messages)
    {
        ClusterBench.Alone(() =>
        {
            foreach (var message in messages)
            {
                var writer = WireWriter.Begin(message.Kind);
                message.Write(writer);
                Hub.Send(_bench.Self, writer.Written);
            }
        });
        _bench.Run();
    }

    /// <summary>Calls a box of w1, in a transaction whose root is here.</summary>
    public void Call(TransactionId tid, string box, params Step[] steps) => Send(new CallMessage(
        tid, tid, Life, ClusterBench.Box("far"), "Run", new BranchFacts("r" + tid.Value, _bench.Time.GetUtcNow().Ticks, null, null), ++_calls, [], 1, ClusterBench.Box(box), "Run",
        JsonSerializer.SerializeToUtf8Bytes(new Script(steps))));

    /// <summary>A call of w1 ends well.</summary>
    public void Answer(CallMessage call) => Send(new ResultMessage(call.Id, null, "[]"u8.ToArray(), [], []));

    public bool IsBusy => false;

    public object? Read(Incarnation from, ReadOnlyMemory<byte> message, out string problem)
    {
        problem = "";
        return WireCodec.Read(message.Span, from);
    }

    public void OnMessage(Incarnation from, object message) => Heard.Add((WireMessage)message);

    public void OnHeader(Incarnation from, ReadOnlyMemory<byte> header)
    {
    }

    public void OnPeerUp(Incarnation peer)
    {
    }

    public void OnPeerGone(Incarnation peer)
    {
    }

    public void OnOwnIncarnationEnded(Incarnation later)
    {
    }

    public void OnViolation(Exception violation) => throw violation;

    public int WriteHeader(int worker, TimeSpan waited, Span<byte> header) => 0;

    public Task<ReadOnlyMemory<byte>> Deliver(int worker, ReadOnlyMemory<byte> packet, CancellationToken cancellation) =>
        worker == 1 ? _bench.ToBench(packet) : Task.FromResult(MailboxHub.NotReady);

    public void Dispose() => Hub.Dispose();
}
