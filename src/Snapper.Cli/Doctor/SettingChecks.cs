using Microsoft.AspNetCore.Builder;
using Snapper.AspNetCore;
using Snapper.AspNetCore.Hosting;
using Snapper.AspNetCore.Processes;
using Snapper.Server.Commands;
using Snapper.Server.Hosting;
using Snapper.Telemetry;

namespace Snapper.Cli.Doctor;

/// <summary>The settings that workers take from the environment, read as they read them.</summary>
internal static class SettingChecks
{
    /// <param name="actors">What the workers host.</param>
    /// <param name="mailboxSecret">Value of <see cref="MailboxSeal.Variable"/>.</param>
    public static DoctorRow Settings(HostedActors actors, string? mailboxSecret)
    {
        const string check = "settings";
        try
        {
            var configuration = WebApplication.CreateSlimBuilder(new WebApplicationOptions { ContentRootPath = AppContext.BaseDirectory }).Configuration;
            SnapperSettings.CheckSections(configuration);
            ServerActors.SmallBank(configuration);
            WorkerConfiguration.Worker(configuration, WorkerCommand.Settings([], _ => null));
            var token = Environment.GetEnvironmentVariable("APP_API_TOKEN");
            WorkerServices.Security(configuration, string.IsNullOrEmpty(token) ? null : token, actors);
            WorkerConfiguration.Cluster(configuration);
            WorkerConfiguration.Balancing(configuration);
            WorkerConfiguration.Log(configuration, LogKind.Redis);
            var seal = MailboxSeal.From(mailboxSecret);
            LinkConfiguration.Read(configuration, (seal ?? MailboxSeal.None).LinkKeys);
            TelemetryOptions.Read(Environment.GetEnvironmentVariable);
            return seal is { IsOn: false }
                ? OpenChannel(check)
                : new DoctorRow(Health.Good, check, "Snapper__... and OTEL_... of the environment are in range");
        }
        catch (Exception wrong) when (wrong is UsageException or ArgumentException or InvalidOperationException or FormatException or InvalidDataException or IOException)
        {
            return new DoctorRow(Health.Broken, check, wrong.Message, FixHints.Setting);
        }
    }

    private static DoctorRow OpenChannel(string check) => new(
        Health.Limited, check,
        $"{MailboxSeal.Variable} is '{MailboxSeal.NoSecret}': "
        + "every app that may call actors can send packets in the place of workers",
        FixHints.NoMailboxSecret);
}
