using System.Text;

namespace Snapper.RuleModel;

/// <summary>Judges a finished schedule by its effects alone: final states, what everybody saw, who was answered before whom was sent.</summary>
internal sealed partial class RuleModel
{
    private readonly int[] _place = new int[MaxNodes];
    private readonly int[] _chain = new int[MaxNodes];
    private readonly int[] _edges = new int[C];
    private readonly int[] _edgeReason = new int[C * C];

    private enum Reason
    {
        Saw,
        Overwrote,
        SawTheStateBefore,
        WasAnsweredFirst,
    }

    private bool IsJudged(int client) => _clientState[client] == ClientState.Answered && !_gaveUp[client];

    private void Judge()
    {
        Array.Clear(_edges);
        Array.Fill(_place, -1, 0, _nodes);
        for (var actor = 0; actor < _actors && _verdict == ModelVerdict.Held; actor++)
        {
            JudgeActor(actor);
        }

        for (var first = 0; first < _scenario.Count; first++)
        {
            for (var second = 0; second < _scenario.Count; second++)
            {
                if (IsJudged(first) && IsJudged(second) && _answeredAt[first] < _sentAt[second])
                {
                    AddEdge(first, second, Reason.WasAnsweredFirst, 0);
                }
            }
        }

        if (_verdict == ModelVerdict.Held)
        {
            JudgeCycle();
        }

        for (var actor = 0; actor < _actors && _verdict == ModelVerdict.Held; actor++)
        {
            JudgeLog(actor);
        }
    }

    /// <summary>What a recovery would read must be what is in memory, now that everything is durable.</summary>
    private void JudgeLog(int actor)
    {
        var state = _current[actor];
        ReadBack(_owner[actor], actor);
        if (_current[actor] != state)
        {
            Fail(ModelVerdict.LostEffect, $"The log gives another state of {ActorName(actor)} than the one in memory.");
        }
    }

    /// <summary>The final state must hold the writes of all committed transactions, whole, and of nobody else.</summary>
    private void JudgeActor(int actor)
    {
        var length = 0;
        for (var node = _current[actor]; node >= 0; node = _nodeParent[node])
        {
            length++;
        }

        var at = length;
        for (var node = _current[actor]; node >= 0; node = _nodeParent[node])
        {
            _chain[--at] = node;
            _place[node] = at;
        }

        for (var i = 1; i < length; i++)
        {
            var writer = _nodeWriter[_chain[i]];
            var client = _client[writer];
            if (!IsJudged(client) || _attempt[client] != writer || _aborted[writer])
            {
                Fail(ModelVerdict.LostEffect, $"The final state of {ActorName(actor)} holds a write of {Name(writer)}, which has not committed.");
                return;
            }

            if (i + 1 < length && _nodeWriter[_chain[i + 1]] != writer)
            {
                AddEdge(client, _client[_nodeWriter[_chain[i + 1]]], Reason.Overwrote, actor);
            }
        }

        for (var client = 0; client < _scenario.Count; client++)
        {
            if (IsJudged(client))
            {
                JudgeTouches(client, actor, length);
            }
        }
    }

    private void JudgeTouches(int client, int actor, int length)
    {
        var attempt = _attempt[client];
        var script = _scenario.Scripts[client];
        for (var operation = 0; operation < script.Operations; operation++)
        {
            var node = _seen[attempt * O + operation];
            if (script.ActorOf(operation) != actor || node < 0)
            {
                continue;
            }

            if (script.Writes(operation))
            {
                if (!_aborted[attempt] && _place[node] < 0)
                {
                    Fail(ModelVerdict.LostEffect, $"The final state of {ActorName(actor)} lacks a write of {Name(attempt)}, which has committed.");
                    return;
                }

                node = _nodeParent[node];
            }

            if (_nodeWriter[node] != attempt)
            {
                JudgeSeen(client, actor, node, length);
            }
        }
    }

    private void JudgeSeen(int client, int actor, int node, int length)
    {
        var writer = _nodeWriter[node];
        var place = _place[node];
        if (place < 0)
        {
            Fail(ModelVerdict.DirtyRead, $"{ClientName(client)} was answered, and saw a state of {ActorName(actor)} by {Name(writer)} that was never committed.");
            return;
        }

        if (writer >= 0)
        {
            if (place + 1 < length && _nodeWriter[_chain[place + 1]] == writer)
            {
                Fail(ModelVerdict.DirtyRead, $"{ClientName(client)} saw {ActorName(actor)} in the middle of {Name(writer)}.");
                return;
            }

            AddEdge(_client[writer], client, Reason.Saw, actor);
        }

        for (var next = place + 1; next < length; next++)
        {
            var overwriter = _client[_nodeWriter[_chain[next]]];
            if (overwriter != client)
            {
                AddEdge(client, overwriter, Reason.SawTheStateBefore, actor);
                break;
            }
        }
    }

    private void AddEdge(int from, int to, Reason reason, int actor)
    {
        if (from != to && !Has(_edges[from], to))
        {
            _edges[from] |= 1 << to;
            _edgeReason[from * C + to] = ((int)reason << 8) | actor;
        }
    }

    private void JudgeCycle()
    {
        Span<int> reach = stackalloc int[C];
        _edges.CopyTo(reach);
        for (var middle = 0; middle < _scenario.Count; middle++)
        {
            for (var from = 0; from < _scenario.Count; from++)
            {
                reach[from] |= Has(reach[from], middle) ? reach[middle] : 0;
            }
        }

        for (var client = 0; client < _scenario.Count; client++)
        {
            if (Has(reach[client], client))
            {
                Fail(ModelVerdict.Cycle, DescribeCycle());
                return;
            }
        }
    }

    private string DescribeCycle()
    {
        var best = new List<int>();
        for (var start = 0; start < _scenario.Count; start++)
        {
            var path = ShortestWay(start);
            if (path.Count > 0 && (best.Count == 0 || path.Count < best.Count))
            {
                best = path;
            }
        }

        var text = new StringBuilder("A circle: ");
        for (var i = 0; i < best.Count; i++)
        {
            var from = best[i];
            var to = best[(i + 1) % best.Count];
            var reason = _edgeReason[from * C + to];
            var actor = ActorName(reason & 0xFF);
            text.Append(i == 0 ? "" : "; ").Append(ClientName(from)).Append(" before ").Append(ClientName(to)).Append(", ");
            text.Append((Reason)(reason >> 8) switch
            {
                Reason.Saw => $"because {ClientName(to)} saw what {ClientName(from)} wrote on {actor}",
                Reason.Overwrote => $"because {ClientName(to)} wrote {actor} over what {ClientName(from)} wrote",
                Reason.SawTheStateBefore => $"because {ClientName(from)} saw {actor} as it was before {ClientName(to)} wrote it",
                _ => $"because {ClientName(from)} was answered before {ClientName(to)} was sent",
            });
        }

        return text.Append('.').ToString();
    }

    private List<int> ShortestWay(int start)
    {
        var cameFrom = new int[C];
        Array.Fill(cameFrom, -1);
        var queue = new Queue<int>([start]);
        while (queue.TryDequeue(out var at))
        {
            for (var next = 0; next < _scenario.Count; next++)
            {
                if (!Has(_edges[at], next) || cameFrom[next] >= 0)
                {
                    continue;
                }

                cameFrom[next] = at;
                if (next == start)
                {
                    var way = new List<int> { at };
                    while (at != start)
                    {
                        at = cameFrom[at];
                        way.Insert(0, at);
                    }

                    return way;
                }

                queue.Enqueue(next);
            }
        }

        return [];
    }

    /// <summary>Who waits for what when nothing can go on.</summary>
    private string DescribeWaits()
    {
        var text = new StringBuilder();
        for (var client = 0; client < _scenario.Count; client++)
        {
            if (_clientState[client] != ClientState.Answered)
            {
                text.Append(text.Length == 0 ? "" : ", ").Append(ClientName(client));
            }
        }

        for (var actor = 0; actor < _actors; actor++)
        {
            text.Append("; ").Append(ActorName(actor)).Append(':');
            for (var i = 0; i < _scheduled[actor]; i++)
            {
                var entry = _schedule[actor * ScheduleCapacity + i];
                text.Append((entry & 1) == 0 ? $" batch {entry >> 1} ({Names(_members[entry >> 1])})" : $" {Name(entry >> 1)}");
            }

            text.Append(_waiters[actor] == 0 ? "" : $" (wait for a lock: {Names(_waiters[actor])})");
        }

        return text.ToString();
    }
}
