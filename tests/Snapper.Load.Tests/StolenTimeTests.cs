using Snapper.Load.Running;
using Xunit;

namespace Snapper.Load.Tests;

public sealed class StolenTimeTests
{
    [Theory]
    [InlineData("cpu  4376628 221538 778052 2158163 27506 0 103424 197909 0 0\ncpu0 1 2 3 4 5 6 7 8 9 10\n", 197909L)]
    [InlineData("cpu  1 2 3 4 5 6 7\n", null)]
    [InlineData("intr 1 2 3 4 5 6 7 8 9\n", null)]
    [InlineData("", null)]
    public void The_kernel_is_read_as_it_writes(string text, long? ticks)
    {
        var file = Path.GetTempFileName();
        try
        {
            File.WriteAllText(file, text);
            Assert.Equal(ticks, StolenTime.Read(file));
        }
        finally
        {
            File.Delete(file);
        }
    }

    [Fact]
    public void A_system_that_does_not_tell_is_no_error()
    {
        Assert.Null(StolenTime.Read(Path.Combine(Path.GetTempPath(), Path.GetRandomFileName())));
        Assert.Equal("no word about time taken by the machine's other guests", StolenTime.Describe(null));
        Assert.Equal("1.25 % of the cores' time taken by the machine's other guests", StolenTime.Describe(1.25));
    }
}
