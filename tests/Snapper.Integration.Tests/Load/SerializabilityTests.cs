using Snapper.Integration.Tests.Harness;
using Xunit;
using Xunit.Abstractions;

namespace Snapper.Integration.Tests.Load;

/// <summary>
/// Strict serializability as clients see it: thousands of transactions on few keys at all doors, judged with real-time edges; nothing lost, nothing twice, no
/// aborted write seen, and PACTs abort for no reason but their own.
/// </summary>
[Collection(OnDaprAndRedis.Name)]
[RequiresServers]
public sealed class SerializabilityTests(DaprAndRedisSystem system, ITestOutputHelper output)
{
    [SystemFact]
    public Task All_ACTs() => Run(pactShare: 0, seed: 101);

    [SystemFact]
    public Task Half_PACTs_half_ACTs() => Run(pactShare: 0.5, seed: 102);

    [SystemFact]
    public Task Mostly_PACTs() => Run(pactShare: 0.9, seed: 103);

    [SystemFact]
    public Task All_PACTs() => Run(pactShare: 1, seed: 104);

    /// <summary>Three keys only: everybody meets everybody.</summary>
    [SystemFact]
    public Task Hardly_any_keys() => Run(pactShare: 0.5, seed: 105, hotKeys: 3);

    /// <summary>Money under the same mix: conserved in the sum, in each account, in each answer.</summary>
    [SystemFact]
    public async Task Money_is_conserved()
    {
        var bank = new BankLoad(system.Client, new LoadOptions { Seed = LoadOptions.SeedOr(106), Transactions = 3000, HotKeys = 12 }, RunningSystem.Name("bank"));

        await bank.Run();
        var report = await bank.Judge();

        output.WriteLine(bank.Describe(report));
        Assert.True(report.Passed, bank.Describe(report));
        Assert.False(bank.Outcomes.ContainsKey("unknown"), bank.Describe());
        Assert.True(bank.Outcomes.GetValueOrDefault("committed") > 1500, $"Too little was committed to prove anything: {bank.Describe()}");
    }

    private async Task Run(double pactShare, int seed, int hotKeys = 8)
    {
        var load = new ListAppendLoad(
            system.Client,
            new LoadOptions { Seed = LoadOptions.SeedOr(seed), Transactions = 3000, PactShare = pactShare, HotKeys = hotKeys },
            RunningSystem.Name($"ser{seed}"));

        await load.Run();
        var report = await load.Judge();

        var text = load.Describe(report);
        output.WriteLine(text);
        Assert.True(report.Passed, $"{text}\n{(report.Passed ? "" : $"The history is in {load.Save($"ser{seed}")}")}");
        Assert.True(load.Problems.IsEmpty, text);
        Assert.Equal(0, report.Statistics.Unknown);
        Assert.True(report.Statistics.Committed > 2000, $"Too little was committed to prove anything: {text}");

        var pactAborts = load.Submitter.Aborts.Keys.Where(key => key is { Mode: "pact", Reason: not "application" });
        Assert.True(!pactAborts.Any(), $"A PACT aborts for its own reasons only: {text}");
    }
}
