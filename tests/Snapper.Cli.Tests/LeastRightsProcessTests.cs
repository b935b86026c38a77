using System.Diagnostics;
using System.Net;
using System.Text;
using System.Text.Json.Nodes;
using Snapper.AspNetCore.Processes;
using Snapper.Cli.Supervision;
using Xunit;

namespace Snapper.Cli.Tests;

/// <summary>Workers as processes on a Redis that gives them the rights that Kubernetes mounts, and no others.</summary>
public sealed class LeastRightsProcessTests : IDisposable
{
    private const string Password = "s3cret";
    private static readonly HttpClient Http = new() { Timeout = TimeSpan.FromSeconds(40) };

    private readonly TempFolder _temp = new();

    public void Dispose() => _temp.Dispose();

    [NeedsServersFact]
    public async Task Two_workers_start_commit_checkpoint_trim_migrate_list_and_leave_and_Redis_refuses_nothing()
    {
        var ports = Ports.Free(3);
        var address = new HostAndPort("127.0.0.1", ports[2]);
        using var redis = StartRedis(address.Port);
        try
        {
            await Eventually.True("Redis answers", () => CanConnect(address));
            var settings = new Dictionary<string, string?>
            {
                ["SNAPPER_REDIS_USER"] = "snapper",
                ["SNAPPER_REDIS_PASSWORD"] = Password,
            };
            string[] options = ["--workers", "2", "--redis", $"{address}"];
            await using var up = UpProcess.Start("up", _temp.File("data"), ports[0] - 1, ports[1], options, settings);
            var worker = (await up.Ready()).Workers[0].Url;
            for (var i = 0; i < 40; i++) await Transfer(worker, i);

            using var admin = await RawRedis.Connect(address, TimeSpan.FromSeconds(5));
            Assert.Equal("OK", admin.Ask("AUTH", "admin", Password)[0]);
            await Eventually.True(
                "states are checkpointed and the log is trimmed", () => Called(admin).IsSupersetOf(["hset", "xtrim"]));
            using (var order = new StringContent("""{"worker":"w2"}""", Encoding.UTF8, "application/json"))
            using (var moved = await Http.PostAsync(new Uri($"{worker}/v1/migrations"), order))
            {
                Assert.True(moved.IsSuccessStatusCode, await moved.Content.ReadAsStringAsync());
            }

            await Eventually.True(
                "w2 has given away what it owned", async () => Entries(await Ask(worker, "v1/workers"), "w2") == 0);
            for (var i = 40; i < 60; i++) await Transfer(worker, i);
            Assert.NotEmpty((await Ask(worker, "v1/actors?type=Account"))["actors"]!.AsArray());

            up.Remember();
            up.Signal(Posix.Terminate);
            Assert.Equal(0, await up.Exit());
            var log = admin.Ask("ACL", "LOG");
            Assert.True(log.Count == 0, string.Join(' ', log));

            // What was done: appends, states, trims, membership, and lists of what is stored.
            string[] expected = ["evalsha", "xadd", "xtrim", "hset", "zadd", "scan", "time"];
            Assert.Equal([], expected.Except(Called(admin)));
        }
        finally
        {
            redis.Kill();
            await redis.WaitForExitAsync();
        }
    }

    private Process StartRedis(int port)
    {
        var mounted = File.ReadAllText(Path.Combine(RepositoryRoot(), "k8s", "components", "redis", "users.acl"));
        Assert.Contains(" PASSWORD ", mounted, StringComparison.Ordinal);
        var file = _temp.File("users.acl");
        var users = mounted.Replace(" PASSWORD ", $" >{Password} ", StringComparison.Ordinal);
        File.WriteAllText(file, $"{users}user admin on >{Password} ~* &* +@all\n");
        string[] arguments =
        [
            "--port", $"{port}", "--bind", "127.0.0.1", "--save", "", "--appendonly", "yes", "--appendfsync", "always",
            "--dir", _temp.Path, "--aclfile", file,
        ];
        var program = ServerPrograms.Redis(ExecutableFinder.System).Path!;
        return Process.Start(new ProcessStartInfo(program, arguments) { RedirectStandardOutput = true })!;
    }

    private static async Task<bool> CanConnect(HostAndPort address)
    {
        try
        {
            using var connection = await RawRedis.Connect(address, TimeSpan.FromSeconds(5));
            return true;
        }
        catch (System.Net.Sockets.SocketException)
        {
            return false;
        }
    }

    /// <summary>Commands that Redis has run, in scripts as well.</summary>
    private static HashSet<string> Called(RawRedis admin)
    {
        const string prefix = "cmdstat_";
        var lines = string.Concat(admin.Ask("INFO", "commandstats")).Split('\n');
        var counted = lines.Where(line => line.StartsWith(prefix, StringComparison.Ordinal));
        return [.. counted.Select(line => line.Split(':')[0][prefix.Length..])];
    }

    private static async Task Transfer(string worker, int number)
    {
        var (from, to) = (number % 10, (number + 1) % 10);
        var actor = $$"""{"type":"Account","id":"a{{from}}"}""";
        var input = $$"""{"to":"a{{to}}","amount":1}""";
        var body = $$"""{"actor":{{actor}},"method":"Transfer","input":{{input}},"id":"t{{number}}"}""";
        using var content = new StringContent(body, Encoding.UTF8, "application/json");
        using var answer = await Http.PostAsync(new Uri($"{worker}/v1/transactions"), content);
        Assert.True(answer.StatusCode == HttpStatusCode.OK, await answer.Content.ReadAsStringAsync());
    }

    private static async Task<JsonNode> Ask(string worker, string path) =>
        JsonNode.Parse(await Http.GetStringAsync(new Uri($"{worker}/{path}")))!;

    private static long Entries(JsonNode workers, string name) =>
        (long)workers["workers"]!.AsArray().Single(worker => (string?)worker!["worker"] == name)!["entries"]!;

    private static string RepositoryRoot()
    {
        var folder = new DirectoryInfo(AppContext.BaseDirectory);
        while (!File.Exists(Path.Combine(folder.FullName, "Snapper.Dapr.sln")))
        {
            folder = folder.Parent ?? throw new DirectoryNotFoundException("The tests do not run inside the tree.");
        }

        return folder.FullName;
    }
}
