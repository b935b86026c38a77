using System.Text.Json.Nodes;
using Snapper.Cli.Demo;
using Snapper.Cli.Supervision;
using Snapper.Client.Messages;
using Xunit;

namespace Snapper.Cli.Tests;

/// <summary>The demo must notice a bank that is wrong; otherwise its success means nothing.</summary>
public sealed class DemoTests
{
    [Fact]
    public async Task A_right_bank_passes_and_every_phase_is_shown()
    {
        await using var bank = await StubBank.Start();
        var (passed, output) = await bank.Demo();
        Assert.True(passed, output);
        Assert.Contains("50 accounts hold 1,000,000.00 together", output);
        Assert.Contains("no money appeared or vanished", output);
        foreach (var phase in DemoPhase.All) Assert.Contains($"  {phase.Name} ", output);
        Assert.Contains("application", output);
    }

    [Fact]
    public async Task Money_that_was_gone_before_it_began_is_said()
    {
        await using var bank = await StubBank.Start();
        Assert.DoesNotContain("at first", (await bank.Demo()).Output, StringComparison.Ordinal);
        bank.Lose(1);
        var (passed, output) = await bank.Demo();
        Assert.True(passed, output); // others may use the accounts, too
        Assert.Contains("warning: at first they held 1,000,000.00; something else has moved money since, or it was lost", output, StringComparison.Ordinal);
    }

    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public async Task While_balances_cannot_be_read_it_goes_on_and_counts_again(bool comesBack)
    {
        await using var bank = await StubBank.Start();
        var written = new StringWriter();
        var output = TextWriter.Synchronized(written);
        var settings = new DemoSettings { Accounts = 50, Concurrency = 1, PhaseLength = TimeSpan.FromMilliseconds(100), ReadWithin = TimeSpan.FromMilliseconds(100) };
        await using var client = new Bank(() => [bank.Address], settings);
        var demo = new DemoRun(settings, client, output);
        Assert.True(await demo.Run(CancellationToken.None), Written());
        bank.RefuseBalances = true;
        var goesOn = Task.Run(() => demo.GoOn(TimeSpan.FromSeconds(comesBack ? 8 : 4), CancellationToken.None));
        if (comesBack)
        {
            await Eventually.True("it says that it could not count", () => Written().Contains("not counted: the balance of demo-0000 cannot be read", StringComparison.Ordinal));
            bank.RefuseBalances = false;
        }

        Assert.Equal(comesBack, await goesOn);
        Assert.Contains(comesBack ? "right, 1 times out of 1" : "FAILED: at the end the money could not be counted", Written(), StringComparison.Ordinal);

        string Written()
        {
            lock (output) return written.ToString();
        }
    }

    [Theory]
    [InlineData("0.01", "money appeared")]
    [InlineData("-0.01", "money vanished")]
    public async Task A_cent_too_much_or_too_little_fails(string leak, string message)
    {
        await using var bank = await StubBank.Start(leak: decimal.Parse(leak, System.Globalization.CultureInfo.InvariantCulture));
        var (passed, output) = await bank.Demo();
        Assert.False(passed);
        Assert.Contains(message, output);
    }

    [Fact]
    public async Task A_bank_that_commits_nothing_fails()
    {
        await using var bank = await StubBank.Start(refuseTransfers: true);
        var (passed, output) = await bank.Demo();
        Assert.False(passed);
        Assert.Contains("nothing was committed", output);
    }

    [Fact]
    public async Task Lost_answers_are_asked_for_again_with_the_same_id()
    {
        await using var bank = await StubBank.Start(breakEvery: 50);
        var (passed, output) = await bank.Demo();
        Assert.True(passed, output);
        Assert.True(bank.Broken > 0);
    }

    [Fact]
    public async Task An_answer_outside_the_contract_is_reported()
    {
        await using var bank = await StubBank.Start(garbage: "<html>who are you?</html>");
        var failure = await Assert.ThrowsAsync<BalanceUnreadableException>(bank.Demo);
        Assert.Contains("'<' is an invalid start", failure.Message);
    }

    [Fact]
    public async Task A_door_that_stays_shut_is_reported()
    {
        var settings = new DemoSettings { Accounts = 8, Concurrency = 1, PhaseLength = TimeSpan.FromMilliseconds(50), ReadWithin = TimeSpan.FromSeconds(1) };
        var nobody = new Uri("http://127.0.0.1:" + Ports.Free(1)[0]);
        await using var client = new Bank(() => [nobody], settings);
        var failure = await Assert.ThrowsAsync<BalanceUnreadableException>(() => new MoneyAudit(settings, client).Total(CancellationToken.None));
        Assert.Contains("cannot be read", failure.Message);
    }

    [Fact]
    public void The_mix_declares_exactly_whom_a_transaction_touches()
    {
        var mix = new TransferMix(20, seed: 1);
        var pacts = 0;
        for (var i = 0; i < 1000; i++)
        {
            var transaction = mix.Next(pactShare: 0.5, id: $"{i}");
            var input = JsonNode.Parse(transaction.Input.Span)!["to"]!;
            var to = input is JsonArray several ? several.Select(t => (string)t!) : [(string)input!];
            if (transaction.Mode == TransactionMode.Act)
            {
                Assert.Null(transaction.Access);
                continue;
            }

            pacts++;
            Assert.Equal(to.Append(transaction.Actor.Id).Order(), transaction.Access!.Select(a => a.Id).Order());
        }

        Assert.InRange(pacts, 400, 600);
    }

    [Theory]
    [InlineData(0.5, 50)]
    [InlineData(0.99, 99)]
    [InlineData(1, 100)]
    public void Percentiles_are_by_nearest_rank(double share, double expected)
    {
        var tally = new PhaseTally();
        tally.LatenciesMs.AddRange(Enumerable.Range(1, 100).Select(i => (double)i).Reverse());
        Assert.Equal(expected, tally.Percentile(share));
    }
}
