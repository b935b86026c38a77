using Snapper.Protocol.Commitment;
using Snapper.Protocol.Identity;
using Snapper.Protocol.Messages;
using Snapper.Protocol.Transactions;

namespace Snapper.Protocol.Tests.Units;

/// <summary>Ends of branches of ACTs that cross what another executor does at that moment.</summary>
public sealed class BranchMachineTests
{
    private static readonly ActorKey Early = new("T", "early");
    private static readonly ActorKey Late = new("T", "late");
    private static readonly Incarnation Root = new(2, 1);
    private readonly OutputBuffer _outputs = new();
    private readonly BranchMachine _machine;
    private readonly Part _part = new();

    public BranchMachineTests() => _machine = new BranchMachine(new Cluster.Tombstones(), _outputs);

    /// <summary>H2: an actor that no worker ends it at would keep its place and its locks for good.</summary>
    [Fact]
    public void A_removed_part_is_ended_on_an_actor_that_it_visits_at_that_moment()
    {
        var removed = new Message { Kind = MessageKind.Removed, Tid = _part.Tid };

        Assert.Equal(AttemptEffects.TellRoot | AttemptEffects.TakenBack, _machine.OnMessage(_part, removed));

        Assert.Equal([Early, Late], Assert.IsAssignableFrom<IReadOnlyList<ActorKey>>(_outputs[0].Message.Body));
    }

    [Fact]
    public void So_is_one_that_its_root_aborts()
    {
        _machine.OnAbort(_part.Tid, _part);

        Assert.Equal<ActorKey>([Early, Late], All().Skip(1).Select(message => message.Actor!));
    }

    [Fact]
    public void So_is_one_whose_root_has_refused()
    {
        Assert.Null(_machine.OnPrepare(_part.Tid, _part, committed: false, Root));

        Assert.Equal([Early, Late], Assert.IsType<ActOutcome>(_outputs[0].Message.Body).Participants);
    }

    private IEnumerable<Message> All()
    {
        for (var i = 0; i < _outputs.Count; i++)
        {
            yield return _outputs[i].Message;
        }
    }

    /// <summary>Until it is aborted, another executor adds actors: the last one just before.</summary>
    private sealed class Part() : TransactionAttempt(TransactionId.Act(1, 2), BatchId.None, TransactionId.Act(1, 2))
    {
        private readonly List<ActorKey> _participants = [Early];

        public override Transaction Transaction { get; } = new Stub();

        public override bool IsDistributed => true;

        public override bool IsUndecided => true;

        public override ReadOnlySpan<int> Calls => default;

        public override IReadOnlyList<ActorKey> TakeParticipants() => [.. _participants];

        public override Incarnation[] TakeVisited() => [];

        public override bool TryTakeBack() => true;

        public override bool TryAbort(AbortInfo why, bool evenSealed = false)
        {
            if (IsAlive)
            {
                _participants.Add(Late);
            }

            return base.TryAbort(why, evenSealed);
        }

        private sealed class Stub : Transaction;
    }
}
