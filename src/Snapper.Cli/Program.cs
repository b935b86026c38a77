using Snapper.Cli.Commands;
using Snapper.Server.Processes;

// What these make, and what the parts make that they start, is nobody else's: states, logs, the audit, the Redis' files.
if (args is ["up" or "demo" or "worker" or "doctor" or "join" or "leave", ..]) FileModeMask.FromNowOn();

return await CommandLine.Run(args, Console.Out, Console.Error);
