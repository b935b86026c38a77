using Snapper.Protocol.Batches;
using Snapper.Protocol.Coordination;
using Snapper.Protocol.Identity;
using Snapper.Protocol.Messages;
using Snapper.Protocol.Tests.World;

namespace Snapper.Protocol.Tests.Cluster;

/// <summary>
/// The machines of several workers and the master without a runtime: what one node sends another keeps its order and takes as long as chance wants; each node has a
/// log that the test flushes; user code is a script.
/// </summary>
internal sealed class ClusterWorld
{
    private readonly List<(int From, int To)> _busy = [];
    private readonly Dictionary<(int From, int To), Queue<Action>> _links = [];
    private readonly Queue<Action>[] _local;
    private int _current;

    public ClusterWorld(int workers, int actors, CoordinatorOptions local, CoordinatorOptions global, Random chance)
    {
        Chance = chance;
        Keys = new ActorKey[actors];
        Homes = new int[actors];
        for (var i = 0; i < actors; i++)
        {
            Keys[i] = new ActorKey("T", ((char)('a' + i)).ToString());
            Homes[i] = i < workers ? i : chance.Next(workers);
        }

        Outside = workers + 1;
        _local = new Queue<Action>[workers + 2];
        for (var i = 0; i < _local.Length; i++)
        {
            _local[i] = new Queue<Action>();
        }

        Committed = new Appended?[actors];
        Versions = new long[actors];
        Workers = new WorkerNode[workers];
        for (var i = 0; i < workers; i++)
        {
            Workers[i] = new WorkerNode(this, i, chance.Next(1, 3), local);
        }

        Master = new MasterNode(this, global);
        _current = Outside;
    }

    public Random Chance { get; }

    public ActorKey[] Keys { get; }

    /// <summary>Worker of each actor.</summary>
    public int[] Homes { get; }

    public WorkerNode[] Workers { get; }

    public MasterNode Master { get; }

    public List<Request> Requests { get; } = [];

    public List<Request> ToRepeat { get; } = [];

    public Appended?[] Committed { get; }

    public long[] Versions { get; }

    public int[] Deaths { get; } = new int[Enum.GetValues<AbortReason>().Length];

    public Action<string>? Trace { get; set; }

    public long Now { get; set; } = 1;

    public bool HasMessages => _busy.Count > 0;

    public int MasterNode => Workers.Length;

    private int Outside { get; }

    public int IndexOf(ActorKey key) => Array.IndexOf(Keys, key);

    public int IndexOf(string actor) => actor[0] - 'a';

    public Incarnation IncarnationOf(int worker) => new(worker + 1, 1);

    /// <summary>Something that comes from outside, at a node.</summary>
    public void At(int node, Action action)
    {
        _current = Outside;
        Send(node, action);
    }

    /// <summary>A message: in order behind what the same node has sent there before; what a node sends itself comes before anything from others.</summary>
    public void Send(int to, Action action)
    {
        if (_current == to)
        {
            _local[to].Enqueue(action);
            NoteBusy((to, to));
            return;
        }

        if (!_links.TryGetValue((_current, to), out var link))
        {
            _links.Add((_current, to), link = new Queue<Action>());
        }

        link.Enqueue(action);
        NoteBusy((_current, to));
    }

    /// <summary>Lets user code go on later, when chance wants.</summary>
    public void Later(int node, Action action)
    {
        var current = _current;
        _current = Outside;
        Send(node, action);
        _current = current;
    }

    /// <summary>Handles one message of a link that chance chooses.</summary>
    public void Step()
    {
        var at = Chance.Next(_busy.Count);
        var (from, node) = _busy[at];
        Action action;
        if (_local[node].Count > 0)
        {
            action = _local[node].Dequeue();
        }
        else if (from == node)
        {
            _busy.RemoveAt(at);
            return;
        }
        else
        {
            var link = _links[(from, node)];
            action = link.Dequeue();
            if (link.Count == 0)
            {
                _busy.RemoveAt(at);
            }
        }

        _current = node;
        Now++;
        action();
    }

    public void Submit(Request request)
    {
        request.SentAt = ++Now;
        Requests.Add(request);
        var home = Workers[Homes[IndexOf(request.Script.Actor)]];
        At(home.Index, () => home.Submit(request));
    }

    public void Repeat(Request request)
    {
        ToRepeat.Remove(request);
        var home = Workers[Homes[IndexOf(request.Script.Actor)]];
        At(home.Index, () => home.StartAct(request));
    }

    public void AnswerTo(Request request, Answer answer, AbortReason reason)
    {
        MachineWorld.Require(request.Answer == Answer.None, $"{request.Name} is answered once");
        request.Answer = answer;
        request.Reason = reason;
        request.AnsweredAt = ++Now;
        Trace?.Invoke($"  => {request.Name} {answer} {(answer == Answer.Aborted ? reason : "")}");
    }

    public void Tell(string text) => Trace?.Invoke(text);

    /// <summary>L7: a change takes the next version, and brings nothing but what its transactions wrote since the last one.</summary>
    public void Judge(Change change, Predicate<Attempt> mayHaveWritten)
    {
        var actor = IndexOf(change.Actor);
        MachineWorld.Require(change.Version == Versions[actor] + 1, $"L7: {change.Actor.Id} goes from version {Versions[actor]} to {change.Version}");
        var state = (Appended)change.State;
        for (var at = state; !ReferenceEquals(at, Committed[actor]); at = at.Before)
        {
            MachineWorld.Require(at is not null, $"the change of {change.Actor.Id} builds on its last final state");
            MachineWorld.Require(mayHaveWritten(at!.Writer), $"the change of {change.Actor.Id} holds a write of {at.Writer}, which is not in the record");
            at.IsFinal = true;
        }

        Versions[actor]++;
        Committed[actor] = state;
    }

    public void CheckQuiet()
    {
        foreach (var worker in Workers)
        {
            worker.TellSchedules();
        }

        foreach (var request in Requests)
        {
            MachineWorld.Require(request.Answer != Answer.None, $"{request.Name} ends");
        }

        foreach (var worker in Workers)
        {
            worker.CheckQuiet();
        }

        MachineWorld.Require(Master.Machine.Undecided == 0 && Master.Machine.Waiting == 0, "the master has nothing open");
        MachineWorld.Require(Master.Machine.Unmarked == 0, "every decision is marked by every worker");
    }

    private void NoteBusy((int From, int To) link)
    {
        if (!_busy.Contains(link))
        {
            _busy.Add(link);
        }
    }
}
