using StackExchange.Redis;

namespace Snapper.Storage.Log;

/// <summary>Tells a storage that is away from one that is wrong.</summary>
public static class StorageFaults
{
    /// <summary>
    /// Trying again may help: the server is away, starting, or has no room. A damaged log is not, and neither is a programming error.
    /// </summary>
    public static bool IsPassing(Exception exception) => exception is IOException or TimeoutException or RedisException;
}
