using Snapper.Integration.Tests.Harness;
using Xunit;

namespace Snapper.Integration.Tests.Crash;

/// <summary>A log that was emptied, replaced or damaged: acknowledged commits never vanish without a word, and nothing is started again in vain.</summary>
[RequiresServers]
public sealed class DaprLostLogTests : IAsyncLifetime
{
    private readonly PrivateRedis _redis = new();
    private readonly UpOptions _options;

    public DaprLostLogTests() => _options = UpOptions.Random(embedded: false) with { Redis = _redis.Address };

    public Task InitializeAsync() => ServerPrograms.Missing is null || ServerPrograms.MustBeThere ? _redis.Start() : Task.CompletedTask;

    public Task DisposeAsync()
    {
        _redis.Dispose();
        Directory.Delete(_options.Data, recursive: true);
        return Task.CompletedTask;
    }

    [SystemFact]
    public async Task A_log_emptied_under_a_running_worker_ends_the_worker_and_up()
    {
        await using var snapper = await SnapperProcess.Start(_options);
        using var client = new SnapperClient(snapper.Worker.Url, snapper.Worker.Sidecar);
        Assert.Equal(Verdict.Committed, (await client.Submit(Accounts.Amount("DepositChecking", "a", 5).Pact())).Verdict);

        Assert.Equal("+OK", await _redis.Ask("FLUSHALL"));
        var lost = await client.Submit(Accounts.Amount("DepositChecking", "a", 7).Pact());
        Assert.True(lost.Verdict != Verdict.Committed, $"Nothing is acknowledged that is not in the log: {lost}");

        Assert.Equal(71, await snapper.Ended());
        Assert.Contains("exit code 70", snapper.Output, StringComparison.Ordinal);
        AssertRefused(snapper.Output);
    }

    [SystemFact]
    public async Task A_log_emptied_while_the_worker_was_down_is_refused_until_the_loss_is_accepted()
    {
        await StartCommitAndStop();
        Assert.Equal("+OK", await _redis.Ask("FLUSHALL"));
        var refused = await Assert.ThrowsAsync<InvalidOperationException>(() => SnapperProcess.Start(_options));
        Assert.Contains("exit code 71", refused.Message, StringComparison.Ordinal);
        AssertRefused(refused.Message);
        Assert.Equal(":0", await _redis.Ask("DBSIZE"));

        await using (var snapper = await SnapperProcess.Start(_options with { More = ["--accept-lost-log"] }))
        {
            using var client = new SnapperClient(snapper.Worker.Url, snapper.Worker.Sidecar);
            Assert.Equal(10_000, await client.Checking("a"));
            Assert.Contains("forgotten, as --accept-lost-log asks", snapper.Output, StringComparison.Ordinal);
            await snapper.Stop();
        }

        // The new log is the one that is remembered from then on.
        await using var again = await SnapperProcess.Start(_options);
        await again.Stop();
    }

    [SystemFact]
    public async Task A_deleted_data_folder_beside_a_kept_Redis_loses_nothing()
    {
        await StartCommitAndStop();
        Directory.Delete(_options.Data, recursive: true);
        await using var snapper = await SnapperProcess.Start(_options);
        using var client = new SnapperClient(snapper.Worker.Url, snapper.Worker.Sidecar);
        Assert.Equal(10_005, await client.Checking("a"));
        await snapper.Stop();
    }

    [SystemFact]
    public async Task A_damaged_log_ends_up_with_one_line_that_names_the_place()
    {
        await StartCommitAndStop();

        // The stop has checkpointed and trimmed everything: the next record is the only one.
        Assert.Equal(":0", await _redis.Ask("XLEN snapper:{w1}:log"));
        var next = (await _redis.Ask("HINCRBY snapper:{w1}:meta next 1"))!;
        var sequence = int.Parse(next[1..], System.Globalization.CultureInfo.InvariantCulture) - 1;
        Assert.StartsWith("$", await _redis.Ask($"XADD snapper:{{w1}}:log {sequence}-0 n 1 r nonsense"), StringComparison.Ordinal);

        var damaged = await Assert.ThrowsAsync<InvalidOperationException>(() => SnapperProcess.Start(_options));
        Assert.Contains("exit code 72", damaged.Message, StringComparison.Ordinal);
        Assert.Contains($"DAMAGED log snapper:{{w1}}:log in Redis at {_redis.Address}: Record {sequence}", damaged.Message, StringComparison.Ordinal);
        Assert.DoesNotContain("Unhandled exception", damaged.Message, StringComparison.Ordinal);
    }

    private static void AssertRefused(string output)
    {
        Assert.Contains("LOST LOG", output, StringComparison.Ordinal);
        Assert.Contains("there is no log", output, StringComparison.Ordinal);
        Assert.Contains("--accept-lost-log", output, StringComparison.Ordinal);
    }

    private async Task StartCommitAndStop()
    {
        await using var snapper = await SnapperProcess.Start(_options);
        using var client = new SnapperClient(snapper.Worker.Url, snapper.Worker.Sidecar);
        Assert.Equal(Verdict.Committed, (await client.Submit(Accounts.Amount("DepositChecking", "a", 5).Pact())).Verdict);
        await snapper.Stop();
    }
}

/// <summary>The same for the log in a file.</summary>
public sealed class EmbeddedLostLogTests
{
    [SystemFact]
    public async Task A_log_whose_folder_vanished_is_refused()
    {
        var options = UpOptions.Random(embedded: true);
        await using (var snapper = await SnapperProcess.Start(options))
        {
            using var client = new SnapperClient(snapper.Worker.Url, snapper.Worker.Sidecar);
            Assert.Equal(Verdict.Committed, (await client.Submit(Accounts.Amount("DepositChecking", "a", 5).Pact())).Verdict);
            await snapper.Stop();
        }

        Directory.Delete(Path.Combine(options.Data, "workers"), recursive: true);
        var refused = await Assert.ThrowsAsync<InvalidOperationException>(() => SnapperProcess.Start(options));
        Assert.Contains("exit code 71", refused.Message, StringComparison.Ordinal);
        Assert.Contains("LOST LOG", refused.Message, StringComparison.Ordinal);
        Directory.Delete(options.Data, recursive: true);
    }
}
