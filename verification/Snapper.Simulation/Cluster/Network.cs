using Snapper.Cluster.Mailboxes;
using Snapper.Protocol.Channels;
using Snapper.Simulation.Core;

namespace Snapper.Simulation.Cluster;

/// <summary>The roads between workers, and who is cut off from whom.</summary>
internal sealed class Network(ClusterWorld world)
{
    private readonly SeededChance _chance = SeededChance.For(world.Cluster.Seed, ChanceOf.Network);
    private readonly Dictionary<(int From, int To), long> _cutUntil = [];

    /// <summary>The road of one process.</summary>
    public IMailboxTransport Of(ClusterProcess process) => new Road(this, world, process);

    /// <summary>A worker does not reach another one for so long.</summary>
    public void Cut(int from, int to, long until) => _cutUntil[(from, to)] = Math.Max(until, _cutUntil.GetValueOrDefault((from, to)));

    /// <summary>Everything works again.</summary>
    public void Heal() => _cutUntil.Clear();

    private bool IsCut(int from, int to) => _cutUntil.Count > 0 && _cutUntil.GetValueOrDefault((from, to)) > world.Now;

    private long Travel(bool slow) => slow
        ? _chance.Between(TimeSpan.TicksPerMillisecond * 20, TimeSpan.TicksPerMillisecond * 400)
        : _chance.Between(world.Cluster.NetworkTicksMin, world.Cluster.NetworkTicksMax);

    private ClusterFaultKind? Draw()
    {
        if (world.IsHealed || !_chance.PerMille(world.Cluster.NetworkFaultPerMille))
        {
            return null;
        }

        var kind = _chance.Next(6) switch
        {
            0 => ClusterFaultKind.PacketLost,
            1 => ClusterFaultKind.PacketVanished,
            2 => ClusterFaultKind.PacketAnswerLost,
            3 => ClusterFaultKind.PacketDoubled,
            4 => ClusterFaultKind.PacketLate,
            _ => ClusterFaultKind.PacketSlow,
        };
        world.Happened.Note(kind);
        return kind;
    }

    private sealed class Road(Network network, ClusterWorld world, ClusterProcess from) : IMailboxTransport
    {
        public Task<ReadOnlyMemory<byte>> Deliver(int worker, ReadOnlyMemory<byte> packet, CancellationToken cancellation)
        {
            world.MessageRules.Sent(PassedOnPacket.Unwrap(packet));
            var bytes = packet.ToArray(); // a late copy arrives when the sender has long used its buffer again
            var answer = new TaskCompletionSource<ReadOnlyMemory<byte>>();
            cancellation.Register(() => answer.TrySetCanceled(cancellation));
            if (from.IsSilent)
            {
                return answer.Task; // it has not left
            }

            var fate = network.Draw();
            switch (fate)
            {
                case ClusterFaultKind.PacketLost:
                    Fail(answer, network.Travel(slow: true));
                    break;
                case ClusterFaultKind.PacketVanished:
                    break;
                case ClusterFaultKind.PacketAnswerLost:
                    Arrive(worker, bytes, null, network.Travel(slow: false));
                    Fail(answer, network.Travel(slow: true));
                    break;
                case ClusterFaultKind.PacketLate:
                    Arrive(worker, bytes, null, network._chance.Between(100, 3000) * TimeSpan.TicksPerMillisecond);
                    Fail(answer, network.Travel(slow: true));
                    break;
                case ClusterFaultKind.PacketDoubled:
                    Arrive(worker, bytes, answer, network.Travel(slow: false));
                    Arrive(worker, bytes, null, network._chance.Between(0, 1500) * TimeSpan.TicksPerMillisecond);
                    break;
                default:
                    Arrive(worker, bytes, answer, network.Travel(fate == ClusterFaultKind.PacketSlow));
                    break;
            }

            return answer.Task;
        }

        private void Arrive(int worker, byte[] bytes, TaskCompletionSource<ReadOnlyMemory<byte>>? answer, long way) => world.After(way, null, () =>
        {
            if (network.IsCut(from.Number, worker))
            {
                return; // nobody hears anything
            }

            if (world.HubOf(worker) is not { } there)
            {
                Fail(answer, network.Travel(slow: false)); // nobody listens
                return;
            }

            if (there.Process.IsSilent)
            {
                return; // nobody takes it
            }

            there.Process.Scope.Do(() =>
            {
                world.Operators.AtMessages(bytes, from, there.Process);
                if (there.Process.Scope.IsDead)
                {
                    return;
                }

                world.MessageRules.Heard(bytes);
                there.Hub.Receive(bytes).AsTask().Hear(said =>
                {
                    if (answer is not null && !network.IsCut(worker, from.Number))
                    {
                        world.After(network.Travel(slow: false), from.Scope, () => answer.TrySetResult(said));
                    }
                });
            });
        });

        private void Fail(TaskCompletionSource<ReadOnlyMemory<byte>>? answer, long after)
        {
            if (answer is not null)
            {
                world.After(after, from.Scope, () => answer.TrySetException(new IOException("simulated: the connection broke")));
            }
        }
    }
}
