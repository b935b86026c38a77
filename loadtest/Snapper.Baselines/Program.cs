using System.Globalization;
using Microsoft.Extensions.Hosting;
using Snapper.Baselines;

if (args.Length != 2
    || !int.TryParse(args[0], NumberStyles.None, CultureInfo.InvariantCulture, out var port)
    || !int.TryParse(args[1], NumberStyles.None, CultureInfo.InvariantCulture, out var sidecarPort))
{
    Console.Error.WriteLine("usage: Snapper.Baselines PORT SIDECAR-HTTP-PORT   (hosts the actor type PlainAccount for a Dapr sidecar, loopback only)");
    return 2;
}

using var sidecar = new SidecarCaller(sidecarPort);
await using var app = BaselineHost.Build(port, new ActorEndpoint(sidecar));
await app.StartAsync();
Console.WriteLine("listening");

// Until SIGTERM or Ctrl-C.
await app.WaitForShutdownAsync();
return 0;
