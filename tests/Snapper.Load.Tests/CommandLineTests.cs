using Snapper.Scenarios.Choosing;
using Snapper.Scenarios.Shapes;
using Snapper.Terminal;
using Xunit;

namespace Snapper.Load.Tests;

public sealed class CommandLineTests
{
    private static LoadOptions Parse(params string[] line) => LoadOptions.From(CommandLines.Parse(
        LoadOptions.Program(_ => Task.FromResult(0), _ => Task.FromResult(0), () => 0), line));

    [Fact]
    public void Every_option_is_read()
    {
        var options = Parse(
        [
            "smallbank-pact", "--rate", "12.5", "--duration=2m", "--warm-up", "500ms", "--shape", "ramp", "--arrivals", "even", "--seed", "9", "--url", "http://a:1,http://b:2", "--no-discovery",
            "--pact", "0.25", "--accounts", "64", "--chooser", "hotspot", "--hot", "3", "--hot-share", "0.5", "--timeout", "3s", "--connections", "7",
            "--threshold", "p99-ms<=7", "--threshold", "committed-per-second>=3", "--worker", "w2", "--data", "d", "--report", "r",
        ]);
        Assert.Equal((12.5, TimeSpan.FromMinutes(2), TimeSpan.FromSeconds(0.5)), (options.Rate, options.Duration, options.WarmUp));
        Assert.StartsWith("ramp from 1.25 to 12.5", options.LoadShape.Name, StringComparison.Ordinal);
        Assert.Equal(ArrivalProcess.Even, options.Arrivals);
        Assert.Equal((2, false), (options.Urls.Count, options.Discovers));
        var workload = options.Workload;
        Assert.Equal((0.25, 64, 9UL), (workload.PactShare, workload.Accounts, workload.Seed));
        Assert.Equal((Distribution.Hotspot, 3, 0.5), (workload.Chooser.Distribution, workload.Chooser.HotKeys, workload.Chooser.HotShare));
        Assert.Equal((TimeSpan.FromSeconds(3), 7, "w2", "d", "r"), (options.Timeout, options.Connections, options.Worker, options.Data, options.ReportFolder));
        Assert.Equal(7, Assert.Single(options.Thresholds, static one => one.Measure == "p99-ms").Limit);
        Assert.Contains("'p99-ms<=7'", options.Command, StringComparison.Ordinal);
    }

    [Fact]
    public void Without_addresses_it_goes_to_the_first_worker_of_this_machine() =>
        Assert.Equal(new Uri("http://127.0.0.1:5101"), Assert.Single(Parse("spike").Urls));

    [Theory]
    [InlineData("no scenario 'nonsense'", "nonsense")]
    [InlineData("Name a scenario", "--rate", "3")]
    [InlineData("'--speed'", "spike", "--speed", "3")]
    [InlineData("--rate must be a number", "spike", "--rate", "fast")]
    [InlineData("--rate must be a number", "spike", "--rate", "-3")]
    [InlineData("'--rate'", "spike", "--rate")]
    [InlineData("--duration must be a time", "spike", "--duration", "3y")]
    [InlineData("--duration must be a time", "spike", "--duration", "1ms")]
    [InlineData("--url must be an address", "spike", "--url", "localhost")]
    [InlineData("--chooser must be uniform or zipf or hotspot", "spike", "--chooser", "1")]
    [InlineData("no measure 'speed'", "spike", "--threshold", "speed<=3")]
    [InlineData("--hot must be below --accounts", "smallbank-hotspot", "--accounts", "8")]
    [InlineData("not --sidecar", "drain", "--sidecar", "http://127.0.0.1:3500")]
    [InlineData("'--what'", "--calibrate", "--what", "3")]
    public async Task A_wrong_line_ends_with_2_and_says_what_is_wrong(string expected, params string[] arguments)
    {
        var (code, _, errors) = await Run(arguments);
        Assert.Equal(2, code);
        Assert.Contains(expected, errors, StringComparison.Ordinal);
    }

    [Fact]
    public async Task Nobody_there_ends_with_1_and_says_what_to_do()
    {
        // Port 1 is nobody's.
        var (code, _, errors) = await Run("smallbank-pact", "--url", "http://127.0.0.1:1");
        Assert.Equal(1, code);
        Assert.Contains("./snapper up", errors, StringComparison.Ordinal);
    }

    [Fact]
    public async Task The_list_names_every_scenario_and_every_measure()
    {
        var (code, output, _) = await Run("--list");
        Assert.Equal(0, code);
        Assert.All(Scenarios.ScenarioCatalog.All, scenario => Assert.Contains($"  {scenario.Name} ", output, StringComparison.Ordinal));
        Assert.All(Scenarios.Measures.MeasureNames.All, measure => Assert.Contains($"  {measure} ", output, StringComparison.Ordinal));
    }

    internal static async Task<(int Code, string Output, string Errors)> Run(params string[] arguments)
    {
        using var output = new StringWriter();
        using var errors = new StringWriter();
        var code = await LoadCommand.Run(arguments, TextWriter.Synchronized(output), errors, CancellationToken.None);
        return (code, output.ToString(), errors.ToString());
    }
}
