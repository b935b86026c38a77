using System.Globalization;
using System.Security.Cryptography;

namespace Snapper.Client;

/// <summary>Generates idempotency keys: 128 random bits per client, then a counter.</summary>
internal sealed class RequestIds
{
    private readonly string _prefix = Convert.ToHexStringLower(RandomNumberGenerator.GetBytes(16)) + "-";
    private long _counter;

    public string Next() => string.Create(CultureInfo.InvariantCulture, $"{_prefix}{Interlocked.Increment(ref _counter)}");
}
