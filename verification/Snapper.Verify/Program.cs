using Snapper.Fuzzing.Engine;
using Snapper.Verify;

using var interruption = new Interruption();
if (args.Contains("--fuzz"))
{
    return interruption.ExitCode(FuzzCommand.Run(args, interruption.Token));
}

if (args.Contains("--nightly"))
{
    return interruption.ExitCode(await NightlyRun.Run(args, interruption.Token));
}

if (args.Contains("--live"))
{
    return interruption.ExitCode(await LiveCommand.Run(args, interruption.Token));
}

VerifyOptions options;
try
{
    options = VerifyOptions.Parse(args);
}
catch (FormatException wrong)
{
    Console.Error.WriteLine(wrong.Message);
    Console.Error.WriteLine("'./snapper verify --seeds 1 --help' says all options.");
    return 2;
}

if (options.ShowHelp)
{
    Console.WriteLine(VerifyOptions.Help + "\n" + NightlyRun.Help + "\n" + FuzzCommand.Help);
    return 0;
}

return interruption.ExitCode(options.What switch
{
    VerifyTask.Replay when options.Cluster is { } cluster => new SeveralWorkersRun(options).Replay(cluster, interruption.Token),
    VerifyTask.Replay => new OneWorkerRun(options).Replay(options.Scenario!, interruption.Token),
    VerifyTask.Plant => PlantRun.Run(options, interruption.Token),
    VerifyTask.Model => RuleModelRun.Run(options, interruption.Token),
    _ when options.Workers is not null => new SeveralWorkersRun(options).Run(interruption.Token),
    _ => new OneWorkerRun(options).Run(interruption.Token),
});
