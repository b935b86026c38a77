using Snapper.Sidecar.Tests;
using Snapper.Storage.Tests.Support;

namespace Snapper.DaprCompatibility.Tests;

/// <summary>Needs redis-server: shown as not run where it is missing, failed where CI=true.</summary>
[AttributeUsage(AttributeTargets.Method)]
public sealed class RedisFactAttribute : FactAttribute
{
    public RedisFactAttribute() => Skip = Reason;

    internal static string? Reason =>
        RedisServer.FindExecutable() is null && Environment.GetEnvironmentVariable("CI") != "true"
            ? RedisServer.NotFound : null;
}

/// <summary>Needs daprd and placement as well.</summary>
[AttributeUsage(AttributeTargets.Method)]
public sealed class ServersFactAttribute : FactAttribute
{
    public ServersFactAttribute() => Skip = RedisFactAttribute.Reason ?? DaprBinaries.SkipReason;
}
