using System.Globalization;
using Snapper.Runtime.Door;
using Snapper.Runtime.Execution;
using Snapper.Runtime.Requests;
using Snapper.Runtime.Tests.Support;
using Xunit;
using Xunit.Abstractions;

namespace Snapper.Runtime.Tests;

/// <summary>I3: what an id costs in memory. Nothing else runs meanwhile: the heap is weighed.</summary>
[Collection(Timing.Name)]
public sealed class IdMemoryTests(ITestOutputHelper output)
{
    private const long TicksOfASecond = 1000;
    private const long Minute = 60 * TicksOfASecond;

    [Theory]
    [InlineData(1_000_000)]
    [InlineData(3_000_000)]
    public void An_id_takes_at_most_64_bytes_and_gives_them_back(int ids)
    {
        var index = new IdempotencyIndex(new WorkerOptions(), TicksOfASecond);
        var before = Live();

        // As they come: over the eleven minutes for which they are kept.
        for (var i = 0; i < ids; i++)
        {
            index.End(Hash(i), null, new KeptOutcome(Hash(-i), i), (long)i * 11 * Minute / ids);
        }

        var full = Live();
        var bytes = (double)(full - before) / ids;
        output.WriteLine($"{bytes:0.0} bytes an id");
        Assert.Equal(ids, index.Kept);
        Assert.True(bytes <= 64, $"{bytes:0.0} bytes an id");

        index.Forget(11 * Minute);
        Assert.Equal(0, index.Kept);
        bytes = (double)(full - Live()) / ids;
        Assert.True(bytes >= 40, $"{bytes:0.0} bytes of an id were given back"); // what an entry has
        GC.KeepAlive(index);
    }

    private static UInt128 Hash(long number) => RequestHash.OfId(number.ToString(CultureInfo.InvariantCulture));

    private static long Live()
    {
        GC.Collect();
        GC.WaitForPendingFinalizers();
        return GC.GetTotalMemory(forceFullCollection: true);
    }
}
