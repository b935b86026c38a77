using Snapper.AspNetCore.Processes;
using Snapper.Storage.Redis;

namespace Snapper.AspNetCore.Hosting;

/// <summary>What tells one place of logs from another in what a worker remembers of its log: written by the worker, compared by the doctor.</summary>
internal static class RememberedPlace
{
    /// <summary>Files in the worker's own folder.</summary>
    public const string Files = "file";

    /// <summary>The Redis that <c>up</c> starts: its port changes from start to start, so that it does not count.</summary>
    public const string PrivateRedis = "redis, private";

    /// <summary>A Redis that somebody named.</summary>
    public static string Named(HostAndPort address) => $"redis {address}";

    /// <summary>The logs under one prefix of keys there.</summary>
    public static string OfRedis(string which, RedisOptions options) => $"{which} {options.KeyPrefix}";
}
