using Snapper.Fuzzing.Engine;
using Snapper.Verify;

if (args.Contains("--fuzz"))
{
    return FuzzCommand.Run(args);
}

if (args.Contains("--live"))
{
    return await LiveCommand.Run(args);
}

VerifyOptions options;
try
{
    options = VerifyOptions.Parse(args);
}
catch (FormatException wrong)
{
    Console.Error.WriteLine(wrong.Message);
    Console.Error.WriteLine();
    Console.Error.WriteLine(VerifyOptions.Help + "\n" + FuzzCommand.Help);
    return 2;
}

if (options.ShowHelp)
{
    Console.WriteLine(VerifyOptions.Help + "\n" + FuzzCommand.Help);
    return 0;
}

return options.What switch
{
    VerifyTask.Replay => Replay.Run(options),
    VerifyTask.Plant => PlantRun.Run(options),
    VerifyTask.Model => RuleModelRun.Run(options),
    _ => SeedRun.Run(options),
};
