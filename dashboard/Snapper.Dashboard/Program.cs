using Snapper.Dashboard.Hosting;

return await DashboardProgram.Run(args, Console.Error);
