using System.Net.Sockets;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Diagnostics.HealthChecks;

namespace Snapper.Samples.Aspire;

/// <summary>Programs of this machine, as there is no package here that makes Dapr's sidecars.</summary>
internal static class Programs
{
    /// <summary>Where a program is: on PATH, or in Dapr's own folder.</summary>
    /// <exception cref="FileNotFoundException">It is in neither.</exception>
    public static string Find(string name)
    {
        var home = Environment.GetFolderPath(Environment.SpecialFolder.UserProfile);
        var file = OperatingSystem.IsWindows() ? name + ".exe" : name;
        return (Environment.GetEnvironmentVariable("PATH") ?? "").Split(Path.PathSeparator)
            .Append(Path.Combine(home, ".dapr", "bin")).Select(folder => Path.Combine(folder, file))
            .FirstOrDefault(File.Exists) ?? throw new FileNotFoundException(
                $"{name} is neither on PATH nor in ~/.dapr/bin: './snapper setup' installs what is missing.");
    }

    /// <summary>A health check that succeeds when something listens at a port; returns its name.</summary>
    public static string AddPortCheck(this IDistributedApplicationBuilder builder, string name, int port)
    {
        builder.Services.AddHealthChecks().AddAsyncCheck(name, async cancellation =>
        {
            using var client = new TcpClient();
            try
            {
                await client.ConnectAsync("127.0.0.1", port, cancellation);
                return HealthCheckResult.Healthy();
            }
            catch (SocketException notYet)
            {
                return HealthCheckResult.Unhealthy(notYet.Message);
            }
        });
        return name;
    }
}
