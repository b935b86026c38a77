using Snapper.Protocol.Directory;
using Snapper.Protocol.Identity;
using Snapper.Protocol.Migration;

namespace Snapper.Protocol.Tests.Units;

/// <summary>
/// A source, its master and a store around one <see cref="MigrationMachine"/>, in as little detail as M3 to M7 need:
/// batches and parts that touch what moves, ACTs that are in on it, a log, a checkpointer. A seed chooses what happens
/// next. At the plan's commit it is asserted that nothing is under way and nothing is missing in the shared states.
/// </summary>
internal sealed class MigrationWorld : IMigrationSource
{
    public static readonly DirectoryKey First = DirectoryKey.Of(new Partition(1));
    public static readonly DirectoryKey Second = DirectoryKey.Of(new Partition(2));
    public static readonly Incarnation Target = new(2, 7);
    private static readonly Incarnation Self = new(1, 5);

    private readonly Random _random;
    private readonly Queue<long> _fromMaster = new(); // global batches on their way; FreezeAnswer: the answer
    private readonly List<long> _unplaced = []; // global batches, in their order
    private readonly List<long> _open = []; // local batches that are not final, in their order
    private readonly Dictionary<long, TransactionId> _acts = []; // under way, by number; None: not in on what moves
    private readonly Queue<int> _queues = new(); // rounds of the executors' queues that hold a last number or visit
    private const long FreezeAnswer = -1;
    private MigrationAction _action;
    private bool _hasAsked;
    private bool _masterFroze;
    private long _nextBatch = 1;
    private long _nextGlobal = 1;
    private long _flushed;
    private long _final;
    private long _lastAct;
    private int _undo;
    private int _steps;

    public MigrationWorld(int seed, bool isQuiet)
    {
        _random = new Random(seed);
        Ownership = new Ownership(Self);
        foreach (var key in (DirectoryKey[])[First, Second])
        {
            Ownership.Apply(new DirectoryEntry(key, Self, 1));
            Ownership.OpenNow(key);
        }

        Machine = new MigrationMachine("p", [First, Second], Ownership, this);
        for (var left = isQuiet ? 0 : _random.Next(6); left > 0; left--)
        {
            Number();
        }

        for (var left = isQuiet ? 0 : _random.Next(4); left > 0; left--)
        {
            BeginAct();
        }

        IsQuiet = isQuiet;
    }

    public MigrationMachine Machine { get; }

    public Ownership Ownership { get; }

    public bool IsQuiet { get; }

    public bool MasterIsSilent { get; init; }

    public List<MigrationAction> Actions { get; } = [];

    public bool IsAnythingFrozen => IsFrozen(First) || IsFrozen(Second);

    public BatchId HighestKnownPart { get; private set; }

    public BatchId LowestUnplacedPart => _unplaced.Count == 0 ? BatchId.None : new BatchId(_unplaced[0]);

    public BatchId HighestOpen => _open.Count == 0 ? BatchId.None : new BatchId(_open[^1]);

    public bool HasOpenUpTo(BatchId last) => _final < last.Value;

    public bool TakesActsBack => _undo > 0;

    public long LastSequence { get; private set; }

    public long CheckpointedThrough { get; private set; }

    public TransactionId FindVisitor(string plan) => _acts.Values.FirstOrDefault(act => act != TransactionId.None);

    public bool IsUnderWay(TransactionId tid) => _acts.ContainsKey(tid.Value);

    /// <summary>Until the plan has ended, or nothing can happen any more.</summary>
    public void Run()
    {
        Do(Machine.Begin());
        while (_action != MigrationAction.End && Happen())
        {
            Assert.True(++_steps < 10_000, "The run does not end.");
        }
    }

    /// <summary>One of what may happen now; false: nothing may.</summary>
    private bool Happen()
    {
        var possible = new List<Action>();
        if (_action is not (MigrationAction.None or MigrationAction.AskMaster))
        {
            possible.Add(Answer);
        }

        if (_fromMaster.Count > 0 && !(MasterIsSilent && _fromMaster.Peek() == FreezeAnswer))
        {
            possible.Add(Receive);
        }

        if (_hasAsked && !_masterFroze)
        {
            possible.Add(FreezeMaster);
        }

        if (_queues.Count > 0)
        {
            possible.Add(() => PassQueue());
        }

        if (_unplaced.Count > 0)
        {
            possible.Add(Place);
        }

        if (_open.Count > 0)
        {
            possible.Add(Finish);
        }

        if (_acts.Count > 0)
        {
            possible.Add(EndAct);
        }

        if (_undo > 0)
        {
            possible.Add(() => Progress(() => _undo--));
        }

        if (CheckpointedThrough < _flushed)
        {
            possible.Add(() => Progress(() => CheckpointedThrough++));
        }

        if (_flushed < LastSequence)
        {
            possible.Add(() => _flushed++);
        }

        if (!IsQuiet)
        {
            AddLoad(possible);
        }

        if (possible.Count == 0)
        {
            return false;
        }

        possible[_random.Next(possible.Count)]();
        return true;
    }

    /// <summary>What callers still do: numbers and first visits where nothing is frozen.</summary>
    private void AddLoad(List<Action> possible)
    {
        if (_steps > 300)
        {
            return; // so that every run comes to an end
        }

        if (Ownership.Look(First.Partition).State == OwnershipState.Open)
        {
            possible.Add(Number);
            possible.Add(BeginAct);
        }

        if (!_masterFroze && _random.Next(3) == 0)
        {
            possible.Add(() => _fromMaster.Enqueue(_nextGlobal++)); // numbered before the master has frozen it
        }

        if (_acts.Count > 0 && _random.Next(20) == 0)
        {
            possible.Add(() => _undo++); // of an ACT that is in
        }

        if (Machine.IsBounded && _random.Next(60) == 0)
        {
            possible.Add(() => Do(Machine.OnBound("It took too long.")));
        }
    }

    /// <summary>A number is given, or a visit let in, by an executor that has looked before the freeze.</summary>
    private void Number() => _queues.Enqueue(0);

    private void BeginAct()
    {
        var tid = TransactionId.Act(++_lastAct, 1);
        _acts[tid.Value] = tid;
    }

    private void PassQueue()
    {
        _queues.Dequeue();
        _open.Add(_nextBatch++);
    }

    private void FreezeMaster()
    {
        _masterFroze = true;
        _fromMaster.Enqueue(FreezeAnswer);
    }

    private void Receive()
    {
        var global = _fromMaster.Dequeue();
        if (global == FreezeAnswer)
        {
            Do(Machine.OnMasterFroze());
            return;
        }

        _unplaced.Add(global);
        HighestKnownPart = new BatchId(global);
    }

    private void Place() => Progress(() =>
    {
        _unplaced.RemoveAt(0);
        _open.Add(_nextBatch++);
    });

    private void Finish() => Progress(() =>
    {
        _final = _open[0];
        _open.RemoveAt(0);
        LastSequence++;
    });

    private void EndAct() => Progress(() =>
    {
        var tid = _acts.Keys.ElementAt(_random.Next(_acts.Count));
        _acts.Remove(tid);
        LastSequence++;
    });

    private void Progress(Action change)
    {
        change();
        Do(Machine.OnProgress());
    }

    /// <summary>The shell carries an action out.</summary>
    private void Do(MigrationAction action)
    {
        if (action == MigrationAction.None)
        {
            // An answer that leads to a wait ends its action; an event that changes nothing does not.
            _action = Machine.Step is MigrationStep.AwaitingCheckpointer or MigrationStep.AwaitingPlaces
                or MigrationStep.Draining ? MigrationAction.None : _action;
            return;
        }

        Actions.Add(action);
        _action = action;
        _hasAsked |= action == MigrationAction.AskMaster;
    }

    private void Answer()
    {
        switch (_action)
        {
            case MigrationAction.Checkpoint or MigrationAction.CheckpointUrgently:
                Do(Machine.OnCheckpointed(IsQuiet || _random.Next(5) > 0));
                break;
            case MigrationAction.PassQueues:
                while (_queues.Count > 0)
                {
                    PassQueue();
                }

                Do(Machine.OnQueuesPassed());
                break;
            case MigrationAction.LeaveMemory:
                Do(Machine.OnLeft(IsNothingUnderWay() && CheckpointedThrough == LastSequence));
                break;
            case MigrationAction.Flush:
                _flushed = LastSequence;
                Do(Machine.OnFlushed());
                break;
            case MigrationAction.Pause:
                Do(Machine.OnPaused());
                break;
            case MigrationAction.Commit:
                Commit();
                break;
            case MigrationAction.Cancel:
                Assert.True(
                    IsAnythingFrozen || Machine.Reason.Contains("not owned", StringComparison.Ordinal),
                    "It was unfrozen before the plan was cancelled (M4).");
                Do(Machine.OnCancelled([]));
                break;
            case MigrationAction.Unfreeze:
                Unfreeze();
                Do(Machine.OnUnfrozen());
                break;
            case MigrationAction.RequireNothingLeft:
                Assert.True(IsNothingUnderWay(), "Something is under way on what has moved (M7).");
                Do(Machine.OnNothingLeft());
                break;
            default:
                throw new InvalidOperationException($"{_action} has no answer.");
        }
    }

    private void Commit()
    {
        switch (IsQuiet ? 0 : _random.Next(4))
        {
            case 1:
                Do(Machine.OnUnknown());
                return;
            case 2:
                Do(Machine.OnRefused("w2 has left."));
                return;
        }

        Assert.True(
            IsNothingUnderWay(),
            $"At the commit: {_fromMaster.Count} parts on their way, {_unplaced.Count} without a place, "
            + $"{_open.Count} batches not final, {_acts.Count} ACTs in (M4).");
        Assert.Equal((LastSequence, LastSequence), (_flushed, CheckpointedThrough)); // all is in the shared states (M5)
        Do(Machine.OnCommitted([new DirectoryEntry(First, Target, 2), new DirectoryEntry(Second, Target, 2)]));
    }

    private bool IsNothingUnderWay() =>
        _queues.Count == 0 && _fromMaster.All(static global => global == FreezeAnswer) && _unplaced.Count == 0
        && _open.Count == 0 && _acts.Count == 0 && _undo == 0;

    private void Unfreeze()
    {
        foreach (var entry in Machine.Moved)
        {
            Ownership.Apply(entry);
        }

        Ownership.Unfreeze(First, "p");
        Ownership.Unfreeze(Second, "p");
    }

    private bool IsFrozen(DirectoryKey key) => Ownership.Look(key.Partition).State == OwnershipState.Frozen;
}
