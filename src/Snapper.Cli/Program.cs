using Snapper.AspNetCore.Processes;
using Snapper.Cli.Commands;

// What these make, and what the parts make that they start, is this account's alone: states, logs, audit, Redis' files.
if (args is ["up" or "demo" or "worker" or "doctor" or "join" or "leave", ..]) FileModeMask.FromNowOn();

return await CommandLine.Run(args, Console.Out, Console.Error);
