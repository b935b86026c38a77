using System.Globalization;
using System.Text;
using Snapper.Protocol.Batches;
using Snapper.Protocol.Coordination;
using Snapper.Protocol.Identity;
using Snapper.Protocol.Scheduling;
using Snapper.Protocol.Tests.World;

namespace Snapper.Protocol.Tests.Scenarios;

/// <summary>
/// Carries out one scenario text: blocks of commands, a line <c>----</c>, the trace that they must give, an empty line.
/// Lines that begin with <c>#</c> are for readers.
/// </summary>
/// <remarks>
/// Commands: <c>world a b rings=2 batch=3 open=1</c> · <c>pact p1 marked ring=1 a(w b(r)) declares a:1 b:2</c> ·
/// <c>act t1 age=5 a(w)</c> · <c>run</c> (everything that is not held) · <c>hold a</c>, <c>hold ring0>a</c>, <c>release …</c> ·
/// <c>resume p1 b</c> (its script on b that gave way) · <c>flush</c> · <c>repeat t1</c> · <c>withdraw p1</c> ·
/// <c>end</c> (every script goes on, everything runs to its end and is judged).
/// </remarks>
internal sealed class Scenario
{
    private const string Rule = "----";
    private readonly StringBuilder _trace = new();
    private MachineWorld? _world;
    private int _rings = 1;

    /// <summary>The text with the trace that really happens.</summary>
    public static string Replay(string text)
    {
        var scenario = new Scenario();
        var result = new StringBuilder();
        var lines = text.ReplaceLineEndings("\n").TrimEnd('\n').Split('\n');
        for (var i = 0; i < lines.Length; i++)
        {
            var line = lines[i];
            result.Append(line).Append('\n');
            if (line == Rule)
            {
                result.Append(scenario._trace);
                scenario._trace.Clear();
                while (i + 1 < lines.Length && lines[i + 1].Length > 0)
                {
                    i++;
                }
            }
            else if (line.Length > 0 && line[0] != '#')
            {
                scenario.Execute(line);
            }
        }

        return result.ToString();
    }

    private MachineWorld World => _world ?? throw new FormatException("A scenario begins with the command 'world'.");

    private void Execute(string line)
    {
        var words = line.Split(' ', 2);
        var rest = words.Length > 1 ? words[1] : "";
        switch (words[0])
        {
            case "world":
                MakeWorld(rest);
                break;
            case "pact":
            case "act":
                Submit(rest, words[0] == "pact");
                break;
            case "run":
                Run();
                break;
            case "hold":
            case "release":
                Hold(rest, words[0] == "hold");
                break;
            case "resume":
                Resume(rest);
                break;
            case "flush":
                World.Flush(long.MaxValue / 2);
                Run();
                break;
            case "repeat":
                World.Repeat(Find(rest));
                Run();
                break;
            case "withdraw":
                World.Withdraw(Find(rest));
                Run();
                break;
            case "end":
                End();
                break;
            default:
                throw new FormatException($"There is no command '{words[0]}'.");
        }
    }

    private void MakeWorld(string rest)
    {
        var actors = new List<string>();
        int batch = 512, open = 2;
        foreach (var word in rest.Split(' '))
        {
            var equals = word.IndexOf('=', StringComparison.Ordinal);
            var number = equals < 0 ? 0 : int.Parse(word[(equals + 1)..], CultureInfo.InvariantCulture);
            switch (equals < 0 ? "" : word[..equals])
            {
                case "":
                    actors.Add(word);
                    break;
                case "rings":
                    _rings = number;
                    break;
                case "batch":
                    batch = number;
                    break;
                case "open":
                    open = number;
                    break;
                default:
                    throw new FormatException($"A world has no '{word}'.");
            }
        }

        _world = new MachineWorld(new WorldOptions
        {
            Actors = actors.ToArray(),
            Coordinators = _rings,
            Batches = new CoordinatorOptions(batch, open),
        })
        {
            Trace = line => _trace.Append(line).Append('\n'),
        };
    }

    private void Submit(string rest, bool isPact)
    {
        var declares = rest.IndexOf(" declares ", StringComparison.Ordinal);
        var declared = declares < 0 ? null : rest[(declares + 10)..];
        var head = declares < 0 ? rest : rest[..declares];
        var open = head.IndexOf('(', StringComparison.Ordinal);
        var from = head.LastIndexOf(' ', open) + 1;
        var script = CallScript.Parse(head[from..]);
        var words = head[..from].Split(' ', StringSplitOptions.RemoveEmptyEntries);
        var ring = words.FirstOrDefault(word => word.StartsWith("ring=", StringComparison.Ordinal));
        var age = words.FirstOrDefault(word => word.StartsWith("age=", StringComparison.Ordinal));
        World.Submit(new Request
        {
            Index = World.Requests.Count,
            Name = words[0],
            Script = script,
            Declared = isPact ? Declare(script, declared) : null,
            Marked = words.Contains("marked"),
            Ring = ring is null ? 0 : int.Parse(ring[5..], CultureInfo.InvariantCulture),
            Age = age is null ? TransactionId.None : TransactionId.Act(int.Parse(age[4..], CultureInfo.InvariantCulture), 0),
        });
    }

    private static ActorAccess[] Declare(CallScript script, string? declared)
    {
        var counts = new List<(string Actor, int Calls)>();
        if (declared is null)
        {
            script.CountCalls(counts);
        }
        else
        {
            counts.AddRange(declared.Split(' ').Select(word => (word.Split(':')[0], int.Parse(word.Split(':')[1], CultureInfo.InvariantCulture))));
        }

        return counts.Select(count => new ActorAccess(new ActorKey("T", count.Actor), Access.Whole, count.Calls)).ToArray();
    }

    private void Hold(string rest, bool held)
    {
        var ends = rest.Split('>');
        if (ends.Length == 2)
        {
            World.HoldLink(World.NodeOf(ends[0]), World.NodeOf(ends[1]), held);
        }
        else
        {
            World.Hold(World.NodeOf(rest), held);
        }
    }

    private void Resume(string rest)
    {
        var words = rest.Split(' ');
        var frame = World.Paused.Find(paused => paused.Attempt.Request.Name == words[0] && (words.Length == 1 || paused.Script.Actor == words[1]))
            ?? throw new FormatException($"No script '{rest}' has given way.");
        World.Resume(frame);
        Run();
    }

    private void Run()
    {
        for (var steps = 0; World.Step(0); steps++)
        {
            MachineWorld.Require(steps < 10_000, "everything comes to rest");
        }
    }

    private void End()
    {
        Run();
        while (World.Unflushed > 0 || World.ToRepeat.Count > 0 || World.Paused.Count > 0)
        {
            if (World.Paused.Count > 0)
            {
                World.Resume(World.Paused[0]);
            }
            else if (World.Unflushed > 0)
            {
                World.Flush(World.Unflushed);
            }
            else
            {
                World.Repeat(World.ToRepeat[0]);
            }

            Run();
        }

        World.CheckQuiet();
        HistoryCheck.Check(World);
        _trace.Append("everything has ended, strictly serializable:");
        foreach (var request in World.Requests)
        {
            _trace.Append(' ').Append(request.Name).Append(request.Answer == Answer.Committed ? " committed" : $" aborted ({request.Reason})");
        }

        _trace.Append('\n');
    }

    private Request Find(string name) =>
        World.Requests.Find(request => request.Name == name) ?? throw new FormatException($"There is no request '{name}'.");
}
