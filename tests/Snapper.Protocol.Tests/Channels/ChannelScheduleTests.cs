using System.Globalization;
using Snapper.Protocol.Channels;
using Snapper.Protocol.Identity;
using Xunit.Abstractions;

namespace Snapper.Protocol.Tests.Channels;

/// <summary>Thousands of random networks. A failure names its seed.</summary>
public sealed class ChannelScheduleTests(ITestOutputHelper output)
{
    private const int Steps = 600;

    [Fact]
    public void Messages_between_two_lives_come_in_order_exactly_once_whatever_the_network_does()
    {
        var count = Read("SNAPPER_SCHEDULES", 1_500);
        var first = Read("SNAPPER_SEED", 1);
        for (var seed = first; seed < first + count; seed++)
        {
            try
            {
                new ChannelWorld(seed).Run(Steps);
            }
            catch (Exception broken)
            {
                Assert.Fail($"Seed {seed}: {broken.Message}\n{broken.StackTrace}");
            }
        }
    }

    [Fact]
    public void Random_networks_reach_the_rare_paths()
    {
        long delivered = 0, again = 0, duplicates = 0, restarts = 0, full = 0;
        for (var seed = 1; seed <= 300; seed++)
        {
            var world = new ChannelWorld(seed);
            world.Run(Steps);
            delivered += world.Ledger.Delivered;
            again += world.Retransmissions;
            duplicates += world.Duplicates;
            restarts += world.Restarts - 2;
            full += world.FullQueues;
        }

        Assert.True(delivered > 20_000, $"{delivered} delivered");
        Assert.True(again > 1_000, $"{again} sent again");
        Assert.True(duplicates > 1_000, $"{duplicates} duplicates");
        Assert.True(restarts > 200, $"{restarts} restarts");
        Assert.True(full > 100, $"{full} times full");
    }

    [Theory]
    [InlineData(nameof(ChannelFault.WithoutEpochs))]
    [InlineData(nameof(ChannelFault.DuplicatesDelivered))]
    [InlineData(nameof(ChannelFault.GapDelivered))]
    [InlineData(nameof(ChannelFault.UnknownTakenForDone))]
    [InlineData(nameof(ChannelFault.EarlierLivesAccepted))]
    [InlineData(nameof(ChannelFault.OldQueueGoesToTheNewLife))]
    public void Every_planted_fault_is_caught(string fault)
    {
        for (var seed = 1; seed <= 200; seed++)
        {
            try
            {
                new ChannelWorld(seed, Enum.Parse<ChannelFault>(fault)).Run(Steps);
            }
            catch (Exception caught) when (caught is LedgerException or ProtocolViolationException)
            {
                output.WriteLine($"{fault} by seed {seed}: {caught.Message}");
                return;
            }
        }

        Assert.Fail($"200 seeds have not caught {fault}.");
    }

    /// <summary>A receiver alone, before a sender that sends any range of its messages under any epochs at any time.</summary>
    [Fact]
    public void A_receiver_needs_no_orderly_sender()
    {
        for (var seed = 1; seed <= 500; seed++)
        {
            var chance = new Random(seed);
            var own = new Incarnation(2, 5);
            var view = new PeerView(1);
            var receiver = new ChannelReceiver(own, view);
            var came = new int[6];
            for (var i = 0; i < 200; i++)
            {
                var from = new Incarnation(1, 1 + chance.Next(1 + (i / 40)));
                var to = own with { Epoch = chance.Next(10) == 0 ? chance.Next(8) : 5 };
                var first = 1 + chance.Next(came[from.Epoch] + 5);
                var count = to.Epoch == 0 ? 0 : chance.Next(6);
                var messages = Enumerable.Range(first, count).Select(number => new[] { (byte)number, (byte)from.Epoch, (byte)to.Epoch }).ToArray();
                var lowest = view.Lowest;
                var packet = PacketBytes.Read(PacketBytes.Of(from, to, first, messages));
                if (!receiver.Offer(packet, out var skip, out var refusal))
                {
                    Assert.Equal(
                        from.Epoch < lowest ? AnswerKind.Fenced : to.Epoch != 5 ? AnswerKind.OtherEpoch : AnswerKind.Expecting,
                        refusal.Kind);
                    continue;
                }

                Assert.Equal(5, to.Epoch);
                Assert.Equal(view.Known, from);
                foreach (var message in packet)
                {
                    if (skip-- > 0)
                    {
                        continue;
                    }

                    receiver.Take();
                    Assert.Equal(++came[from.Epoch], message.Span[0]);
                    Assert.Equal(from.Epoch, message.Span[1]);
                }

                Assert.Equal(came[from.Epoch] + 1, receiver.Answer(from, all: true).Next);
            }
        }
    }

    private static int Read(string variable, int otherwise) =>
        Environment.GetEnvironmentVariable(variable) is { Length: > 0 } text ? int.Parse(text, CultureInfo.InvariantCulture) : otherwise;
}
