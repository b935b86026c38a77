using System.Globalization;
using System.Text;
using Snapper.Fuzzing.Engine;
using Snapper.Simulation.Running;

namespace Snapper.Fuzzing.Text;

/// <summary>Scenarios, as <c>./snapper verify --scenario</c> reads them.</summary>
/// <remarks>Oracle: a scenario or a <see cref="FormatException"/>; its own text leads back to it; a small one runs to its end without a violation.</remarks>
internal sealed class ScenarioTarget : FuzzTarget
{
    private const int RunsUpTo = 60;

    private static readonly string[] Names =
    [
        "workload", "executors", "coordinators", "open", "batch", "clients", "each", "actors", "steps", "pact", "abort", "misdeclared", "delay", "keyed", "requests", "storage", "checkpoint", "mark", "sweep", "faults", "else", "",
    ];

    public override string Name => "scenario";

    public override string Attacks => "scenarios of the simulator (--scenario)";

    public override bool IsText => true;

    public override byte[] Generate(Random random)
    {
        var text = new StringBuilder(string.Create(CultureInfo.InvariantCulture, $"seed={random.Next(1, 5000)} clients={random.Next(1, 4)} each={random.Next(1, 4)}"));
        for (var i = random.Next(4); i > 0; i--)
        {
            text.Append(' ').Append(Word(random));
        }

        return Pieces.Bytes(text.ToString());
    }

    public override byte[] Mutate(byte[] input, byte[] other, Random random)
    {
        var words = Encoding.UTF8.GetString(input).Split(' ').ToList();
        switch (random.Next(4))
        {
            case 0: return Pieces.Break(input, other, random);
            case 1: words.RemoveAt(random.Next(words.Count)); break;
            case 2: words[random.Next(words.Count)] = Word(random); break;
            default: words.Insert(random.Next(words.Count + 1), Word(random)); break;
        }

        return Pieces.Bytes(string.Join(' ', words));
    }

    public override string Run(byte[] input)
    {
        Scenario scenario;
        try
        {
            scenario = Scenario.Parse(Encoding.UTF8.GetString(input));
        }
        catch (FormatException wrong)
        {
            return wrong.Message;
        }

        var text = scenario.ToString();
        if (Scenario.Parse(text).ToString() != text)
        {
            throw new FuzzFailureException($"'{text}' leads to another scenario.");
        }

        if ((long)scenario.Clients * scenario.TransactionsPerClient > RunsUpTo)
        {
            return "read, too large to be run here";
        }

        var result = Simulator.Run(scenario);
        return result.Violations.Count == 0 ? "ran" : throw new FuzzFailureException($"{text}: {result.Violations[0]}");
    }

    private static string Word(Random random)
    {
        var name = random.One(Names);
        return name == "faults" && random.Percent(80)
            ? $"faults={random.One("WorkerCrash", "StorageDown", "LogDamaged", "99", "-1", "workercrash", "WorkerCrash,StorageDown", "")}@{(random.Percent(60) ? "5" : Pieces.Number(random))}/{(random.Percent(60) ? "5" : Pieces.Number(random))}"
            : $"{name}{random.One("=", "=", "=", "=", "", "==")}{(random.Percent(50) ? random.Next(5).ToString(CultureInfo.InvariantCulture) : Pieces.Number(random))}";
    }
}
