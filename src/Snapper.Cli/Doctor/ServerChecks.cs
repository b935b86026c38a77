using Snapper.AspNetCore.Processes;
using Snapper.Cli.Supervision;

namespace Snapper.Cli.Doctor;

/// <summary>Redis and Dapr, as <c>up</c> would find them.</summary>
internal static class ServerChecks
{
    public static async Task<IReadOnlyList<DoctorRow>> All(UpOptions options, ExecutableFinder finder) =>
    [
        RedisServer(options, finder),
        await ConfiguredRedis(options),
        Program("daprd", options, () => ServerPrograms.Daprd(finder)),
        Program("placement", options, () => ServerPrograms.Placement(finder)),
        Components(),
    ];

    private static DoctorRow RedisServer(UpOptions options, ExecutableFinder finder)
    {
        try
        {
            var found = ServerPrograms.Redis(finder);
            if (found.Path is not null) return new DoctorRow(Health.Good, "redis-server", found.Finding);
            if (options.Workers > 1 && options.Redis is null) return new DoctorRow(Health.Broken, "redis-server", $"{found.Finding}: several workers share a Redis", FixHints.Redis);
            return options.Redis is not null
                ? new DoctorRow(Health.Good, "redis-server", $"{found.Finding}; not needed, a Redis is configured")
                : new DoctorRow(Health.Limited, "redis-server", $"{found.Finding}: the log would be a local file", FixHints.Redis);
        }
        catch (StartupException wrong)
        {
            return new DoctorRow(options.Redis is null ? Health.Broken : Health.Limited, "redis-server", wrong.Message, FixHints.Variable);
        }
    }

    private static async Task<DoctorRow> ConfiguredRedis(UpOptions options)
    {
        const string check = "configured Redis";
        if (options.Redis is not { } address) return new DoctorRow(Health.Good, check, "none: a private one is used (--redis or SNAPPER_REDIS names one)");
        try
        {
            if (await RedisProbe.Unavailable(address, options.RedisLogin) is { } why) throw new StartupException($"{address}: {why}");
            var facts = await RedisProbe.Facts(address, options.RedisLogin);
            var memory = facts is null ? "" : facts.MaxMemoryBytes == 0 ? ", no memory limit"
                : $", maxmemory {facts.MaxMemoryBytes / (1024 * 1024)} MB, {facts.MaxMemoryPolicy}";
            var finding = $"{address}: Redis {facts?.ServerVersion}{memory}";
            if (RedisProbe.Refusal(facts) is { } refusal) return new DoctorRow(Health.Broken, check, finding, refusal);
            var warnings = RedisProbe.Warnings(facts, options.Replicas)
                .Concat(MachineChecks.ClockDiffers(facts?.Clock)).ToArray();
            return new DoctorRow(warnings.Length == 0 ? Health.Good : Health.Limited, check, finding, string.Join("; ", warnings));
        }
        catch (StartupException broke)
        {
            return new DoctorRow(Health.Broken, check, broke.Message, FixHints.NamedRedis);
        }
    }

    private static DoctorRow Program(string name, UpOptions options, Func<FoundProgram> find)
    {
        try
        {
            var found = find();
            return found.Path is not null ? new DoctorRow(Health.Good, name, found.Finding)
                : options.Workers > 1 ? new DoctorRow(Health.Broken, name, $"{found.Finding}: several workers speak through daprd", FixHints.Dapr)
                : new DoctorRow(Health.Limited, name, $"{found.Finding}: the embedded stand-in would be used", FixHints.Dapr);
        }
        catch (StartupException wrong)
        {
            return new DoctorRow(Health.Broken, name, wrong.Message, FixHints.Variable);
        }
    }

    private static DoctorRow Components()
    {
        const string check = "components";
        try
        {
            return Repository.Components() is { } folder
                ? new DoctorRow(Health.Good, check, folder)
                : new DoctorRow(Health.Limited, check, "none: daprd hosts actors only beside a state store",
                    "set SNAPPER_COMPONENTS to the folder components of the repository");
        }
        catch (StartupException wrong)
        {
            return new DoctorRow(Health.Broken, check, wrong.Message, FixHints.Variable);
        }
    }
}
