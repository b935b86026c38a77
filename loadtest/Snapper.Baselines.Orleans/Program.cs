using System.Globalization;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Hosting;
using Snapper.Baselines.Orleans;

// A silo in a process of its own, which takes requests over HTTP and loads over its standard input (Driver). It ends
// with its input, with SIGTERM, and with Ctrl-C.
if (args is not [var port, var gateway, var http, var primary] || !args.All(static each => IsPort(each)))
{
    Console.Error.WriteLine(
        "usage: Snapper.Baselines.Orleans PORT GATEWAY-PORT HTTP-PORT PRIMARY-PORT   (loopback only)");
    return 2;
}

var ports = new SiloPorts(Number(port), Number(gateway), Number(http), Number(primary));
await using var app = SiloHost.Build(ports);
await app.StartAsync();
Console.WriteLine("listening");
var driver = new Driver(app);
_ = Task.Run(async () =>
{
    try
    {
        while (await Console.In.ReadLineAsync() is { } line)
        {
            Console.WriteLine(await driver.Answer(line));
        }
    }
    catch (Exception wrong)
    {
        await Console.Error.WriteLineAsync(wrong.ToString());
        Environment.ExitCode = 1;
    }

    app.Services.GetRequiredService<IHostApplicationLifetime>().StopApplication();
});
await app.WaitForShutdownAsync();
return Environment.ExitCode;

static bool IsPort(string text) => ushort.TryParse(text, NumberStyles.None, CultureInfo.InvariantCulture, out _);

static int Number(string text) => int.Parse(text, CultureInfo.InvariantCulture);
