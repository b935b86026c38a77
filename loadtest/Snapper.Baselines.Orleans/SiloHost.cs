using System.Net;
using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.Hosting;
using Microsoft.AspNetCore.Server.Kestrel.Core;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Hosting;
using Microsoft.Extensions.Logging;
using Orleans.Configuration;
using Orleans.Runtime;
using Orleans.Storage;

namespace Snapper.Baselines.Orleans;

/// <summary>Where a silo listens, all on the loopback interface.</summary>
/// <param name="Port">For other silos.</param>
/// <param name="Gateway">For clients of Orleans, of which there are none.</param>
/// <param name="Http">For requests.</param>
/// <param name="Primary">Port of the first silo, which keeps the membership; its own, when this is the first.</param>
public sealed record SiloPorts(int Port, int Gateway, int Http, int Primary);

/// <summary>A silo with transactions, grain storage in memory, and a bare Kestrel beside it.</summary>
public static class SiloHost
{
    /// <summary>Name of the grain storage.</summary>
    public const string Storage = "memory";

    private static readonly TimeSpan s_joinDeadline = TimeSpan.FromSeconds(30);

    /// <summary>Builds it; the caller starts it.</summary>
    public static WebApplication Build(SiloPorts ports)
    {
        var builder = WebApplication.CreateSlimBuilder();
        builder.Logging.ClearProviders();
        builder.Logging.AddConsole().SetMinimumLevel(LogLevel.Error);
        builder.WebHost.ConfigureKestrel(options =>
        {
            options.AddServerHeader = false;
            options.Listen(IPAddress.Loopback, ports.Http, static listen => listen.Protocols = HttpProtocols.Http1);
        });
        builder.Host.UseOrleans(silo =>
        {
            var primary = new IPEndPoint(IPAddress.Loopback, ports.Primary);
            silo.UseLocalhostClustering(ports.Port, ports.Gateway, ports.Port == ports.Primary ? null : primary);
            silo.UseTransactions();
            silo.AddMemoryGrainStorage(Storage);
            silo.Services.AddOptions<MemoryGrainStorageOptions>(Storage).Configure<OrleansGrainStorageSerializer>(
                static (options, binary) => options.GrainStorageSerializer = binary);
        });
        builder.Services.AddSingleton<OrleansGrainStorageSerializer>();
        builder.Services.AddSingleton<Bank>();
        builder.Services.AddSingleton<TransactionalLists>();
        builder.Services.AddSingleton<HttpDoor>();
        var app = builder.Build();
        app.Run(app.Services.GetRequiredService<HttpDoor>().HandleAsync);
        return app;
    }

    /// <summary>Waits until it knows so many silos, itself included.</summary>
    /// <exception cref="TimeoutException">They did not find each other.</exception>
    public static async Task WaitForAsync(WebApplication silo, int silos)
    {
        var oracle = silo.Services.GetRequiredService<ISiloStatusOracle>();
        using var late = new CancellationTokenSource(s_joinDeadline);
        while (oracle.GetApproximateSiloStatuses(onlyActive: true).Count < silos)
        {
            if (late.IsCancellationRequested)
            {
                throw new TimeoutException($"There are no {silos} silos.");
            }

            await Task.Delay(TimeSpan.FromMilliseconds(20));
        }
    }
}
