using Snapper.Protocol.Batches;
using Snapper.Protocol.Coordination;
using Snapper.Protocol.Messages;
using Snapper.Protocol.Scheduling;
using Snapper.Protocol.Tests.World;

namespace Snapper.Protocol.Tests.Schedules;

/// <summary>One random schedule. Its seed fixes everything: the shape, the transactions, the order of all events.</summary>
internal sealed class RandomSchedule
{
    private const int MostSteps = 60_000;
    private readonly Random _random;
    private readonly MachineWorld _world;
    private readonly List<Request> _unsent = [];
    private readonly int _abortPercent;
    private readonly int _misdeclaredPercent;
    private readonly int _disturbancePerMille;
    private readonly int _sendFrom;

    public RandomSchedule(int seed, Action<string>? trace = null)
    {
        _random = new Random(seed);
        var actors = Math.Max(2, _random.Next(7)); // few more often than many: they meet more often
        var coordinators = _random.Next(1, 4);
        var pairs = _random.Next(2) == 0;
        var options = new WorldOptions
        {
            Actors = Enumerable.Range(0, actors).Select(i => ((char)('a' + i)).ToString()).ToArray(),
            Coordinators = coordinators,
            Batches = new CoordinatorOptions(_random.Next(1, 6), _random.Next(1, 6)),
            Links = pairs ? LinkOrder.Pairs : LinkOrder.Inbox,
            Nodes = pairs ? null : Placement(actors + coordinators + 1),

            // By the seed itself: the other choices of a seed stay what they were.
            RecordMembers = seed % 3 == 0 ? 1 + (seed / 3 % 3) : int.MaxValue,
        };
        _abortPercent = _random.Next(3) * 25;
        _misdeclaredPercent = _random.Next(3) * 20;
        _disturbancePerMille = _random.Next(4) == 0 ? 4 : 0;
        _sendFrom = _random.Next(2) == 0 ? 950 : 850;
        _world = new MachineWorld(options) { Chance = _random, Trace = trace };
        var actPercent = _random.Next(5) * 25;
        var count = _random.Next(4, 13);
        for (var i = 0; i < count; i++)
        {
            _unsent.Add(MakeRequest(i, options, _random.Next(100) < actPercent));
            trace?.Invoke($"{_unsent[i].Name} = {_unsent[i].Script}{Describe(_unsent[i])}");
        }

        if (trace is not null)
        {
            trace($"{options.Links}, {actors} actors, {coordinators} coordinators, {options.Batches}, nodes {string.Join(' ', options.Nodes ?? [])}");
        }
    }

    public MachineWorld World => _world;

    /// <summary>Runs to the end and judges it.</summary>
    public void Run()
    {
        var steps = 0;
        while (DoSomething())
        {
            MachineWorld.Require(++steps < MostSteps, $"everything ends within {MostSteps} steps");
        }

        _world.CheckQuiet();
        HistoryCheck.Check(_world);
    }

    private bool DoSomething()
    {
        var choice = _random.Next(1000);
        if (choice < _disturbancePerMille)
        {
            Disturb();
        }

        if (choice >= _sendFrom && _unsent.Count > 0)
        {
            Send();
            return true;
        }

        if (choice is >= 800 and < 850 && _world.Unflushed > 0)
        {
            _world.Flush(_random.Next(1, (int)_world.Unflushed + 1));
            return true;
        }

        if (choice is >= 780 and < 800 && _world.ToRepeat.Count > 0)
        {
            _world.Repeat(_world.ToRepeat[_random.Next(_world.ToRepeat.Count)]);
            return true;
        }

        if (_world.HasMessages && _world.Step(_random.Next(1 << 20)))
        {
            return true;
        }

        // Quiet: whatever is left outside must bring it on.
        if (_world.Unflushed > 0)
        {
            _world.Flush(_world.Unflushed);
        }
        else if (_unsent.Count > 0)
        {
            Send();
        }
        else if (_world.ToRepeat.Count > 0)
        {
            _world.Repeat(_world.ToRepeat[0]);
        }
        else
        {
            return false;
        }

        return true;
    }

    /// <summary>A deadline passes, or a caller leaves.</summary>
    private void Disturb()
    {
        if (_world.Requests.Count == 0)
        {
            return;
        }

        var request = _world.Requests[_random.Next(_world.Requests.Count)];
        if (request.Answer != Answer.None)
        {
            return;
        }

        if (request.Attempt is { IsAlive: true, RootEnded: false } attempt)
        {
            _world.AbortFromOutside(attempt, AbortReason.Timeout);
        }
        else if (request.IsPact)
        {
            _world.Withdraw(request);
        }
    }

    private void Send()
    {
        _world.Submit(_unsent[0]);
        _unsent.RemoveAt(0);
    }

    private int[] Placement(int machines)
    {
        var nodes = _random.Next(1, 5);
        var placement = new int[machines];
        for (var i = 0; i < machines; i++)
        {
            placement[i] = _random.Next(nodes);
        }

        return placement;
    }

    private Request MakeRequest(int index, WorldOptions options, bool isAct)
    {
        var budget = _random.Next(1, 5);
        var mayThrow = _random.Next(100) < _abortPercent;
        var script = MakeCall(options.Actors, ref budget, mayThrow, 0);
        return new Request
        {
            Index = index,
            Name = (isAct ? "t" : "p") + index,
            Script = script,
            Declared = isAct ? null : Declare(script, options),
            Marked = !isAct && _random.Next(5) == 0,
            Ring = _random.Next(options.Coordinators),
        };
    }

    private CallScript MakeCall(string[] actors, ref int budget, bool mayThrow, int depth)
    {
        budget--;
        var ops = new List<Op>();
        var count = _random.Next(1, 5);
        for (var i = 0; i < count; i++)
        {
            switch (_random.Next(8))
            {
                case 0 or 1:
                    ops.Add(new Op(OpKind.Read));
                    break;
                case 2 or 3:
                    ops.Add(new Op(OpKind.Write));
                    break;
                case 4:
                    ops.Add(new Op(OpKind.Pause));
                    break;
                case 5 when budget > 0:
                    // Branches that run side by side make no calls: two of them could wait for each other.
                    budget--;
                    ops.Add(new Op(OpKind.Start, new CallScript(
                        actors[_random.Next(actors.Length)], [new Op(_random.Next(2) == 0 ? OpKind.Read : OpKind.Write)])));
                    break;
                default:
                    if (budget > 0 && depth < 3)
                    {
                        ops.Add(new Op(OpKind.Call, MakeCall(actors, ref budget, mayThrow, depth + 1)));
                    }

                    break;
            }
        }

        if (mayThrow && _random.Next(2) == 0)
        {
            // Late failures are the ones that have something to undo, and that others have built on.
            if (depth == 0)
            {
                ops.AddRange(Enumerable.Repeat(new Op(OpKind.Pause), _random.Next(6)));
            }

            ops.Insert(_random.Next(3) == 0 ? _random.Next(ops.Count + 1) : ops.Count, new Op(_random.Next(2) == 0 ? OpKind.Throw : OpKind.ThrowIfOdd));
        }

        return new CallScript(actors[_random.Next(actors.Length)], ops.ToArray());
    }

    private ActorAccess[] Declare(CallScript script, WorldOptions options)
    {
        var counts = new List<(string Actor, int Calls)>();
        script.CountCalls(counts);
        if (_random.Next(100) < _misdeclaredPercent)
        {
            Misdeclare(counts, options);
        }

        return counts.Select(count => new ActorAccess(new("T", count.Actor), Access.Whole, count.Calls)).ToArray();
    }

    private void Misdeclare(List<(string Actor, int Calls)> counts, WorldOptions options)
    {
        var at = _random.Next(counts.Count);
        switch (_random.Next(3))
        {
            case 0: // too many calls
                counts[at] = (counts[at].Actor, counts[at].Calls + _random.Next(1, 3));
                break;
            case 1 when at > 0: // the root is always declared
                counts.RemoveAt(at);
                break;
            default: // declared and never touched
                var actor = options.Actors[_random.Next(options.Actors.Length)];
                if (counts.All(count => count.Actor != actor))
                {
                    counts.Insert(_random.Next(counts.Count + 1), (actor, 1));
                }

                break;
        }
    }

    private static string Describe(Request request) =>
        request.Declared is null
            ? ""
            : $" ring{request.Ring}{(request.Marked ? " marked" : "")} declares {string.Join(' ', request.Declared.Select(access => $"{access.Actor.Id}:{access.Calls}"))}";
}
