using Snapper.AspNetCore.Processes;
using Snapper.Server.Commands;

// What a worker makes is for its own account alone: states, logs, the audit.
if (args is ["worker", ..]) FileModeMask.FromNowOn();

return await ServerCommands.Run(ServerCommands.Program(), args, Console.Out, Console.Error);
