using Snapper.Protocol.Identity;
using Snapper.Storage.Log;
using Snapper.Storage.Log.Records;
using Snapper.Storage.Redis;
using Snapper.Storage.States;
using Snapper.Storage.Tests.Support;
using Xunit;

namespace Snapper.Storage.Tests.Redis;

/// <summary>A real server that asks who we are: its default user with a password, and a user of its access control list.</summary>
[NeedsRedis]
public sealed class RedisLoginTests : IAsyncLifetime
{
    private const string Secret = "s3cret, with = and spaces";
    private readonly List<IAsyncDisposable> _made = [];
    private RedisServer _server = null!;

    public async Task InitializeAsync()
    {
        _server = await RedisServer.Start();
        Assert.StartsWith("+OK", await _server.Command("ACL", "SETUSER", "app", "on", ">" + Secret, "~*", "&*", "+@all"), StringComparison.Ordinal);
        Assert.StartsWith("+OK", await _server.Command("ACL", "SETUSER", "idle", "on", ">" + Secret, "~*", "-@all"), StringComparison.Ordinal);
        Assert.StartsWith("+OK", await _server.Command("CONFIG", "SET", "requirepass", Secret), StringComparison.Ordinal);
    }

    public async Task DisposeAsync()
    {
        foreach (var made in Enumerable.Reverse(_made))
        {
            await made.DisposeAsync();
        }

        await _server.DisposeAsync();
    }

    [ServerFact]
    public async Task With_the_password_everything_works()
    {
        var connections = await Connect(new RedisOptions { Port = _server.Port, Password = Secret });
        await AssertWorks(connections);
        Assert.Equal(RedisFlushPolicy.Always, (await RedisDurability.Read(connections, default)).Policy);
    }

    [ServerFact]
    public async Task A_user_works_by_its_own_rights()
    {
        var options = new RedisOptions { Port = _server.Port, User = "app", Password = Secret };
        await AssertWorks(await Connect(options));

        // Not by the default user's rights, which has the same password: this one has none.
        var idle = await Connect(options with { User = "idle" });
        await using var log = new RedisTransactionLog(idle, "w2");
        await Assert.ThrowsAnyAsync<Exception>(() => log.Open(default));
        Assert.False(idle.IsConnected);
    }

    [ServerFact]
    public Task An_append_connection_signs_in_as_a_user() => AssertCheck("app", Secret, AppendStatus.Gap, "lost acknowledged");

    [ServerFact]
    public Task A_user_without_rights_is_refused() => AssertCheck("idle", Secret, AppendStatus.Refused, "NOPERM");

    [ServerFact]
    public Task A_wrong_password_is_refused() => AssertCheck("app", "wrong", AppendStatus.Refused, "WRONGPASS");

    [ServerFact]
    public Task Nobody_in_particular_is_refused() => AssertCheck(null, null, AppendStatus.Refused, "NOAUTH");

    [Fact]
    public void Options_never_print_a_password() =>
        Assert.DoesNotContain(Secret, new RedisOptions { User = "app", Password = Secret }.ToString(), StringComparison.Ordinal);

    /// <summary>The script ran if it says that this empty log has lost what its writer knows of.</summary>
    private async Task AssertCheck(string? user, string? password, AppendStatus status, string detail)
    {
        using var connection = new AppendConnection(
            new RedisOptions { Port = _server.Port, User = user, Password = password }, new RedisKeys("snapper:", "w1"), static _ => { });
        var result = await connection.Run(new AppendCommand { Epoch = 1, Mark = "m", AcknowledgedNext = 1 }, default).WaitAsync(TimeSpan.FromSeconds(20));
        Assert.Equal(status, result.Status);
        Assert.Contains(detail, result.Detail, StringComparison.Ordinal);
        Assert.DoesNotContain(Secret, result.Detail, StringComparison.Ordinal);
    }

    private static async Task AssertWorks(RedisConnections connections)
    {
        await using var log = new RedisTransactionLog(connections, "w1");
        var store = new RedisStateStore(log, TimeProvider.System, new StateStoreOptions());
        var opening = await log.Open(default);
        Assert.Equal(AppendStatus.Appended, (await log.Append(opening.Epoch, 1, 1, Some.Encode(Some.Batch(1, "a", 1)), default)).Status);
        var checkpoint = new StateCheckpoint(Some.Actor("a"), 0, 1, [new StateField(StateField.WholeState, Some.Bytes("{}"))]);
        Assert.Equal(AppendStatus.Appended, (await store.Checkpoint(opening.Epoch, [checkpoint], default)).Status);
        Assert.Equal(1, (await store.Load(new ActorKey("Account", "a"), default))!.Version);
    }

    private async Task<RedisConnections> Connect(RedisOptions options)
    {
        var connections = await RedisConnections.Connect(options);
        _made.Add(connections);
        return connections;
    }
}
