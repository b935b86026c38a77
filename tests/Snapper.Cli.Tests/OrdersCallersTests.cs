using Snapper.Cli.Supervision;
using Xunit;
using Xunit.Abstractions;

namespace Snapper.Cli.Tests;

/// <summary>How the callers of <c>samples/Orders</c> handle the outcomes of transactions.</summary>
public sealed class OrdersCallersTests(ITestOutputHelper output)
{
    /// <summary>Each of the five outcomes, one after the other, as a worker and a sidecar tell them.</summary>
    [Fact]
    public async Task Callers_repeat_ask_and_end_as_the_outcomes_demand()
    {
        await using var door = await ScriptedDoor.Start();
        var callers = Callers.All(Path.Combine(Repository.Find()!, "samples", "Orders", "callers"), output)
            .Where(static caller => caller.Name != Callers.CSharp).ToArray(); // the client's own tests have that

        await Task.WhenAll(callers.Select(async caller =>
        {
            var lines = await caller.Run(door.Address);
            Assert.Equal(
                [
                    .. caller.Expected[..^1], // at last the time is over while the outcome is not known
                    $"{caller.Name}-4 in doubt",
                ],
                lines);
            door.Check(caller.Name);
        }));
    }
}
