using System.Buffers.Binary;
using System.Diagnostics;
using System.Runtime.InteropServices;
using System.Security.Cryptography;
using Snapper.Runtime.Door;

namespace Snapper.Telemetry;

/// <summary>Which transactions are traced, and under which trace: the same on every worker that has part in one.</summary>
internal static class TraceSampling
{
    private const ulong Offset = 14695981039346656037;
    private const ulong Prime = 1099511628211;

    /// <summary>The caller's decision, if it counts and there is a valid one; else a share of all, by the request's id. Allocates nothing.</summary>
    public static bool IsSampled(TelemetryOptions options, string requestId, string? traceParent)
    {
        if (options.FollowsCaller && TraceContext.IsValid(traceParent))
        {
            return TraceContext.IsSampled(traceParent!);
        }

        return options.Ratio switch
        {
            <= 0 => false,
            >= 1 => true,
            _ => Hash(requestId) < options.Ratio * ulong.MaxValue,
        };
    }

    /// <summary>The trace of a request that came without one: made of its id, so that workers that do not know of each other agree.</summary>
    public static ActivityTraceId TraceOf(string requestId) =>
        ActivityTraceId.CreateFromBytes(SHA256.HashData(MemoryMarshal.AsBytes(requestId.AsSpan())).AsSpan(0, 16));

    private static ulong Hash(string text)
    {
        var hash = Offset;
        foreach (var c in text)
        {
            hash = (hash ^ c) * Prime;
        }

        // The upper bits of FNV differ little between ids that are alike at the end.
        return BinaryPrimitives.ReverseEndianness(hash) * 0x9E3779B97F4A7C15;
    }
}
