using System.Globalization;
using Snapper.AspNetCore.Api;
using Snapper.Cluster.Balancing;
using Snapper.Protocol.Channels;
using Snapper.Runtime.Execution;
using Snapper.Security;
using Snapper.Storage.Membership;
using Snapper.Storage.Redis;

namespace Snapper.AspNetCore.Hosting;

/// <summary>What configuration makes of a worker.</summary>
internal static class WorkerConfiguration
{
    public static string Version { get; } = typeof(WorkerConfiguration).Assembly.GetName().Version?.ToString(3) ?? "0.0.0";

    /// <summary>The section <c>Snapper:Http</c>: <c>AllowedHosts</c> and <c>AllowedOrigins</c>, separated by semicolons.</summary>
    public static HostRules Hosts(IConfiguration configuration)
    {
        var section = configuration.GetSection("Snapper:Http");
        return new HostRules { AllowedHosts = List(nameof(HostRules.AllowedHosts)), AllowedOrigins = List(nameof(HostRules.AllowedOrigins)) };

        string[] List(string name) => section[name]?.Split(';', StringSplitOptions.TrimEntries | StringSplitOptions.RemoveEmptyEntries) ?? [];
    }

    /// <summary>The section <c>Snapper:Worker</c> (environment: <c>Snapper__Worker__Executors</c> and so on) on top of the defaults.</summary>
    /// <exception cref="ArgumentOutOfRangeException">A setting is out of its range.</exception>
    public static WorkerOptions Worker(IConfiguration configuration, WorkerSettings settings)
    {
        var section = configuration.GetSection("Snapper:Worker");
        var standard = new WorkerOptions();
        var security = SecuritySettings.Read(configuration);
        var options = new WorkerOptions
        {
            Name = settings.Name,
            Number = NumberOf(settings.Name),
            Executors = section.GetValue(nameof(WorkerOptions.Executors), standard.Executors),
            Coordinators = section.GetValue(nameof(WorkerOptions.Coordinators), standard.Coordinators),
            TransactionsPerBatch = section.GetValue(nameof(WorkerOptions.TransactionsPerBatch), standard.TransactionsPerBatch),
            OpenBatches = section.GetValue(nameof(WorkerOptions.OpenBatches), standard.OpenBatches),
            TurnBound = section.GetValue(nameof(WorkerOptions.TurnBound), standard.TurnBound),
            MaxCallDepth = section.GetValue(nameof(WorkerOptions.MaxCallDepth), standard.MaxCallDepth),
            MaxStateBytes = section.GetValue(nameof(WorkerOptions.MaxStateBytes), standard.MaxStateBytes),
            MaxResultBytes = section.GetValue(nameof(WorkerOptions.MaxResultBytes), standard.MaxResultBytes),
            MaxKeptResultBytes = section.GetValue(
                nameof(WorkerOptions.MaxKeptResultBytes), standard.MaxKeptResultBytes),
            MaxTransactionBytes = section.GetValue(nameof(WorkerOptions.MaxTransactionBytes), standard.MaxTransactionBytes),
            MaxInFlight = section.GetValue(nameof(WorkerOptions.MaxInFlight), standard.MaxInFlight),
            MaxHeldBytes = section.GetValue(nameof(WorkerOptions.MaxHeldBytes), standard.MaxHeldBytes),
            MaxRequestIds = section.GetValue(nameof(WorkerOptions.MaxRequestIds), standard.MaxRequestIds),
            RequestIdShare = security.Share,
            StoreFullAt = section.GetValue(nameof(WorkerOptions.StoreFullAt), standard.StoreFullAt),
            IdempotencyWindow = section.GetValue(nameof(WorkerOptions.IdempotencyWindow), standard.IdempotencyWindow),
            FirstBackOff = section.GetValue(nameof(WorkerOptions.FirstBackOff), standard.FirstBackOff),
            TenantsApart = security.TenantsApart,
            CallerTimeShare = section.GetValue<double?>(nameof(WorkerOptions.CallerTimeShare)),
            MaxActorBytes = section.GetValue(nameof(WorkerOptions.MaxActorBytes), standard.MaxActorBytes),
            LoadsAhead = section.GetValue(nameof(WorkerOptions.LoadsAhead), standard.LoadsAhead),
            IdleActorTimeout = section.GetValue(nameof(WorkerOptions.IdleActorTimeout), standard.IdleActorTimeout),
        };
        options.Validate();
        return options;
    }

    /// <summary>What requests and answers may hold: what was said, or a part of what the heap may grow to.</summary>
    /// <param name="options">What was said.</param>
    /// <param name="heapLimit">Bytes.</param>
    public static long HeldBytes(WorkerOptions options, long heapLimit) =>
        options.MaxHeldBytes > 0 ? options.MaxHeldBytes : Math.Max(heapLimit / 4, 64L << 20);

    /// <summary>Looks whether what one worker may have goes between several.</summary>
    /// <exception cref="UsageException">It does not.</exception>
    public static void ForSeveral(WorkerOptions options)
    {
        var most = new ChannelLimits().ContentBytes;
        if (options.MaxResultBytes > most)
        {
            throw new UsageException(string.Create(
                CultureInfo.InvariantCulture,
                $"""
                Snapper:Worker:MaxResultBytes is {options.MaxResultBytes}, and this is one of several workers
                (--workers), between which results of at most {most} bytes go. Make it smaller, or run one worker alone.
                """).ReplaceLineEndings(" "));
        }
    }

    /// <summary>The section <c>Snapper:Cluster</c>: <c>Lease</c>, the same for all workers.</summary>
    public static ClusterOptions Cluster(IConfiguration configuration)
    {
        var standard = new ClusterOptions();
        return standard with { Lease = configuration.GetSection("Snapper:Cluster").GetValue(nameof(ClusterOptions.Lease), standard.Lease) };
    }

    /// <summary>The section <c>Snapper:Log</c>: <c>Replicas</c> and <c>ReplicaTimeout</c>.</summary>
    /// <param name="configuration">Of the process.</param>
    /// <param name="kind">Where the log is.</param>
    /// <exception cref="ArgumentException">A setting is out of its range, or the log has no replicas.</exception>
    public static LogReplicas Log(IConfiguration configuration, LogKind kind)
    {
        var section = configuration.GetSection("Snapper:Log");
        var standard = new RedisOptions();
        var replicas = section.GetValue(nameof(LogReplicas.Replicas), standard.Replicas);
        var timeout = section.GetValue(nameof(LogReplicas.ReplicaTimeout), standard.ReplicaTimeout);
        if (replicas is < 0 or > RedisOptions.ReplicasMax)
        {
            throw new ArgumentException(string.Create(
                CultureInfo.InvariantCulture,
                $"Snapper:Log:Replicas must be 0 to {RedisOptions.ReplicasMax}, not {replicas}."));
        }

        if (timeout < RedisOptions.ReplicaTimeoutMin || timeout > RedisOptions.ReplicaTimeoutMax)
        {
            throw new ArgumentException(
                $"Snapper:Log:ReplicaTimeout must be {RedisOptions.ReplicaTimeoutMin:c} to "
                + $"{RedisOptions.ReplicaTimeoutMax:c}, not {timeout:c}.");
        }

        if (replicas > 0 && kind != LogKind.Redis)
        {
            throw new ArgumentException(string.Create(
                CultureInfo.InvariantCulture,
                $"Snapper:Log:Replicas is {replicas}, and the log is in files, which have no replicas: name a Redis."));
        }

        return new LogReplicas(replicas, timeout);
    }

    /// <summary>
    /// The section <c>Snapper:Cluster</c>: <c>Policy</c>, off, propose or execute, and <c>PolicyInterval</c>.
    /// </summary>
    public static BalancingOptions Balancing(IConfiguration configuration)
    {
        var standard = new BalancingOptions();
        var section = configuration.GetSection("Snapper:Cluster");
        var options = new BalancingOptions { Mode = section.GetValue("Policy", standard.Mode), Interval = section.GetValue("PolicyInterval", standard.Interval) };
        options.Validate();
        return options;
    }

    /// <summary>
    /// The number at the end of the name, which ACT numbers carry: <c>w3</c> is 3; a name without one is 0.
    /// </summary>
    private static int NumberOf(string name)
    {
        var digits = name.Length;
        while (digits > 0 && char.IsAsciiDigit(name[digits - 1]))
        {
            digits--;
        }

        return int.TryParse(name.AsSpan(digits), out var number) && number < Protocol.Identity.TransactionId.WorkerLimit ? number : 0;
    }
}

/// <summary>Which replicas of a Redis must have what is acknowledged.</summary>
/// <param name="Replicas">How many; 0: none.</param>
/// <param name="ReplicaTimeout">How long an append waits for them before it is in doubt, and sent again.</param>
internal sealed record LogReplicas(int Replicas, TimeSpan ReplicaTimeout);
