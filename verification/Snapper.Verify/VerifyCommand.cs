using System.CommandLine;
using Snapper.Failures;
using Snapper.Fuzzing.Engine;
using Snapper.Simulation.Cluster;
using Snapper.Simulation.Running;
using Snapper.Terminal;
using static Snapper.Verify.VerifyOptions;

namespace Snapper.Verify;

/// <summary><c>./snapper verify</c>: one of several programs, told apart by an option that only it has.</summary>
internal static class VerifyCommand
{
    /// <summary>As people type it.</summary>
    public const string Name = "./snapper verify";

    private const string Summary = """
        attacks the product in a simulator and judges what its clients saw.
          Instead of many seeds, one of (each with --help):
            --seed N, --scenario TEXT      one run again
            --plant [NAME...]              mutations, one at a time
            --model                        the rules alone
            --live                         a running system
            --fuzz [TARGET,...]            broken input
            --nightly [PART...]            all of them, for some hours
            --history FILE                 a recorded history of any system (docs/histories.md)
          Exit codes: 0 nothing was found; 1 something was; 2 the command line is wrong; 129, 130 or 143
          interrupted by SIGHUP, SIGINT or SIGTERM, with nothing found until then.
        """;

    /// <summary>Runs one command line to its end.</summary>
    /// <param name="arguments">Without the program's name.</param>
    /// <param name="interrupted">Ends it early.</param>
    public static Task<int> Run(IReadOnlyList<string> arguments, CancellationToken interrupted)
    {
        var programs = Programs(interrupted);
        var chosen = arguments
            .Select(argument => programs.GetValueOrDefault(argument.Split('=')[0]))
            .FirstOrDefault(program => program is not null);
        return CommandLines.Run(chosen ?? Of(
            Summary,
            options => options.Workers is null ? new OneWorkerRun(options).Run(interrupted)
                : new SeveralWorkersRun(options).Run(interrupted),
            SeedsOption, FirstOption, MinutesOption, ThreadsOption, MarkdownOption, WorkersOption),
            arguments, Console.Out, Console.Error);
    }

    private static Dictionary<string, Command> Programs(CancellationToken interrupted) => new()
    {
        ["--seed"] = CommandLines.Command(
            Name, "replays one seed", (line, _, _) => Replay(line, interrupted), SeedOption, WorkersOption),
        ["--scenario"] = CommandLines.Command(
            Name, "replays one scenario", (line, _, _) => Replay(line, interrupted), ScenarioOption),
        ["--plant"] = Of(
            "mutations, one at a time", options => PlantRun.Run(options, interrupted),
            PlantOption, FirstOption, LimitOption, MarkdownOption, WorkersOption),
        ["--model"] = Of(
            "the rules alone", options => RuleModelRun.Run(options, interrupted),
            ModelOption, DependencyOption, SchedulesOption, FirstOption, MinutesOption),
        ["--live"] = LiveCommand.Of(interrupted),
        ["--fuzz"] = FuzzCommand.Of(interrupted),
        ["--nightly"] = NightlyRun.Command(interrupted),
        ["--history"] = HistoryCommand.Command,
    };

    private static Command Of(string summary, Func<VerifyOptions, int> run, params IEnumerable<Option> options) =>
        CommandLines.Command(Name, summary, (line, _, _) => Task.FromResult(run(From(line))), options);

    private static Task<int> Replay(ParseResult line, CancellationToken interrupted)
    {
        var options = From(line);
        try
        {
            if (line.GetValue(SeedOption) is { } seed)
            {
                return Task.FromResult(options.Workers is { } workers
                    ? new SeveralWorkersRun(options).Replay(ClusterScenario.Draw(seed, workers), interrupted)
                    : new OneWorkerRun(options).Replay(Scenario.Draw(seed), interrupted));
            }

            var text = line.GetValue(ScenarioOption)!;
            return Task.FromResult(text.Contains("workers=", StringComparison.Ordinal)
                ? new SeveralWorkersRun(options).Replay(ClusterScenario.Parse(text), interrupted)
                : new OneWorkerRun(options).Replay(Scenario.Parse(text), interrupted));
        }
        catch (FormatException wrong)
        {
            throw new UsageException(wrong.Message);
        }
    }
}
