using Snapper.Protocol.Batches;
using Snapper.Protocol.Coordination;
using Snapper.Protocol.Identity;
using Snapper.Protocol.Messages;
using Snapper.Protocol.Scheduling;
using Snapper.Protocol.Tests.World;

namespace Snapper.Protocol.Tests.Cluster;

/// <summary>A random world of several workers under a seed: PACTs and ACTs on few actors, failures of every kind, logs that are flushed when chance wants.</summary>
internal sealed class ClusterSchedule
{
    private const int MostSteps = 200_000;

    private readonly Random _random;
    private readonly List<Request> _unsent = [];
    private readonly int _abortPercent;
    private readonly int _misdeclaredPercent;
    private readonly int _disturbancePerMille;

    public ClusterSchedule(int seed, Action<string>? trace = null)
    {
        _random = new Random(seed);
        var workers = _random.Next(1, 4);
        var actors = workers + _random.Next(0, 4);
        World = new ClusterWorld(
            workers, actors, new CoordinatorOptions(_random.Next(1, 5), _random.Next(1, 4)), new CoordinatorOptions(_random.Next(1, 5), _random.Next(1, 4)), _random)
        {
            Trace = trace,
        };
        _abortPercent = _random.Next(3) * 25;
        _misdeclaredPercent = _random.Next(3) * 15;
        _disturbancePerMille = _random.Next(4) == 0 ? 3 : 0;
        var actPercent = _random.Next(5) * 25;
        var count = _random.Next(3, 14);
        for (var i = 0; i < count; i++)
        {
            var request = MakeRequest(i, _random.Next(100) < actPercent);
            _unsent.Add(request);
            trace?.Invoke($"{request.Name}{(request.Marked ? "!" : "")} = {request.Script}");
        }

        trace?.Invoke($"homes {string.Join(' ', World.Homes.Select((home, actor) => $"{(char)('a' + actor)}@w{home + 1}"))}");
    }

    public ClusterWorld World { get; }

    public void Run()
    {
        var steps = 0;
        while (DoSomething())
        {
            MachineWorld.Require(++steps < MostSteps, $"everything ends within {MostSteps} steps");
        }

        World.CheckQuiet();
        HistoryCheck.Check(World.Requests, World.Committed, World.Keys);
    }

    private bool DoSomething()
    {
        var choice = _random.Next(1000);
        if (choice < _disturbancePerMille)
        {
            Disturb();
        }

        if (choice >= 930 && _unsent.Count > 0)
        {
            Send();
            return true;
        }

        if (choice is >= 800 and < 880 && Flush(some: true))
        {
            return true;
        }

        if (choice is >= 780 and < 790 && World.ToRepeat.Count > 0)
        {
            World.Repeat(World.ToRepeat[_random.Next(World.ToRepeat.Count)]);
            return true;
        }

        if (choice == 779 && World.Workers[_random.Next(World.Workers.Length)].BreakWaits())
        {
            return true;
        }

        if (World.HasMessages)
        {
            World.Step();
            return true;
        }

        return Flush(some: false) || BringOn();
    }

    private bool Flush(bool some)
    {
        var at = _random.Next(World.Workers.Length + 1);
        for (var tried = 0; tried <= World.Workers.Length; tried++, at = (at + 1) % (World.Workers.Length + 1))
        {
            var unflushed = at == World.Workers.Length ? World.Master.Unflushed : World.Workers[at].Unflushed;
            if (unflushed == 0)
            {
                continue;
            }

            var tickets = some ? _random.Next(1, (int)unflushed + 1) : unflushed;
            if (at == World.Workers.Length)
            {
                World.Master.Flush(tickets);
            }
            else
            {
                World.Workers[at].Flush(tickets);
            }

            return true;
        }

        return false;
    }

    private bool BringOn()
    {
        if (_unsent.Count > 0)
        {
            Send();
            return true;
        }

        if (World.ToRepeat.Count > 0)
        {
            World.Repeat(World.ToRepeat[0]);
            return true;
        }

        var any = false;
        foreach (var worker in World.Workers)
        {
            any |= worker.BreakWaits();
        }

        return any;
    }

    private void Disturb()
    {
        if (World.Requests.Count == 0)
        {
            return;
        }

        var request = World.Requests[_random.Next(World.Requests.Count)];
        if (request.Answer != Answer.None)
        {
            return;
        }

        var worker = World.Workers[World.Homes[World.IndexOf(request.Script.Actor)]];
        if (request.Attempt is { IsAlive: true, RootEnded: false })
        {
            World.At(worker.Index, () => worker.AbortFromOutside(request, AbortReason.Timeout));
        }
        else if (request.IsPact && request.Ticket is not null)
        {
            World.At(worker.Index, () => worker.Withdraw(request));
        }
    }

    private void Send()
    {
        World.Submit(_unsent[0]);
        _unsent.RemoveAt(0);
    }

    private Request MakeRequest(int index, bool isAct)
    {
        var budget = _random.Next(1, 5);
        var mayThrow = _random.Next(100) < _abortPercent;
        var script = MakeCall(ref budget, mayThrow, 0);
        return new Request
        {
            Index = index,
            Name = (isAct ? "t" : "p") + index,
            Script = script,
            Declared = isAct ? null : Declare(script),
            Marked = !isAct && _random.Next(5) == 0,
            Ring = _random.Next(4),
        };
    }

    private string AnyActor() => ((char)('a' + _random.Next(World.Keys.Length))).ToString();

    private CallScript MakeCall(ref int budget, bool mayThrow, int depth)
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
                    budget--;
                    ops.Add(new Op(OpKind.Start, new CallScript(AnyActor(), [new Op(_random.Next(2) == 0 ? OpKind.Read : OpKind.Write)])));
                    break;
                default:
                    if (budget > 0 && depth < 3)
                    {
                        ops.Add(new Op(OpKind.Call, MakeCall(ref budget, mayThrow, depth + 1)));
                    }

                    break;
            }
        }

        if (mayThrow && _random.Next(2) == 0)
        {
            ops.Insert(_random.Next(3) == 0 ? _random.Next(ops.Count + 1) : ops.Count, new Op(_random.Next(2) == 0 ? OpKind.Throw : OpKind.ThrowIfOdd));
        }

        return new CallScript(AnyActor(), ops.ToArray());
    }

    private ActorAccess[] Declare(CallScript script)
    {
        var counts = new List<(string Actor, int Calls)>();
        script.CountCalls(counts);
        if (_random.Next(100) < _misdeclaredPercent)
        {
            var at = _random.Next(counts.Count);
            if (_random.Next(2) == 0)
            {
                counts[at] = (counts[at].Actor, counts[at].Calls + _random.Next(1, 3));
            }
            else if (at > 0)
            {
                counts.RemoveAt(at);
            }
            else if (AnyActor() is var actor && counts.All(count => count.Actor != actor))
            {
                counts.Insert(_random.Next(counts.Count + 1), (actor, 1));
            }
        }

        return counts.Select(count => new ActorAccess(World.Keys[World.IndexOf(count.Actor)], Access.Whole, count.Calls)).ToArray();
    }
}
