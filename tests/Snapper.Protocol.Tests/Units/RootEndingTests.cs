using Snapper.Protocol.Batches;
using Snapper.Protocol.Commitment;
using Snapper.Protocol.Identity;
using Snapper.Protocol.Messages;

namespace Snapper.Protocol.Tests.Units;

public sealed class RootEndingTests
{
    private static readonly ActorKey Root = new("T", "root");
    private static readonly ActorKey Other = new("T", "other");
    private readonly OutputBuffer _outputs = new();

    [Fact]
    public void Success_with_all_declared_calls_tells_only_the_commit_machine_and_the_root()
    {
        Assert.Equal(PactEnd.Committed, RootEnding.EndPact(Ticket(marked: false), false, true, [1, 2], _outputs));

        Assert.Equal(MessageKind.PactDecided, _outputs[0].Message.Kind);
        Assert.True(_outputs[0].Message.Flag);
        Assert.Equal([Root], EndedActors());
    }

    [Theory]
    [InlineData(true, 2)] // A1: marked
    [InlineData(false, 1)] // A2: fewer calls than declared
    [InlineData(false, 0)]
    public void Ended_with_final_counts_goes_to_those_who_cannot_know(bool marked, int calls)
    {
        Assert.Equal(PactEnd.Committed, RootEnding.EndPact(Ticket(marked), marked, true, [1, calls], _outputs));

        Assert.Equal([Root, Other], EndedActors());
        Assert.Equal(calls, _outputs[2].Message.Count);
    }

    [Theory]
    [InlineData(true, 2, PactEnd.Aborted)] // A3
    [InlineData(false, 1, PactEnd.Aborted)] // no turn can have passed: as if marked
    [InlineData(false, 2, PactEnd.RunAgain)] // A4
    [InlineData(false, 3, PactEnd.RunAgain)] // too many calls
    public void A_failure_after_a_turn_passed_decides_nobodys_outcome(bool marked, int calls, PactEnd end)
    {
        Assert.Equal(end, RootEnding.EndPact(Ticket(marked), marked, false, [1, calls], _outputs));

        if (end == PactEnd.RunAgain)
        {
            Assert.Equal(1, _outputs.Count);
            Assert.Equal(MessageKind.PactFailed, _outputs[0].Message.Kind);
        }
        else
        {
            Assert.False(_outputs[0].Message.Flag);
            Assert.Equal([Root, Other], EndedActors());
        }
    }

    [Fact]
    public void An_act_that_ends_collects_from_every_participant()
    {
        var tid = TransactionId.Act(1, 0);
        RootEnding.EndAct(new ActOutcome(tid, committed: true, [Root, Other], ""), _outputs);

        Assert.Equal(MessageKind.ActFinished, _outputs[0].Message.Kind);
        Assert.Equal(MessageKind.ActCollect, _outputs[1].Message.Kind);
        Assert.Equal(3, _outputs.Count);
    }

    [Fact]
    public void An_act_that_is_aborted_is_over_everywhere_at_once()
    {
        RootEnding.AbortAct(TransactionId.Act(1, 0), [Root, Other], _outputs);

        Assert.Equal(MessageKind.ActAborted, _outputs[0].Message.Kind);
        Assert.All([1, 2], at => Assert.True(_outputs[at].Message is { Kind: MessageKind.ActEnd, Flag: false }));
    }

    private static PactTicket Ticket(bool marked) =>
        new(Root, [new ActorAccess(Root, Access.Whole, 1), new ActorAccess(Other, Access.Whole, 2)], "")
        {
            Marked = marked,
            Tid = new TransactionId(4),
            Bid = new BatchId(3),
        };

    private List<ActorKey> EndedActors()
    {
        var actors = new List<ActorKey>();
        for (var i = 0; i < _outputs.Count; i++)
        {
            if (_outputs[i].Message.Kind == MessageKind.Ended)
            {
                actors.Add(_outputs[i].Message.Actor!);
            }
        }

        return actors;
    }
}
