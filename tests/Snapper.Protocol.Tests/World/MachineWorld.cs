using Snapper.Protocol.Batches;
using Snapper.Protocol.Commitment;
using Snapper.Protocol.Coordination;
using Snapper.Protocol.Identity;
using Snapper.Protocol.Messages;
using Snapper.Protocol.Scheduling;
using Snapper.Protocol.Transactions;

namespace Snapper.Protocol.Tests.World;

/// <summary>
/// All machines of one worker without a runtime: their outputs travel through queues, in an order that the test or a
/// seed chooses; user code is a script; the log is a number that grows when the test flushes it.
/// </summary>
internal sealed partial class MachineWorld
{
    private readonly OutputBuffer _outputs = new();
    private readonly ActorMachine[] _actors;
    private readonly CoordinatorMachine[] _coordinators;
    private readonly CommitMachine _commit;
    private readonly int[] _actorNode;
    private readonly int[] _coordinatorNode;
    private readonly int _commitNode;
    private readonly int _nodes;
    private readonly Queue<WorkItem>?[] _links;
    private readonly Queue<WorkItem>[] _local;
    private readonly bool[] _held;
    private readonly HashSet<int> _heldLinks = [];
    private readonly List<int> _busyLinks = [];
    private readonly LinkOrder _order;
    private readonly Dictionary<TransactionId, Attempt> _acts = [];
    private readonly TransactionMachine _transactions;
    private int _current;
    private long _actCounter;

    private int RecordMembers { get; }

    private static long LiveMembers(Component component)
    {
        var live = 0;
        for (var i = component.FirstMember; i >= 0; i = component.Batch.NextMember(i))
        {
            live += component.Batch.StateOf(i) == MemberState.Removed ? 0 : 1;
        }

        return live;
    }

    public MachineWorld(WorldOptions options)
    {
        var actors = options.Actors.Length;
        _transactions = new TransactionMachine(_outputs);
        Keys = new ActorKey[actors];
        _actors = new ActorMachine[actors];
        _actorNode = new int[actors];
        _coordinators = new CoordinatorMachine[options.Coordinators];
        _coordinatorNode = new int[options.Coordinators];
        _order = options.Links;
        for (var i = 0; i < actors; i++)
        {
            Keys[i] = new ActorKey("T", options.Actors[i]);
            _actors[i] = new ActorMachine(Keys[i], null, 0);
            _actorNode[i] = options.Nodes is null ? i : options.Nodes[i];
        }

        for (var i = 0; i < options.Coordinators; i++)
        {
            _coordinators[i] = new CoordinatorMachine(i, options.Coordinators, options.Batches);
            _coordinatorNode[i] = options.Nodes is null ? actors + i : options.Nodes[actors + i];
        }

        RecordMembers = options.RecordMembers;
        _commit = new CommitMachine(options.Coordinators, new RecordLimit(options.RecordMembers, LiveMembers, static _ => 0));
        _commitNode = options.Nodes is null ? actors + options.Coordinators : options.Nodes[actors + options.Coordinators];
        _nodes = (options.Nodes?.Max() ?? _commitNode) + 1;
        _links = new Queue<WorkItem>?[(_nodes + 1) * _nodes];
        _local = new Queue<WorkItem>[_nodes];
        for (var i = 0; i < _nodes; i++)
        {
            _local[i] = new Queue<WorkItem>();
        }

        _held = new bool[_nodes];
        _committed = new Appended?[actors];
        _versions = new long[actors];
        _stays = new List<ActScheduleEntry>[actors];
        Touches = new List<Attempt>[actors];
        for (var i = 0; i < actors; i++)
        {
            _stays[i] = [];
            Touches[i] = [];
        }

        _current = Outside;
        Send(_coordinatorNode[0], new WorkItem { Kind = WorkKind.Coordinator, Message = new Message { Kind = MessageKind.Token, Body = new RingToken(TransactionId.None) } });
    }

    public ActorKey[] Keys { get; }

    public List<Request> Requests { get; } = [];

    /// <summary>Steps so far: the world's clock.</summary>
    public long Now { get; private set; } = 1;

    /// <summary>Chance decides where user code gives way and how old the news of final batches is; null: never, and never old.</summary>
    public Random? Chance { get; init; }

    /// <summary>Receives what happens, for people.</summary>
    public Action<string>? Trace { get; set; }

    /// <summary>ACTs that died of a conflict and wait to be repeated (W2).</summary>
    public List<Request> ToRepeat { get; } = [];

    /// <summary>Scripts that have given way, when there is no chance to let them go on.</summary>
    public List<Frame> Paused { get; } = [];

    /// <summary>Attempts that died, by reason; the index is the reason.</summary>
    public int[] Deaths { get; } = new int[Enum.GetValues<AbortReason>().Length];

    public CommitMachine Commit => _commit;

    public bool HasMessages => _busyLinks.Count > 0;

    private int Outside => _nodes;

    public CoordinatorMachine Coordinator(int index) => _coordinators[index];

    public ActorMachine Actor(int index) => _actors[index];

    public int IndexOf(ActorKey key)
    {
        for (var i = 0; i < Keys.Length; i++)
        {
            if (ReferenceEquals(Keys[i], key) || Keys[i].Equals(key))
            {
                return i;
            }
        }

        throw new InvalidOperationException($"There is no actor {key}.");
    }

    public int IndexOf(string actor) => Array.FindIndex(Keys, key => key.Id == actor);

    /// <summary>Node of a machine by name: an actor, <c>ring0</c> or <c>commit</c>.</summary>
    public int NodeOf(string machine) =>
        machine == "commit" ? _commitNode
        : machine.StartsWith("ring", StringComparison.Ordinal) ? _coordinatorNode[machine[^1] - '0']
        : IndexOf(machine) is >= 0 and var actor ? _actorNode[actor]
        : throw new FormatException($"There is no machine '{machine}'.");

    /// <summary>Keeps a node from handling anything.</summary>
    public void Hold(int node, bool held) => _held[node] = held;

    /// <summary>Keeps what one node sends to another from being handled.</summary>
    public void HoldLink(int from, int to, bool held)
    {
        if (held)
        {
            _heldLinks.Add((from * _nodes) + to);
        }
        else
        {
            _heldLinks.Remove((from * _nodes) + to);
        }
    }

    /// <summary>A client sends its request.</summary>
    public void Submit(Request request)
    {
        _current = Outside;
        request.SentAt = ++Now;
        Requests.Add(request);
        if (request.IsPact)
        {
            request.Ticket = new PactTicket(Keys[IndexOf(request.Script.Actor)], request.Declared!, request) { Marked = request.Marked };
            Send(_coordinatorNode[request.Ring], new WorkItem
            {
                Kind = WorkKind.Coordinator,
                Index = request.Ring,
                Message = new Message { Kind = MessageKind.NewPact, Body = request.Ticket },
            });
        }
        else
        {
            StartLater(request);
        }
    }

    /// <summary>The relay runs an ACT again with the same age (W2).</summary>
    public void Repeat(Request request)
    {
        _current = Outside;
        ToRepeat.Remove(request);
        StartLater(request);
    }

    /// <summary>A client leaves before its PACT has a number.</summary>
    public void Withdraw(Request request)
    {
        _current = Outside;
        Send(_coordinatorNode[request.Ring], new WorkItem
        {
            Kind = WorkKind.Coordinator,
            Index = request.Ring,
            Message = new Message { Kind = MessageKind.Withdraw, Body = request.Ticket, Reason = AbortReason.Cancelled },
        });
    }

    /// <summary>The watchdog, or a deadline, dooms what runs.</summary>
    public void AbortFromOutside(Attempt attempt, AbortReason reason)
    {
        _current = Outside;
        RequestAbort(attempt, reason);
    }

    /// <summary>A script that gave way goes on.</summary>
    public void Resume(Frame frame)
    {
        _current = Outside;
        Paused.Remove(frame);
        Send(_actorNode[frame.Actor], new WorkItem { Kind = WorkKind.Continue, Extra = frame });
    }

    /// <summary>Handles one item, chosen among the queues by <paramref name="pick"/>.</summary>
    /// <returns>False: everything is held, or there is nothing.</returns>
    public bool Step(int pick)
    {
        for (var tried = 0; tried < _busyLinks.Count; tried++)
        {
            var at = (int)((uint)(pick + tried) % (uint)_busyLinks.Count);
            var link = _busyLinks[at];
            var node = link % _nodes;
            if (_held[node] || _heldLinks.Contains(link))
            {
                continue;
            }

            // What a node sends to itself comes before anything from outside.
            if (_local[node].Count > 0)
            {
                Handle(node, _local[node].Dequeue());
                return true;
            }

            var queue = _links[link]!;
            if (queue.Count == 0)
            {
                RemoveBusy(at);
                tried--;
                if (_busyLinks.Count == 0)
                {
                    return false;
                }

                continue;
            }

            var item = queue.Dequeue();
            if (queue.Count == 0 && link / _nodes != node)
            {
                RemoveBusy(at);
            }

            Handle(node, item);
            return true;
        }

        return false;
    }

    private void RemoveBusy(int at)
    {
        _busyLinks[at] = _busyLinks[^1];
        _busyLinks.RemoveAt(_busyLinks.Count - 1);
    }

    private void StartLater(Request request) =>
        Send(_actorNode[IndexOf(request.Script.Actor)], new WorkItem { Kind = WorkKind.StartAct, Extra = request });

    private void Send(int node, WorkItem item)
    {
        if (_current == node)
        {
            // A busy entry of a node's own link stands for its local queue.
            _local[node].Enqueue(item);
            NoteBusy((node * _nodes) + node);
            return;
        }

        var from = _order == LinkOrder.Inbox || node == _commitNode ? Outside : _current;
        var link = (from * _nodes) + node;
        (_links[link] ??= new Queue<WorkItem>()).Enqueue(item);
        NoteBusy(link);
    }

    private void NoteBusy(int link)
    {
        _links[link] ??= new Queue<WorkItem>();
        if (!_busyLinks.Contains(link))
        {
            _busyLinks.Add(link);
        }
    }

    private void SendToActor(int actor, in Message message) =>
        Send(_actorNode[actor], new WorkItem { Kind = WorkKind.Actor, Index = actor, Message = message });

    private void SendToCommit(in Message message) =>
        Send(_commitNode, new WorkItem { Kind = WorkKind.Commit, Message = message });
}
