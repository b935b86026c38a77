using System.ComponentModel;
using System.Globalization;
using System.Reflection;
using Snapper.AspNetCore.Applications;
using Snapper.AspNetCore.Hosting;
using Snapper.AspNetCore.Processes;
using Snapper.Runtime.Execution;

namespace Snapper.AspNetCore;

/// <summary>The section <c>Snapper</c> of a web application's configuration, and what it makes of a worker.</summary>
internal static class SnapperSettings
{
    /// <summary>Name of the section.</summary>
    public const string Section = "Snapper";

    private static readonly Dictionary<string, PropertyInfo> s_options = typeof(SnapperOptions)
        .GetProperties().ToDictionary(static option => option.Name, StringComparer.OrdinalIgnoreCase);

    // Sections that are read elsewhere, with what they may hold.
    private static readonly Dictionary<string, HashSet<string>> s_sections = new(StringComparer.OrdinalIgnoreCase)
    {
        ["Worker"] = Names(
            typeof(WorkerOptions).GetProperties().Select(static option => option.Name).Except(
            [
                nameof(WorkerOptions.Name), nameof(WorkerOptions.Number), nameof(WorkerOptions.RequestIdShare),
                nameof(WorkerOptions.TenantsApart),
            ])),
        ["Http"] = Names(["AllowedHosts", "AllowedOrigins"]),
        ["Cluster"] = Names(["Lease", "Policy", "PolicyInterval", .. LinkConfiguration.Names]),
        ["Log"] = Names([nameof(LogReplicas.Replicas), nameof(LogReplicas.ReplicaTimeout)]),
        ["Security"] = Names(
            ["Tokens", "TokensFile", "Methods", "TenantsApart", "SidecarMay", "Share", "RatePerSecond", "Burst"]),
    };

    /// <summary>Takes what the section says.</summary>
    /// <exception cref="UsageException">A key is unknown, or a value is wrong; the message names it.</exception>
    public static void Read(IConfiguration configuration, SnapperOptions options)
    {
        foreach (var setting in configuration.GetSection(Section).GetChildren())
        {
            if (s_sections.TryGetValue(setting.Key, out var names))
            {
                Check(setting, names);
            }

            // Snapper:Log is both: its value says where the log is, and the section how it is kept.
            if (s_options.TryGetValue(setting.Key, out var option))
            {
                if (names is null || setting.Value is not null)
                {
                    option.SetValue(options, Value(setting, option.PropertyType));
                }
            }
            else if (names is null)
            {
                throw Unknown(setting.Path, s_options.Keys.Concat(s_sections.Keys));
            }
        }
    }

    /// <summary>
    /// Looks at the sections that all workers have. All else is of the program that hosts the worker.
    /// </summary>
    /// <exception cref="UsageException">A key of theirs is unknown; the message names it.</exception>
    public static void CheckSections(IConfiguration configuration)
    {
        foreach (var (section, names) in s_sections)
        {
            Check(configuration.GetSection($"{Section}:{section}"), names);
        }
    }

    private static void Check(IConfigurationSection section, HashSet<string> names)
    {
        if (section.GetChildren().FirstOrDefault(one => !names.Contains(one.Key)) is { } wrong)
        {
            throw Unknown(wrong.Path, names);
        }
    }

    /// <summary>What a worker is told.</summary>
    /// <param name="options">By the application.</param>
    /// <param name="services">All services of the application.</param>
    /// <param name="environment">A variable; null: it is not set.</param>
    /// <exception cref="UsageException">An option is wrong or missing; the message names it.</exception>
    public static WorkerSettings ToWorker(
        SnapperOptions options, IServiceCollection services, Func<string, string?> environment)
    {
        var actors = new HostedActors(options.Actors, hosted: type => ScopedActors.Of(type, services));
        if (actors.Types.Count == 0)
        {
            throw new UsageException("AddSnapper has no actor types: options.AddActors(...) adds them.");
        }

        var place = Set(options.Redis);
        if (options.Log == LogKind.Redis && place is null)
        {
            throw Wrong(nameof(options.Redis), "must be set: the log shall be in Redis");
        }

        var redis = options.Log == LogKind.File || place is null ? null
            : RedisAddress.Parse(place, fromCommandLine: false);
        var daprPort = Set(environment("DAPR_HTTP_PORT"));
        var sidecar = options.Sidecar ?? (daprPort is null ? SidecarKind.Embedded : SidecarKind.Daprd);
        var seal = MailboxSeal.From(environment(MailboxSeal.Variable));
        if (options.Workers is { } workers)
        {
            if (workers is < 1 or > 1023) throw Wrong(nameof(options.Workers), "must be 1 to 1023");
            if (redis is null)
            {
                throw Wrong(nameof(options.Workers), "needs Snapper:Redis: several workers share a Redis");
            }

            if (seal is null) throw MailboxSeal.IsMissing();
        }

        if (options.LeaveOnStop is { } leave && (leave < TimeSpan.FromSeconds(1) || leave > TimeSpan.FromMinutes(10)))
        {
            throw Wrong(nameof(options.LeaveOnStop), "must be 00:00:01 to 00:10:00");
        }

        var appId = options.AppId ?? Set(environment("APP_ID")) ?? WorkerSettings.DefaultAppId;
        return new WorkerSettings
        {
            Name = Name(nameof(options.Name), options.Name),
            AppId = Name(nameof(options.AppId), appId),
            Actors = actors,
            ListenPort = 0, // known once it listens
            Url = options.Url,
            SidecarKind = sidecar,
            SidecarPort = options.SidecarPort ?? PortOf(daprPort),
            LogKind = redis is null ? LogKind.File : LogKind.Redis,
            RedisAddress = redis?.Place.ToString(),
            RedisLogin = redis is null ? null : RedisLogin.From(redis, environment),
            FirstWorkers = options.Workers,
            MailboxSeal = seal,
            LeaveOnStop = options.LeaveOnStop,
            TakeShare = options.TakeShare,
            DataDirectory = Path.GetFullPath(options.DataDirectory),
            Fsync = options.Fsync,
            DaprApiToken = Set(environment("DAPR_API_TOKEN")),
            AppApiToken = Set(environment("APP_API_TOKEN")),
        };
    }

    private static int PortOf(string? text) => text is null ? 3500
        : int.TryParse(text, NumberStyles.None, CultureInfo.InvariantCulture, out var port) ? port
        : throw new UsageException($"DAPR_HTTP_PORT must be a port, not '{text}'.");

    private static object? Value(IConfigurationSection setting, Type type)
    {
        var plain = Nullable.GetUnderlyingType(type) ?? type;
        try
        {
            return setting.Value is not { Length: > 0 } text
                ? throw new FormatException("it has no value")
                : plain == typeof(string) ? text
                : TypeDescriptor.GetConverter(plain).ConvertFromInvariantString(text);
        }
        catch (Exception wrong) when (wrong is FormatException or ArgumentException or NotSupportedException)
        {
            var allowed = plain.IsEnum ? $"one of {string.Join(", ", Enum.GetNames(plain))}" : $"a {plain.Name}";
            throw new UsageException($"{setting.Path} must be {allowed}: {wrong.Message}");
        }
    }

    private static string Name(string option, string text) => WorkerSettings.IsName(text)
        ? text
        : throw Wrong(option, $"must be {WorkerSettings.NameRule}");

    private static string? Set(string? text) => string.IsNullOrEmpty(text) ? null : text;

    private static UsageException Wrong(string option, string why) => new($"{Section}:{option} {why}.");

    private static UsageException Unknown(string key, IEnumerable<string> known) =>
        new($"The configuration has the key {key}, which is not known. Known there: "
            + $"{string.Join(", ", known.Order())}.");

    private static HashSet<string> Names(IEnumerable<string> names) => new(names, StringComparer.OrdinalIgnoreCase);
}
