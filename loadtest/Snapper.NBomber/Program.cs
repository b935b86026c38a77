using Snapper.NBomberHost;

return Host.Run(args);
