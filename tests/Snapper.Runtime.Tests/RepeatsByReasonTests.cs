using Snapper.Protocol.Messages;
using Snapper.Protocol.Transactions;
using Snapper.Runtime.Door;
using Snapper.Runtime.Tests.Support;
using Xunit;

namespace Snapper.Runtime.Tests;

/// <summary>What the status counts of attempts that the system runs again (W2).</summary>
public sealed class RepeatsByReasonTests
{
    [Fact]
    public async Task Every_reason_for_which_the_system_repeats_is_counted()
    {
        await using var rig = await Rig.Start(new());
        Assert.Equal(
            Enum.GetValues<AbortReason>().Where(Retry.IsRepeated).Select(AbortReasons.Name),
            rig.Host.Inspection.Status().RepeatsByReason.Keys);
    }
}
