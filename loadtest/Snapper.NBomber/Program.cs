using Snapper.NBomberHost;

return await Host.Run(args);
