using Snapper.Storage.Log;
using Snapper.Storage.Redis;
using Snapper.Storage.Tests.Conformance;
using Snapper.Storage.Tests.Support;
using Xunit;

namespace Snapper.Storage.Tests.Redis;

/// <summary>A stream that is lost, or shortened, beside a hash that is kept: the worker hears of it, running or at its start.</summary>
[NeedsRedis]
public sealed class LostStreamTests(RedisServerFixture fixture) : IClassFixture<RedisServerFixture>, IAsyncLifetime
{
    private static readonly CancellationToken None = CancellationToken.None;
    private readonly string _prefix = $"t{Guid.NewGuid():N}:";
    private RedisConnections _connections = null!;
    private RedisTransactionLog _log = null!;

    private string Stream => _prefix + "{w1}:log";

    private string Hash => _prefix + "{w1}:meta";

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

    [ServerTheory]
    [InlineData("DEL", 1, "is empty or gone: records 1 to 6")]
    [InlineData("DEL", 3, "is empty or gone: records 3 to 6")]
    [InlineData("XTRIM", 1, "begins with record 5: records 1 to 4")]
    [InlineData("XTRIM", 3, "begins with record 5: records 3 to 4")]
    [InlineData("empty", 4, "is empty or gone: records 3 to 6")]
    public async Task Opening_refuses_a_stream_from_which_records_are_missing_and_names_them(string how, long keepFrom, string what)
    {
        var epoch = await Write(groupsOfTwo: 3);
        await Trim(epoch, keepFrom);
        await Lose(how);

        for (var i = 0; i < 2; i++)
        {
            var loss = await Assert.ThrowsAsync<CorruptLogException>(() => _log.Open(None));
            Assert.Contains($"Stream {Stream} {what}", loss.Message, StringComparison.Ordinal);
        }
    }

    [ServerTheory]
    [InlineData("-1")]
    [InlineData("-9000")]
    public async Task Opening_refuses_an_epoch_below_zero_and_leaves_it_as_it_is(string epoch)
    {
        await Write(groupsOfTwo: 1);
        var database = _connections.State.Database;
        await database.HashSetAsync(Hash, "epoch", epoch);

        for (var i = 0; i < 2; i++)
        {
            var damage = await Assert.ThrowsAsync<CorruptLogException>(() => _log.Open(None));
            Assert.Contains($"the epoch {epoch} is not an integer from 0 on", damage.Message, StringComparison.Ordinal);
        }

        Assert.Equal(epoch, (string?)await database.HashGetAsync(Hash, "epoch"));
    }

    [ServerFact]
    public async Task A_running_writer_hears_of_a_deleted_stream_at_its_next_append()
    {
        var epoch = await Write(groupsOfTwo: 3);
        await Trim(epoch, 3);
        await Lose("DEL");

        foreach (var first in new[] { 7, 5 })
        {
            // A new group, and one that is sent again because its answer was lost.
            var result = await Append(epoch, first);
            Assert.Equal(AppendStatus.Gap, result.Status);
            Assert.Contains($"stream {Stream} is gone: records 3 to 6 should be there", result.Detail, StringComparison.Ordinal);
        }

        Assert.Equal(":0\r\n", await fixture.Server.Command("EXISTS", Stream));
        Assert.Equal("$1\r\n1\r\n", await fixture.Server.Command("HGET", Hash, "generation")); // the same loss, found twice, is one
    }

    [ServerTheory]
    [InlineData("DEL", "is empty")]
    [InlineData("XTRIM", "begins with record 5")]
    public async Task A_running_writer_hears_of_a_shortened_stream_at_its_next_trim(string how, string what)
    {
        var epoch = await Write(groupsOfTwo: 3);
        await Lose(how);

        var result = await _log.Trim(epoch, 7, default, None);

        Assert.Equal(AppendStatus.Gap, result.Status);
        Assert.Contains($"stream {Stream} {what}: records 1 to 6 should be there", result.Detail, StringComparison.Ordinal);
    }

    [ServerTheory]
    [InlineData(7)]
    [InlineData(100)]
    public async Task A_stream_of_which_everything_was_trimmed_may_go(long keepFrom)
    {
        var epoch = await Write(groupsOfTwo: 3);
        await Trim(epoch, keepFrom);
        await Lose("DEL");
        var opening = await _log.Open(None);
        Assert.Equal((7, 7), (opening.FirstSequence, opening.NextSequence));

        // And while it runs; what comes then is missed again.
        Assert.Equal(AppendStatus.Appended, (await Append(opening.Epoch, 7)).Status);
        await Lose("DEL");
        Assert.Equal(AppendStatus.Gap, (await Append(opening.Epoch, 9)).Status);
        var loss = await Assert.ThrowsAsync<CorruptLogException>(() => _log.Open(None));
        Assert.Contains("records 7 to 8 are missing", loss.Message, StringComparison.Ordinal);
    }

    [ServerFact]
    public async Task A_new_log_whose_empty_stream_does_not_exist_takes_its_first_group()
    {
        var epoch = await Write(groupsOfTwo: 0);
        await Trim(epoch, 1);
        Assert.Equal(AppendStatus.Appended, (await Append(epoch, 1)).Status);
        Assert.Equal(AppendStatus.AlreadyThere, (await Append(epoch, 1)).Status);
        Assert.Equal(1, (await _log.Open(None)).FirstSequence);
    }

    [ServerFact]
    public async Task Trimming_writes_down_where_the_stream_begins_and_never_takes_it_back()
    {
        var epoch = await Write(groupsOfTwo: 3);
        foreach (var (keepFrom, first) in new[] { (1, 1), (2, 1), (3, 3), (1, 3), (6, 5), (5, 5), (7, 7), (2, 7) })
        {
            await Trim(epoch, keepFrom);
            Assert.Equal($"$1\r\n{first}\r\n", await fixture.Server.Command("HGET", Hash, "first"));
            Assert.Equal(first, (await Reopen(ref epoch)).FirstSequence);
        }
    }

    /// <summary>A log that was written before the hash knew where its stream begins.</summary>
    [ServerTheory]
    [InlineData(1, 1)]
    [InlineData(3, 3)]
    [InlineData(7, 7)]
    public async Task A_log_that_does_not_say_where_it_begins_is_taken_once(long keepFrom, long first)
    {
        var epoch = await Write(groupsOfTwo: 3);
        await Trim(epoch, keepFrom);
        await fixture.Server.Command("HDEL", Hash, "first");

        // One that is still open in that version goes on, too.
        Assert.Equal(AppendStatus.Appended, (await Append(epoch, 7)).Status);
        Assert.Equal(first, (await _log.Open(None)).FirstSequence);

        await Lose("DEL");
        var loss = await Assert.ThrowsAsync<CorruptLogException>(() => _log.Open(None));
        Assert.Contains($"records {first} to 8 are missing", loss.Message, StringComparison.Ordinal);
    }

    [ServerFact]
    public async Task Where_the_stream_begins_must_be_a_number()
    {
        await Write(groupsOfTwo: 1);
        await fixture.Server.Command("HSET", Hash, "first", "soon");
        Assert.Contains("'soon'", (await Assert.ThrowsAsync<CorruptLogException>(() => _log.Open(None))).Message, StringComparison.Ordinal);
    }

    private Task<LogOpening> Reopen(ref long epoch)
    {
        epoch++;
        return _log.Open(None);
    }

    private async Task<long> Write(int groupsOfTwo)
    {
        var epoch = (await _log.Open(None)).Epoch;
        for (var i = 0; i < groupsOfTwo; i++)
        {
            Assert.Equal(AppendStatus.Appended, (await Append(epoch, (2 * i) + 1)).Status);
        }

        return epoch;
    }

    private Task<AppendResult> Append(long epoch, long first) =>
        _log.Append(epoch, first, 2, Some.Encode(Some.Batch(first, "a", first), Some.Batch(first + 1, "a", first + 1)), None);

    private async Task Trim(long epoch, long keepFrom) => Assert.Equal(AppendStatus.Appended, (await _log.Trim(epoch, keepFrom, default, None)).Status);

    private Task<string> Lose(string how) => how switch
    {
        "DEL" => fixture.Server.Command("DEL", Stream),
        "empty" => fixture.Server.Command("XTRIM", Stream, "MAXLEN", "0"),
        _ => fixture.Server.Command("XTRIM", Stream, "MINID", "5-0"),
    };
}
