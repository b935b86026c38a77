using Snapper.Protocol.Identity;
using Snapper.Storage.Checkpoints;
using Snapper.Storage.Log;
using Snapper.Storage.Recovery;
using Snapper.Storage.Redis;
using Snapper.Storage.States;
using Snapper.Storage.Tests.Conformance;
using Snapper.Storage.Tests.Support;
using Xunit;

namespace Snapper.Storage.Tests.Redis;

/// <summary>What this program did not write in Redis: an error that names the key, never a server that "is away", and nothing is changed.</summary>
[NeedsRedis]
public sealed class DamagedRedisTests(RedisServerFixture fixture) : IClassFixture<RedisServerFixture>, IAsyncLifetime
{
    private static readonly CancellationToken None = CancellationToken.None;
    private readonly string _prefix = $"t{Guid.NewGuid():N}:";
    private RedisConnections _connections = null!;
    private RedisTransactionLog _log = null!;

    public async Task InitializeAsync()
    {
        if (fixture.Server is not null)
        {
            _connections = await RedisConnections.Connect(new RedisOptions { Port = fixture.Server.Port, KeyPrefix = _prefix });
            _log = new RedisTransactionLog(_connections, "w1");
        }
    }

    public async Task DisposeAsync()
    {
        if (_connections is not null)
        {
            await _log.DisposeAsync();
            await _connections.DisposeAsync();
        }
    }

    [ServerFact]
    public async Task A_damaged_record_in_the_middle_is_named_with_its_group()
    {
        var opening = await _log.Open(None);
        var bytes = Some.Encode(Some.Batch(2, "a", 2)).ToArray();
        bytes[^1] ^= 1;
        Assert.Equal(AppendStatus.Appended, (await _log.Append(opening.Epoch, 1, 1, Some.Encode(Some.Batch(1, "a", 1)), None)).Status);
        Assert.Equal(AppendStatus.Appended, (await _log.Append(opening.Epoch, 2, 1, bytes, None)).Status);
        Assert.Equal(AppendStatus.Appended, (await _log.Append(opening.Epoch, 3, 1, Some.Encode(Some.Batch(3, "a", 3)), None)).Status);

        var damage = await Assert.ThrowsAsync<CorruptLogException>(Recover);

        Assert.Contains("Record 2 fails its checksum", damage.Message, StringComparison.Ordinal);
        Assert.Contains("begins with record 2 and has 1 records", damage.Message, StringComparison.Ordinal);
    }

    [ServerFact]
    public async Task A_key_of_another_type_in_the_place_of_a_state_is_named_and_kept()
    {
        await Command("SET", State("a"), "mine");
        await AssertDamaged("a", "WRONGTYPE");
        Assert.Equal("$4\r\nmine\r\n", await Command("GET", State("a")));
    }

    [ServerFact]
    public async Task A_state_without_a_version_is_named_and_kept()
    {
        await Command("HSET", State("a"), "state", "{}");
        await AssertDamaged("a", "version");
        Assert.Equal("$2\r\n{}\r\n", await Command("HGET", State("a"), "state"));
    }

    [ServerFact]
    public async Task A_state_whose_version_is_no_number_is_named_and_kept()
    {
        await Command("HSET", State("a"), "version", "seven", "state", "{}");
        await AssertDamaged("a", "version");
        Assert.Equal("$5\r\nseven\r\n", await Command("HGET", State("a"), "version"));
    }

    /// <summary>A take-over copies outcomes there first. An error of the server's own would count as an absence, and
    /// would be tried again without a pause.</summary>
    [ServerFact]
    public async Task A_key_of_another_type_in_the_place_of_copied_outcomes_is_named_when_they_are_copied()
    {
        var opening = await _log.Open(None);
        await using var store = new RedisStateStore(_log, TimeProvider.System, new StateStoreOptions());
        await Command("SET", _prefix + "{w1}:copied:0", "mine");
        var problem = await Record.ExceptionAsync(
            () => LogRecovery.Copy(store, opening.Epoch, [Some.Outcome("k", 0)], None));
        Assert.True(problem is CorruptLogException, $"{problem?.GetType().Name}: {problem?.Message}");
        Assert.Contains(_prefix + "{w1}:copied:0", problem!.Message, StringComparison.Ordinal);
    }

    [ServerFact]
    public async Task A_hash_of_the_log_with_another_type_is_named()
    {
        await Command("SET", _prefix + "{w1}:meta", "mine");
        Assert.Contains(":meta", (await Assert.ThrowsAsync<CorruptLogException>(() => _log.Open(None))).Message, StringComparison.Ordinal);
        Assert.Contains(":meta", (await Assert.ThrowsAsync<CorruptLogException>(() => _log.Look(None))).Message, StringComparison.Ordinal);
    }

    [ServerFact]
    public async Task A_hash_of_the_log_with_text_for_numbers_is_named()
    {
        await Command("HSET", _prefix + "{w1}:meta", "epoch", "1", "next", "many");
        Assert.Contains("'many'", (await Assert.ThrowsAsync<CorruptLogException>(() => _log.Look(None))).Message, StringComparison.Ordinal);
        Assert.Contains("'many'", (await Assert.ThrowsAsync<CorruptLogException>(() => _log.Open(None))).Message, StringComparison.Ordinal);
        await Command("HSET", _prefix + "{w1}:meta", "epoch", "x");
        Assert.Contains("not an integer", (await Assert.ThrowsAsync<CorruptLogException>(() => _log.Open(None))).Message, StringComparison.Ordinal);
    }

    [ServerFact]
    public async Task A_stream_of_another_type_is_named()
    {
        await Command("SET", _prefix + "{w1}:log", "mine");
        Assert.Contains(":log", (await Assert.ThrowsAsync<CorruptLogException>(() => _log.Open(None))).Message, StringComparison.Ordinal);
    }

    [ServerFact]
    public async Task A_version_one_above_the_highest_is_damage_to_whoever_reads()
    {
        await Command("HSET", State("high"), "version", "4503599627370497", "state", "{}");
        Assert.Contains("version", (await Assert.ThrowsAsync<CorruptLogException>(() => Store().Load(new ActorKey("Account", "high"), None))).Message, StringComparison.Ordinal);
    }

    [ServerFact]
    public async Task What_was_read_at_the_highest_version_can_be_changed_and_folded_and_folding_goes_on()
    {
        const long Highest = 4503599627370496;
        var actor = new ActorKey("Account", "high");
        await Command("HSET", State("high"), "version", "4503599627370496", "state", "{}");
        Assert.Equal(Highest, (await Store().Load(actor, None))!.Version);
        var opening = await _log.Open(None);
        Assert.Equal(AppendStatus.Appended, (await _log.Append(opening.Epoch, 1, 1, Some.Encode(Some.Batch(1, "high", Highest + 1)), None)).Status);
        Assert.Equal(AppendStatus.Appended, (await _log.Append(opening.Epoch, 2, 1, Some.Encode(Some.Batch(2, "high", Highest + 2)), None)).Status);

        await Recover();

        Assert.Equal("$16\r\n4503599627370498\r\n", await Command("HGET", State("high"), "version"));
    }

    [ServerFact]
    public Task A_version_that_the_scripts_cannot_tell_from_its_neighbours_is_damage_to_whoever_reads_and_whoever_folds() => AssertTooHigh("9007199254740992");

    [ServerFact]
    public Task The_highest_number_there_is_is_no_version() => AssertTooHigh("9223372036854775807");

    private async Task AssertTooHigh(string version)
    {
        await Command("HSET", State("high"), "version", version, "state", "{}");
        await AssertDamaged("high", "version");
        Assert.Equal($"${version.Length}\r\n{version}\r\n", await Command("HGET", State("high"), "version"));
    }

    /// <summary>
    /// Reading it says so, and recovery, which would have to checkpoint into it, sets it aside; the record stays in the
    /// log.
    /// </summary>
    private async Task AssertDamaged(string actor, string what)
    {
        var opening = await _log.Open(None);
        Assert.Equal(AppendStatus.Appended, (await _log.Append(opening.Epoch, 1, 1, Some.Encode(Some.Batch(1, actor, 1)), None)).Status);
        var read = await Assert.ThrowsAsync<CorruptLogException>(() => Store().Load(new ActorKey("Account", actor), None));
        var setAside = Assert.Single((await Recover()).SetAside);
        Assert.Equal(actor, setAside.Actor.Id);
        foreach (var damage in new[] { read.Message, setAside.Damage })
        {
            Assert.Contains(State(actor), damage, StringComparison.Ordinal);
            Assert.Contains(what, damage, StringComparison.Ordinal);
        }

        Assert.Equal(":1\r\n", await Command("XLEN", _prefix + "{w1}:log"));
    }

    private async Task<RecoverySummary> Recover() =>
        await LogRecovery.Run(_log, Store(), await _log.Open(None), new NoSink(), TimeProvider.System, None);

    private RedisStateStore Store() => new(_log, TimeProvider.System, new StateStoreOptions());

    private string State(string actor) => _prefix + "{state}:Account/" + actor;

    private Task<string> Command(params string[] words) => fixture.Server.Command(words);
}
