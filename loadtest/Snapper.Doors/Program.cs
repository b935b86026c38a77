using System.Globalization;
using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.Hosting;
using Microsoft.Extensions.Configuration;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Hosting;
using Microsoft.Extensions.Logging;
using Snapper.Apps.SmallBank;
using Snapper.AspNetCore;
using Snapper.AspNetCore.Hosting;
using Snapper.Doors;

if (args is not [var portText, var sidecar, var sidecarPort, var folder]
    || !int.TryParse(portText, NumberStyles.None, CultureInfo.InvariantCulture, out var port))
{
    Console.Error.WriteLine(
        "usage: Snapper.Doors PORT daprd|embedded SIDECAR-PORT FOLDER   (one worker, several actor doors, loopback)");
    return 2;
}

var builder = WebApplication.CreateSlimBuilder();
builder.Configuration.AddInMemoryCollection(new Dictionary<string, string?>
{
    ["Snapper:Sidecar"] = sidecar,
    ["Snapper:SidecarPort"] = sidecarPort,
    ["Snapper:DataDirectory"] = folder,
    ["Snapper:Fsync"] = "EverySecond",
});
builder.WebHost.UseUrls($"http://127.0.0.1:{port}");
builder.Logging.ClearProviders();
builder.Logging.AddConsole().SetMinimumLevel(LogLevel.Warning);
builder.Services.AddSnapper(static options => options.AddActors(SnapperAppsSmallBankActors.All));
builder.Services.AddActors(static options =>
{
    options.ReentrancyConfig.Enabled = true;
    options.Actors.RegisterActor<TypedAccount>("TypedAccount");
    options.Actors.RegisterActor<PassingAccount>("PassingAccount");
    options.Actors.RegisterActor<PassingAccount>("SharedAccount", static type => type.Activator = new OneForAll());
});
await using var app = builder.Build();
PassedRequest.Before(app.MapActorsHandlers(), app, "PassingAccount", "SharedAccount");
app.MapSnapper();
app.MapGet("/heap", static () => GC.GetTotalMemory(forceFullCollection: true));
await app.StartAsync();
var door = app.Services.GetRequiredService<WorkerParts>().Door;
while (door.ClosedBecause is not null)
{
    await Task.Delay(TimeSpan.FromMilliseconds(20));
}

Console.WriteLine("listening");
await app.WaitForShutdownAsync();
return Environment.ExitCode;
