using System.Buffers;
using System.Globalization;
using System.Text;
using System.Text.Json;
using Snapper.Protocol.Identity;
using Snapper.Protocol.Messages;
using Snapper.Runtime.Door;
using Snapper.Simulation.Core;
using Snapper.Simulation.Running;
using Snapper.Judging.Histories;
using Snapper.Judging.Serializability;

namespace Snapper.Simulation.Workloads;

/// <summary>Scripts on lists, judged by the serializability checker.</summary>
internal sealed class ListsWorkload(Scenario scenario) : IWorkload
{
    private readonly History _history = new();
    private readonly List<(PlannedTransaction Transaction, ObservedOutcome Verdict, List<MicroOperation> Operations)> _concluded = [];
    private readonly SeededChance[] _chances = SeededChance.OfClients(scenario.Seed, ChanceOf.Lists, scenario.Clients);
    private readonly SeededChance[] _decisions = SeededChance.OfClients(scenario.Seed, ChanceOf.Decisions, scenario.Clients);
    private readonly SeededChance[] _unruly = SeededChance.OfClients(scenario.Seed, ChanceOf.Unruly, scenario.Clients);
    private readonly StringBuilder _script = new();
    private SeededChance _deciding = null!;
    private SeededChance _misbehaving = null!;
    private long _nextValue;

    public History History => _history;

    public PlannedTransaction Next(int client, int number)
    {
        var chance = _chances[client];
        _deciding = _decisions[client];
        _misbehaving = _unruly[client];
        var root = Actor(chance);
        var script = _script.Clear();
        UseContext(script, depth: 0);
        script.Append(chance.Percent(scenario.AbortPercent * 2) ? "o " : string.Empty);
        Write(script, root, chance, chance.Between(1, scenario.Steps), depth: 0);
        var fails = chance.Percent(scenario.AbortPercent);
        if (fails)
        {
            script.Append(chance.Percent(60) ? " !" : " x");
        }
        else if (_deciding.Percent(scenario.DecidesPercent))
        {
            script.Append(" !");
        }

        var steps = script.ToString();
        var marked = chance.Percent(fails ? 50 : 20);
        DeclaredAccess[]? access = null;
        if (chance.Percent(scenario.PactPercent))
        {
            var calls = Script.CallsOf(root, steps);
            if (chance.Percent(scenario.MisdeclaredPercent))
            {
                Misdeclare(calls, root, chance);
            }

            access = calls.Select(c => new DeclaredAccess(Key(c.Key), c.Value)).ToArray();
        }

        var request = new TransactionRequest
        {
            Actor = Key(root),
            Method = marked ? "RunMarked" : "Run",
            Input = Input(steps),
            Mode = access is null ? TransactionMode.Act : TransactionMode.Pact,
            Access = access,
            Id = chance.Percent(scenario.KeyedPercent) ? string.Create(CultureInfo.InvariantCulture, $"k{client}-{number}") : null,
            Timeout = PlannedTransaction.DrawTimeout(chance),
        };
        return new PlannedTransaction(client, number, request, steps);
    }

    public void Observe(PlannedTransaction transaction, ObservedOutcome verdict, TransactionEnvelope? envelope, long invoked, long completed)
    {
        // H7: an abort that tells what it saw is an outcome that rests on it, like that of a transaction that only reads. Where states are limited, its words are too, and may be cut.
        var saw = verdict == ObservedOutcome.Aborted && envelope?.Abort is { Reason: AbortReason.Application } abort && abort.Message.StartsWith(Script.Saw, StringComparison.Ordinal) && abort.Message.EndsWith(';')
            ? abort.Message.AsSpan(Script.Saw.Length)
            : default;
        var operations = verdict == ObservedOutcome.Committed ? Seen(envelope!, transaction) : !saw.IsEmpty ? Whole(Operations(saw), transaction) : Planned(transaction);
        _concluded.Add((transaction, verdict, operations));
        _history.Add(new ObservedTransaction
        {
            Id = string.Create(CultureInfo.InvariantCulture, $"{transaction.Client}-{transaction.Number}"),
            Process = transaction.Client,
            Invoked = invoked,
            Completed = verdict == ObservedOutcome.Unknown ? null : completed,
            Outcome = verdict,
            Mode = transaction.Request.Mode == TransactionMode.Pact ? ObservedMode.Pact : ObservedMode.Act,
            Attempts = Math.Max(1, envelope?.Attempts ?? 1),
            Parallel = ((string)transaction.Plan).AsSpan().IndexOfAny('[', '&') >= 0,
            ReadsCount = !saw.IsEmpty,
            Operations = operations,
        });
    }

    public IEnumerable<PlannedTransaction> Last()
    {
        for (var i = 0; i < scenario.Actors; i++)
        {
            var actor = ActorName(i);
            yield return new PlannedTransaction(scenario.Clients, i, new TransactionRequest
            {
                Actor = Key(actor),
                Method = "Look",
                Mode = TransactionMode.Pact,
                Access = [new DeclaredAccess(Key(actor), 1)],
                Timeout = TimeSpan.FromSeconds(5),
            }, "r");
        }
    }

    public IEnumerable<string> Judge()
    {
        var report = SerializabilityChecker.Check(_history);
        return report.Passed ? [] : [report.ToString()];
    }

    /// <summary>Of each transaction all appends are there at the end, or none, and none twice: after a loss, which takes whole transactions and tells no client.</summary>
    public IEnumerable<string> JudgeTheRest()
    {
        var last = new Dictionary<string, long[]>(StringComparer.Ordinal);
        foreach (var (transaction, verdict, operations) in _concluded)
        {
            if (transaction.Client == scenario.Clients && verdict == ObservedOutcome.Committed)
            {
                foreach (var read in operations)
                {
                    last[read.Key] = [.. read.List!];
                }
            }
        }

        foreach (var (actor, values) in last)
        {
            if (values.Distinct().Count() != values.Length)
            {
                yield return $"I1: {actor} has an element twice after a loss: [{string.Join(' ', values)}]";
            }
        }

        foreach (var (transaction, verdict, operations) in _concluded)
        {
            var appends = operations.FindAll(static operation => operation.IsAppend);
            var there = appends.FindAll(append => last.TryGetValue(append.Key, out var values) && values.Contains(append.Value));
            if (there.Count > 0 && there.Count < appends.Count && appends.TrueForAll(append => last.ContainsKey(append.Key)))
            {
                yield return $"L6: of transaction {transaction.Client}-{transaction.Number} ({verdict}) a part is left after a loss: {string.Join(", ", there)} of {string.Join(", ", appends)}";
            }
        }
    }

    public bool Shows(TransactionEnvelope look, string state)
    {
        // "c1=1,2;" in JSON beside [1,2] or {"values":[1,2]}.
        var seen = JsonSerializer.Deserialize<string>(look.Result.Span)!;
        var from = state.IndexOf('[', StringComparison.Ordinal) + 1;
        return seen.AsSpan(seen.IndexOf('=', StringComparison.Ordinal) + 1).TrimEnd(';')
            .SequenceEqual(state.AsSpan(from, state.IndexOf(']', StringComparison.Ordinal) - from));
    }

    private static List<MicroOperation> Seen(TransactionEnvelope envelope, PlannedTransaction transaction)
    {
        var reader = new Utf8JsonReader(envelope.Result.Span);
        reader.Read();
        var text = ArrayPool<char>.Shared.Rent(envelope.Result.Length);
        var operations = Operations(text.AsSpan(0, reader.CopyString(text)));
        ArrayPool<char>.Shared.Return(text);
        return Whole(operations, transaction);
    }

    /// <summary>Calls that were not awaited, or that run beside one that aborts, tell nothing, and yet they belong to the transaction (A2).</summary>
    private static List<MicroOperation> Whole(List<MicroOperation> operations, PlannedTransaction transaction)
    {
        foreach (var (actor, value) in Script.AppendsOf(transaction.Request.Actor.Id, (string)transaction.Plan))
        {
            if (!HasAppend(operations, value))
            {
                operations.Add(MicroOperation.Append(actor, value));
            }
        }

        return operations;
    }

    private static bool HasAppend(List<MicroOperation> operations, long value)
    {
        foreach (var operation in operations)
        {
            if (operation.IsAppend && operation.Value == value)
            {
                return true;
            }
        }

        return false;
    }

    /// <summary>Reads what an actor reports, e.g. <c>c1=1,2;c1+3;</c>.</summary>
    private static List<MicroOperation> Operations(ReadOnlySpan<char> text)
    {
        var operations = new List<MicroOperation>(8);
        while (!text.IsEmpty)
        {
            var end = text.IndexOf(';');
            var one = text[..end];
            var sign = one.IndexOfAny('=', '+');
            var key = ScriptedTypes.NameOf(one[..sign]);
            var told = one[(sign + 1)..];
            operations.Add(one[sign] == '+' ? MicroOperation.Append(key, long.Parse(told, CultureInfo.InvariantCulture)) : MicroOperation.Read(key, Numbers(told)));
            text = text[(end + 1)..];
        }

        return operations;
    }

    private static List<MicroOperation> Planned(PlannedTransaction transaction)
    {
        var operations = new List<MicroOperation>();
        foreach (var (actor, value) in Script.AppendsOf(transaction.Request.Actor.Id, (string)transaction.Plan))
        {
            operations.Add(MicroOperation.Append(actor, value));
        }

        return operations;
    }

    private static long[] Numbers(ReadOnlySpan<char> text)
    {
        if (text.IsEmpty)
        {
            return [];
        }

        // Digits and commas, from the scripted actors themselves.
        var numbers = new long[text.Count(',') + 1];
        var i = 0;
        foreach (var c in text)
        {
            if (c == ',')
            {
                i++;
            }
            else
            {
                numbers[i] = (numbers[i] * 10) + (c - '0');
            }
        }

        return numbers;
    }

    private void Write(StringBuilder script, string self, SeededChance chance, int steps, int depth)
    {
        for (var i = 0; i < steps; i++)
        {
            if (_deciding.Percent(scenario.DecidesPercent))
            {
                script.Append("o ");
            }

            if (_misbehaving.Percent(scenario.UnrulyPercent))
            {
                Misbehave(script, depth);
            }

            switch (chance.Next(10))
            {
                case 0 or 1:
                    script.Append("r ");
                    break;
                case 2 or 3:
                    script.Append('a').Append(++_nextValue).Append(' ');
                    break;
                case 4:
                    script.Append('u').Append(++_nextValue).Append(' ');
                    break;
                case 5 when chance.Percent(scenario.DelayPercent):
                    script.Append(chance.Percent(50) ? "y " : string.Create(CultureInfo.InvariantCulture, $"d{chance.Between(1, chance.Percent(10) ? 500 : 8)} "));
                    break;
                case 6 when depth < 2:
                    script.Append('[');
                    for (var calls = chance.Between(1, 3); calls > 0; calls--)
                    {
                        Call(script, chance, DepthBeside(depth));
                    }

                    script.Append("] ");
                    break;
                case 7 when depth < 2 && chance.Percent(25):
                    var fire = chance.Percent(50);
                    script.Append(fire ? '&' : '?');
                    Call(script, chance, fire ? DepthBeside(depth) : depth);
                    break;
                default:
                    if (depth < 3)
                    {
                        Call(script, chance, depth);
                    }

                    break;
            }
        }
    }

    private void Call(StringBuilder script, SeededChance chance, int depth)
    {
        var actor = Actor(chance);
        script.Append('(').Append(actor).Append(' ');
        UseContext(script, depth + 1);
        Write(script, actor, chance, chance.Between(1, depth == 0 ? 3 : 2), depth + 1);
        if (chance.Percent(scenario.AbortPercent / 8))
        {
            script.Append(chance.Percent(50) ? "x " : "! ");
        }

        script.Append(") ");
    }

    /// <summary>Unjoined code misbehaves, or code that the worker calls.</summary>
    private void Misbehave(StringBuilder script, int depth)
    {
        switch (_misbehaving.Next(8))
        {
            case 0:
                script.Append("z ");
                break;
            case 1 or 2:
                script.Append('q').Append(_misbehaving.Between(0, 30)).Append(' ');
                break;
            case 3 or 4:
                script.Append('w').Append(_misbehaving.Between(0, 3)).Append(' ');
                break;
            default:
                var way = _misbehaving.Percent(60) ? 0 : _misbehaving.Between(1, OpenValue.Ways - 1);
                CallOpen(script, way, depth);
                break;
        }
    }

    private void UseContext(StringBuilder script, int depth)
    {
        if (_misbehaving.Percent(scenario.UnrulyPercent / 2))
        {
            CallOpen(script, OpenValue.UsesContext, depth);
        }
    }

    private void CallOpen(StringBuilder script, int way, int depth)
    {
        var actor = Actor(_misbehaving);
        var does = _misbehaving.Percent(50) ? " r a" : " a";
        var value = ++_nextValue;
        if (!scenario.IsCalm || depth < 3) // branches begin at 3: see DepthBeside
        {
            script.Append('%').Append(way).Append('(').Append(actor).Append(does).Append(value).Append(") ");
        }
    }

    /// <summary>
    /// Two branches of one transaction that call each other's actors wait for each other: a deadlock of the script's own, which the turn bound ends. In a
    /// calm run, where nothing may time out, branches call nobody.
    /// </summary>
    private int DepthBeside(int depth) => scenario.IsCalm ? 2 : depth;

    private void Misdeclare(Dictionary<string, int> calls, string root, SeededChance chance)
    {
        switch (chance.Next(3))
        {
            case 0:
                calls.TryAdd(Actor(chance), 1); // one actor too many
                break;
            case 1:
                calls[root] += chance.Between(1, 2); // more calls than are made
                break;
            default:
                var victim = calls.Keys.Last();
                if (victim == root)
                {
                    calls[root] = Math.Max(1, calls[root] - 1);
                }
                else
                {
                    calls.Remove(victim);
                }

                break;
        }
    }

    private string Actor(SeededChance chance)
    {
        // Half of all calls go to a quarter of the actors.
        var most = chance.Percent(50) ? Math.Max(1, scenario.Actors / 4) : scenario.Actors;
        return ActorName(chance.Next(most));
    }

    private static string ActorName(int number) => ScriptedTypes.NameOf(number);

    private static ActorKey Key(string actor) => new(ScriptedTypes.TypeOf(actor), actor);

    private static byte[] Input(string steps) => [.. "{\"steps\":\""u8, .. Encoding.UTF8.GetBytes(steps), .. "\"}"u8];
}
