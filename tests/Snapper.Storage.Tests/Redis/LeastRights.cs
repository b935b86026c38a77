using System.Text.RegularExpressions;
using Snapper.Storage.Log;
using Snapper.Storage.Redis;
using Snapper.Storage.States;
using Snapper.Storage.Tests.Cluster;
using Snapper.Storage.Tests.Conformance;
using Snapper.Storage.Tests.Support;
using Xunit;

namespace Snapper.Storage.Tests.Redis;

/// <summary>A server with the access control line that Kubernetes mounts; docs/security.md has the same one.</summary>
public sealed class LeastRightsServer : IAsyncLifetime
{
    private const string Secret = "s3cret";

    public RedisServer Server { get; private set; } = null!;

    /// <summary>The line, with a password.</summary>
    public static string Line()
    {
        var text = File.ReadAllText(Path.Combine(FolderOf("k8s"), "components", "redis", "users.acl"));
        var line = Regex.Match(text, "^user snapper .*$", RegexOptions.Multiline).Value;
        Assert.Contains(" PASSWORD ", line, StringComparison.Ordinal);
        return line.Replace("PASSWORD", ">" + Secret, StringComparison.Ordinal);
    }

    public RedisOptions Options() => new() { Port = Server.Port, User = "snapper", Password = Secret, KeyPrefix = $"snapper:t{Guid.NewGuid():N}:" };

    public async Task InitializeAsync()
    {
        if (RedisServer.FindExecutable() is null && Environment.GetEnvironmentVariable("CI") != "true") return;
        var file = Path.GetTempFileName();
        try
        {
            await File.WriteAllTextAsync(file, "user default on nopass ~* &* +@all\n" + Line() + "\n");
            Server = await RedisServer.Start("--aclfile", file);
        }
        finally
        {
            File.Delete(file);
        }
    }

    /// <summary>Fails what used it when anything was refused, also where the product lived with it.</summary>
    public async Task DisposeAsync()
    {
        if (Server is null) return;
        var refused = await Server.Command("ACL", "LOG");
        await Server.DisposeAsync();
        Assert.True(refused.StartsWith("*0", StringComparison.Ordinal), refused);
    }

    private static string FolderOf(string name)
    {
        for (var folder = new DirectoryInfo(AppContext.BaseDirectory); folder is not null; folder = folder.Parent)
        {
            if (File.Exists(Path.Combine(folder.FullName, "Snapper.Dapr.sln"))) return Path.Combine(folder.FullName, name);
        }

        throw new DirectoryNotFoundException("The repository's folder was not found above the tests.");
    }
}

/// <summary>All that a log must do, with no more rights than the documentation asks for.</summary>
[NeedsRedis]
public sealed class RedisLogWithLeastRightsTests(LeastRightsServer fixture) : LogConformance, IClassFixture<LeastRightsServer>
{
    private RedisConnections _connections = null!;

    public override async Task InitializeAsync() => _connections = await RedisConnections.Connect(fixture.Options());

    public override async Task DisposeAsync() => await _connections.DisposeAsync();

    private protected override ITransactionLog NewLog() => new RedisTransactionLog(_connections, "w1");

    private protected override IStateStore NewStore(ITransactionLog log) => new RedisStateStore((RedisTransactionLog)log, Time, StoreOptions);
}

/// <summary>All that the store of several workers must do, with the same rights.</summary>
[NeedsRedis]
public sealed class RedisClusterWithLeastRightsTests(LeastRightsServer fixture) : ClusterConformance, IClassFixture<LeastRightsServer>
{
    private protected override async Task<IClusterBackend> NewBackend() => await RedisBackend.Connect(fixture.Server, Options, fixture.Options());
}

/// <summary>What the user may not do with those rights.</summary>
[NeedsRedis]
public sealed class LeastRightsTests(LeastRightsServer fixture) : IClassFixture<LeastRightsServer>
{
    [ServerTheory]
    [InlineData("FLUSHALL")]
    [InlineData("CONFIG", "SET", "appendonly", "no")]
    [InlineData("SHUTDOWN")]
    [InlineData("KEYS", "*")]
    [InlineData("DEBUG", "SLEEP", "0")]
    [InlineData("ACL", "LIST")]
    [InlineData("GET", "other:secret")]
    [InlineData("HGETALL", "other:secret")]
    [InlineData("SAVE")]
    [InlineData("REPLICAOF", "127.0.0.1", "1")]
    [InlineData("SCRIPT", "FLUSH")]
    [InlineData("MODULE", "LIST")]
    public async Task Others_keys_and_the_server_itself_are_not_in_reach(params string[] command)
    {
        var answer = await fixture.Server.Command(["ACL", "DRYRUN", "snapper", .. command]);
        Assert.Contains("no permissions", answer, StringComparison.OrdinalIgnoreCase);
    }

    /// <summary>Lines of ACL files stay as they are when a new version is taken.</summary>
    [ServerFact]
    public async Task The_line_of_earlier_versions_is_enough()
    {
        string[] rights = [.. LeastRightsServer.Line().Split(' ').Skip(2).Where(right => right != "+client|id")];
        var made = await fixture.Server.Command(["ACL", "SETUSER", "earlier", .. rights]);
        Assert.StartsWith("+OK", made, StringComparison.Ordinal);
        await using var connections = await RedisConnections.Connect(fixture.Options() with { User = "earlier" });
        Assert.True(connections.IsConnected);
        await using var log = new RedisTransactionLog(connections, "earlier");
        Assert.Equal(1, (await log.Open(default)).NextSequence);
        await fixture.Server.Command("ACL", "LOG", "RESET");
    }

    [ServerFact]
    public async Task Durability_and_eviction_are_told()
    {
        await using var connections = await RedisConnections.Connect(fixture.Options());
        var facts = await RedisDurability.Read(connections, default);
        Assert.Equal(RedisFlushPolicy.Always, facts.Policy);
        Assert.NotNull(facts.DeletesLastingKeys);
        var denied = await fixture.Server.Command("ACL", "LOG");
        Assert.True(denied.StartsWith("*0", StringComparison.Ordinal), denied);
    }
}
