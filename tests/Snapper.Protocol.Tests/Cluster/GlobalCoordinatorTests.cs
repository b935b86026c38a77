using Snapper.Protocol.Batches;
using Snapper.Protocol.Coordination;
using Snapper.Protocol.Global;
using Snapper.Protocol.Identity;
using Xunit;

namespace Snapper.Protocol.Tests.Cluster;

/// <summary>The master's coordinator alone: what it forms, and what it undoes.</summary>
public sealed class GlobalCoordinatorTests
{
    private static readonly Incarnation One = new(1, 1);
    private static readonly Incarnation Two = new(2, 1);
    private readonly List<GlobalOutput> _outputs = [];
    private long _ticket;
    private BatchId _formed;

    [Fact]
    public void Of_all_that_has_failed_while_something_later_was_undone_the_earliest_is_undone_next()
    {
        var master = Master(openBatches: 3);
        var (first, second, third) = (Form(master, 1), Form(master, 2), Form(master, 3));
        Failed(master, third);
        var undo = Sent(GlobalOutputKind.SendUndo);
        Report(master, undo);
        Failed(master, second); // both while it goes
        Failed(master, first);

        foreach (var worker in (Incarnation[])[One, Two])
        {
            Step(master, new GlobalMessage(GlobalMessageKind.Undone, worker, Value: undo.Value));
        }

        var next = _outputs.Where(output => output.Kind == GlobalOutputKind.SendUndo && output.Value != undo.Value).ToList();
        Assert.Equal([first, first], next.Select(output => output.Bid)); // to each of the two, and with it the second goes
    }

    [Fact]
    public void What_a_worker_would_lose_of_an_earlier_batch_goes_too_and_everybody_is_asked_again()
    {
        var master = Master(openBatches: 3);
        var (first, second, third) = (Form(master, 1), Form(master, 2), Form(master, 3));
        Failed(master, third);
        var undo = Sent(GlobalOutputKind.SendUndo);
        Step(master, new GlobalMessage(GlobalMessageKind.UndoReport, One, second, undo.Value, undo.Count)); // what failed there, too, has a victim in it
        Step(master, new GlobalMessage(GlobalMessageKind.UndoReport, Two, BatchId.None, undo.Value, undo.Count));
        Assert.Equal([(One, second, 2), (Two, second, 2)], Asked(round: 2));
        Assert.DoesNotContain(_outputs, output => output.Kind == GlobalOutputKind.SendUndoGo);

        Step(master, new GlobalMessage(GlobalMessageKind.UndoReport, One, BatchId.None, undo.Value, 2));
        Step(master, new GlobalMessage(GlobalMessageKind.UndoReport, Two, first, undo.Value, 2)); // and that has one there
        Assert.Equal([(One, first, 3), (Two, first, 3)], Asked(round: 3));
        foreach (var worker in (Incarnation[])[One, Two])
        {
            Step(master, new GlobalMessage(GlobalMessageKind.UndoReport, worker, BatchId.None, undo.Value, 3));
        }

        Assert.Equal([first, first], _outputs.Where(output => output.Kind == GlobalOutputKind.SendUndoGo).Select(output => output.Bid));
        foreach (var worker in (Incarnation[])[One, Two])
        {
            Step(master, new GlobalMessage(GlobalMessageKind.Undone, worker, Value: undo.Value));
        }

        Assert.Equal(0, master.Undecided);
    }

    [Fact]
    public void A_batch_is_no_larger_than_what_one_message_holds()
    {
        var master = Master(openBatches: 1);
        Form(master, 1); // the next ones wait together for its end
        var large = new string('x', 400);
        for (var handle = 2; handle <= 41; handle++)
        {
            Step(master, New(handle, Enumerable.Range(0, 128).Select(i => $"{large}{handle}-{i}")));
        }

        var sizes = new List<int>();
        for (var bid = Last(); master.Undecided > 0; bid = Last())
        {
            _outputs.Clear();
            foreach (var worker in (Incarnation[])[One, Two])
            {
                Step(master, new GlobalMessage(GlobalMessageKind.PartPrepared, worker, bid));
            }

            foreach (var append in _outputs.Where(output => output.Kind == GlobalOutputKind.Append).ToList())
            {
                master.Queued(append.Bid, ++_ticket);
                Step(master, new GlobalMessage(GlobalMessageKind.Flushed, Value: _ticket));
            }

            foreach (var sent in _outputs.Where(output => output.Kind == GlobalOutputKind.SendPart && output.To == One))
            {
                var members = ((GlobalPart)sent.Body!).Members;
                sizes.Add(members.Length);
                Assert.True(members.Length == 1 || members.Sum(member => member.Pact.Weigh()) <= GlobalCoordinatorMachine.MaxWeight);
            }
        }

        Assert.Equal(40, sizes.Sum()); // none is lost
        Assert.Equal(40 * 128 * (64 + (3 * 400)) / GlobalCoordinatorMachine.MaxWeight, sizes.Count, 3.0);
    }

    [Fact]
    public void A_single_one_that_is_larger_has_a_batch_of_its_own()
    {
        var master = Master(openBatches: 1);
        Form(master, 1);
        var large = new string('x', 500);
        Step(master, New(2, Enumerable.Range(0, 2000).Select(i => large + i)));
        Step(master, New(3, ["a", "b"]));
        _outputs.Clear();
        Decide(master, Last());
        Assert.Equal([2L], Assert.Single(_outputs, output => output.Kind == GlobalOutputKind.SendPart && output.To == One).Body is GlobalPart part ? part.Members.Select(member => member.Pact.Handle) : []);
    }

    [Fact]
    public void Callers_have_turns_and_one_of_several_has_a_share_of_a_batch()
    {
        var master = Master(openBatches: 1);
        Form(master, 1);
        for (var handle = 2; handle <= 1000; handle++)
        {
            Step(master, New(handle, ["a", "b"], "flood"));
        }

        Step(master, New(2000, ["a", "b"], "ann"));
        _outputs.Clear();
        Decide(master, Last());
        var next = Assert.Single(_outputs, output => output.Kind == GlobalOutputKind.SendPart && output.To == One);
        var handles = ((GlobalPart)next.Body!).Members.Select(member => member.Pact.Handle).ToList();
        Assert.Equal([.. Enumerable.Range(2, handles.Count - 1), 2000L], handles);
        Assert.InRange(handles.Count, 2, GlobalCoordinatorMachine.MaxWeight / 64 / (64 + 2));
    }

    [Fact]
    public void A_master_without_numbers_for_another_batch_gives_none_and_says_so()
    {
        const long Left = 514;
        var master = new GlobalCoordinatorMachine(7, new Halves(), new CoordinatorOptions(512, OpenBatches: 3))
        {
            Given = TransactionId.GlobalCounterLimit - 1 - Left,
        };
        for (var handle = 1; handle <= 5; handle++)
        {
            Step(master, New(handle, ["a", "b"]));
        }

        Assert.True(master.IsUsedUp);
        Assert.Equal((3, 2), (master.Undecided, master.Waiting));
        foreach (var bid in _outputs.Where(static output => output.Kind == GlobalOutputKind.SendPart)
            .Select(static output => output.Bid).Distinct().ToList())
        {
            Decide(master, bid);
        }

        Assert.Equal((0, 2), (master.Undecided, master.Waiting));
    }

    private static GlobalCoordinatorMachine Master(int openBatches) => new(7, new Halves(), new CoordinatorOptions(512, openBatches));

    private BatchId Form(GlobalCoordinatorMachine master, int handle)
    {
        Step(master, New(handle, ["a", "b"]));
        return Last();
    }

    private void Decide(GlobalCoordinatorMachine master, BatchId bid)
    {
        foreach (var worker in (Incarnation[])[One, Two])
        {
            Step(master, new GlobalMessage(GlobalMessageKind.PartPrepared, worker, bid));
        }

        master.Queued(bid, ++_ticket);
        Step(master, new GlobalMessage(GlobalMessageKind.Flushed, Value: _ticket));
    }

    private void Report(GlobalCoordinatorMachine master, GlobalOutput undo)
    {
        foreach (var worker in (Incarnation[])[One, Two])
        {
            Step(master, new GlobalMessage(GlobalMessageKind.UndoReport, worker, undo.Bid, undo.Value, undo.Count));
        }
    }

    private void Failed(GlobalCoordinatorMachine master, BatchId bid) => Step(master, new GlobalMessage(GlobalMessageKind.Failed, One, bid));

    private IEnumerable<(Incarnation To, BatchId Bid, int Count)> Asked(int round) =>
        _outputs.Where(output => output.Kind == GlobalOutputKind.SendUndo && output.Count == round).Select(output => (output.To, output.Bid, output.Count));

    private BatchId Last() => _formed;

    private GlobalOutput Sent(GlobalOutputKind kind) => _outputs.First(output => output.Kind == kind);

    private void Step(GlobalCoordinatorMachine master, in GlobalMessage message)
    {
        master.Step(message, _outputs);
        foreach (var output in _outputs)
        {
            _formed = output.Kind == GlobalOutputKind.SendPart && output.Bid > _formed ? output.Bid : _formed;
        }
    }

    private static GlobalMessage New(int handle, IEnumerable<string> ids, string? caller = null)
    {
        var declared = ids.Select(id => new ActorAccess(new ActorKey("Account", id), Access.Whole, 1)).ToArray();
        var pact = new GlobalPact(One, handle, declared[0].Actor, declared, false) { Caller = caller };
        return new GlobalMessage(GlobalMessageKind.NewPact, One, Body: pact);
    }

    /// <summary>The root's actor, "a" or the first of many, is w1's; the other ones alternate.</summary>
    private sealed class Halves : IPlacement
    {
        public Incarnation OwnerOf(ActorKey actor) => actor.Id is "b" || (actor.Id.Length > 1 && actor.Id[^1] == '1') ? Two : One;
    }
}
