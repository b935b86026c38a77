using Microsoft.Extensions.Configuration;
using Snapper.AspNetCore.Hosting;
using Snapper.AspNetCore.Processes;
using Snapper.Runtime.Execution;
using Snapper.Server.Hosting;
using Xunit;

namespace Snapper.Server.Tests.Settings;

/// <summary>What a worker makes of its settings.</summary>
public sealed class WorkerConfigurationTests
{
    [Theory]
    [InlineData("-1")]
    [InlineData("abc")]
    [InlineData("1e3")]
    public void A_wrong_initial_balance_is_told_in_one_line_that_names_the_setting(string value)
    {
        var wrong = Assert.Throws<UsageException>(() => ServerActors.SmallBank(With(value)));

        Assert.Equal($"A setting of Snapper:SmallBank is wrong: InitialBalance must be a number, 0 or more, not '{value}'.", wrong.Message);
    }

    [Theory]
    [InlineData("0", 0)]
    [InlineData("12.5", 12.5)]
    [InlineData("", 10_000)]
    [InlineData(null, 10_000)]
    public void An_initial_balance_is_taken_as_it_is_and_10000_without(string? value, double expected) =>
        Assert.Equal((decimal)expected, ServerActors.SmallBank(With(value)).InitialBalance);

    [Fact]
    public void Results_that_do_not_go_between_several_workers_are_refused_at_the_start()
    {
        WorkerConfiguration.ForSeveral(new WorkerOptions { MaxResultBytes = 2 << 20 });
        var wrong = Assert.Throws<UsageException>(
            () => WorkerConfiguration.ForSeveral(new WorkerOptions { MaxResultBytes = 8 << 20 }));
        Assert.Contains("MaxResultBytes is 8388608", wrong.Message, StringComparison.Ordinal);
        Assert.Contains("--workers", wrong.Message, StringComparison.Ordinal);
        Assert.Contains("2097152", wrong.Message, StringComparison.Ordinal);
    }

    private static IConfiguration With(string? value) =>
        new ConfigurationBuilder().AddInMemoryCollection([new("Snapper:SmallBank:InitialBalance", value)]).Build();
}
