using Snapper.Server.Cli;

return await CommandLine.Run(args, Console.Out, Console.Error);
