using Snapper.Server.Supervision;

namespace Snapper.Server.Cli.Doctor;

/// <summary>Redis and Dapr, as <c>up</c> would find them.</summary>
internal static class ServerChecks
{
    private const string DaprFix = "install Dapr 1.18.1 or later ('dapr init --slim' fills ~/.dapr/bin), or set SNAPPER_DAPRD and SNAPPER_PLACEMENT";

    /// <summary>One row per server.</summary>
    public static async Task<IReadOnlyList<DoctorRow>> All(UpOptions options, ExecutableFinder finder) =>
    [
        RedisServer(options, finder),
        await ConfiguredRedis(options),
        Program("daprd", () => ServerPrograms.Daprd(finder)),
        Program("placement", () => ServerPrograms.Placement(finder)),
    ];

    private static DoctorRow RedisServer(UpOptions options, ExecutableFinder finder)
    {
        try
        {
            var found = ServerPrograms.Redis(finder);
            if (found.Path is not null) return new DoctorRow(Health.Good, "redis-server", found.Finding);
            return options.Redis is not null
                ? new DoctorRow(Health.Good, "redis-server", $"{found.Finding}; not needed, a Redis is configured")
                : new DoctorRow(Health.Limited, "redis-server", $"{found.Finding}: the log would be a local file", "install Redis 6.2 or later (apt-get install redis-server), or name one with --redis");
        }
        catch (StartupException wrong)
        {
            return new DoctorRow(options.Redis is null ? Health.Broken : Health.Limited, "redis-server", wrong.Message, "correct or remove the variable");
        }
    }

    private static async Task<DoctorRow> ConfiguredRedis(UpOptions options)
    {
        const string check = "configured Redis";
        if (options.Redis is not { } address) return new DoctorRow(Health.Good, check, "none: a private one is used (--redis or SNAPPER_REDIS names one)");
        if (await RedisProbe.Unavailable(address, CancellationToken.None, options.RedisLogin) is { } why)
        {
            return new DoctorRow(Health.Broken, check, $"{address}: {why}", "start it, or leave --redis and SNAPPER_REDIS out");
        }

        RedisFacts facts;
        try
        {
            facts = await RedisProbe.Facts(address, CancellationToken.None, options.RedisLogin);
        }
        catch (StartupException broke)
        {
            return new DoctorRow(Health.Broken, check, broke.Message, "start it, or leave --redis and SNAPPER_REDIS out");
        }

        var memory = facts.MaxMemory == 0 ? "no memory limit" : $"maxmemory {facts.MaxMemory / (1024 * 1024)} MB, {facts.EvictionPolicy}";
        if (facts.Refusal() is { } refusal) return new DoctorRow(Health.Broken, check, $"{address}: Redis {facts.Version}, {memory}", refusal);
        var warnings = facts.Warnings().ToArray();
        return new DoctorRow(
            warnings.Length == 0 ? Health.Good : Health.Limited, check, $"{address}: Redis {facts.Version}, durability {facts.Durability}, {memory}", string.Join("; ", warnings));
    }

    private static DoctorRow Program(string name, Func<FoundProgram> find)
    {
        try
        {
            var found = find();
            return found.Path is not null
                ? new DoctorRow(Health.Good, name, found.Finding)
                : new DoctorRow(Health.Limited, name, $"{found.Finding}: the embedded stand-in would be used", DaprFix);
        }
        catch (StartupException wrong)
        {
            return new DoctorRow(Health.Broken, name, wrong.Message, "correct or remove the variable");
        }
    }
}
