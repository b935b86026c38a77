using Microsoft.Extensions.Configuration;
using Snapper.AspNetCore.Hosting;
using Snapper.Cli.Commands;
using Snapper.Cli.Supervision;
using Snapper.Failures;
using Snapper.Fuzzing.Engine;
using Snapper.Server.Commands;
using Snapper.Server.Hosting;
using Snapper.Terminal;

namespace Snapper.Fuzzing.CommandLine;

/// <summary>
/// Reading of command lines, environment and settings, without starting anything. An input is lines: a command, then its arguments, one each; <c>env NAME=VALUE</c>; <c>set KEY=VALUE</c>.
/// </summary>
/// <remarks>Oracle: settings, or <see cref="UsageException"/> (from the worker's numbers: what the worker turns into one).</remarks>
internal sealed class CommandLineTarget : FuzzTarget
{
    public override string Name => "command-line";

    public override string Attacks => "options, environment and settings, in this process";

    public override bool IsText => true;

    public override int ShortRun => 10_000;

    public override byte[] Generate(Random random) => CommandLineInput.Generate(random);

    public override byte[] Mutate(byte[] input, byte[] other, Random random) => CommandLineInput.Mutate(input, other, random);

    public override string Run(byte[] input)
    {
        var lines = CommandLineInput.Read(input);
        var outcome = "";
        try
        {
            switch (lines.Command)
            {
                case "up": outcome = $"up {UpCommand.Parse(lines.Arguments).Fsync}"; break;
                case "demo":
                    outcome = $"demo {UpOptions.From(CommandLines.Parse(DemoCommand.Command, lines.Arguments)).Embedded}";
                    break;
                default:
                    var settings = WorkerCommand.Settings(lines.Arguments, name => lines.Environment.GetValueOrDefault(name));
                    outcome = $"worker {settings.SidecarKind} {settings.LogKind} {Settings(lines, settings)}";
                    break;
            }
        }
        catch (UsageException wrong)
        {
            outcome = wrong.Message;
        }

        return outcome.Length > 0 && !outcome.Contains("   at ", StringComparison.Ordinal) ? outcome : throw new FuzzFailureException($"A message without words, or with a trace: {outcome}");
    }

    private static string Settings(CommandLineInput lines, WorkerSettings settings)
    {
        var configuration = new ConfigurationBuilder().AddInMemoryCollection(lines.Settings.Select(pair => KeyValuePair.Create<string, string?>(pair.Key, pair.Value))).Build();
        _ = ServerActors.SmallBank(configuration);
        _ = WorkerConfiguration.Hosts(configuration);
        try
        {
            return $"{WorkerConfiguration.Worker(configuration, settings).Executors > 0}";
        }
        catch (Exception wrong) when (wrong is ArgumentOutOfRangeException or InvalidOperationException)
        {
            return wrong.Message;
        }
    }
}
