using System.Runtime.Versioning;
using System.Text;
using System.Text.Json;
using Snapper.AspNetCore.Processes;
using Snapper.Cli.Supervision;
using Xunit;

namespace Snapper.Cli.Tests;

/// <summary>The private Redis lets in only those who can read the data directory, and that is its owner alone. With a real redis-server, and Dapr.</summary>
[SupportedOSPlatform("linux")]
public sealed class PrivateRedisTests : IDisposable
{
    private static readonly HttpClient Http = new() { Timeout = TimeSpan.FromSeconds(10) };

    private readonly TempFolder _temp = new();
    private readonly int[] _ports = Ports.Free(2);

    private string Data => _temp.File("made by up");

    private string PasswordFile => Path.Combine(Data, PrivateRedisSecret.FileName);

    public void Dispose() => _temp.Dispose();

    private UpProcess Up(params string[] options) => UpProcess.Start("up", Data, _ports[0] - 1, _ports[1], options);

    [NeedsServersFact]
    public async Task Without_the_password_nobody_gets_in_and_it_stands_nowhere_but_in_files_of_the_owner()
    {
        string password;
        await using (var up = Up())
        {
            var ready = await up.Ready();
            Assert.Equal(("redis", "daprd"), (ready.Log, ready.Dapr));
            await Deposit(ready, 5);
            Assert.True(HostAndPort.TryParse(ready.Redis!, out var address));
            password = (await File.ReadAllTextAsync(PasswordFile)).Trim();
            Assert.True(password.Length >= 32);
            using (var stranger = await RawRedis.Connect(address, TimeSpan.FromSeconds(5)))
            {
                foreach (var command in (string[][])[["GET", "x"], ["SET", "x", "1"], ["KEYS", "*"], ["CONFIG", "GET", "requirepass"], ["SHUTDOWN", "NOSAVE"]])
                {
                    Assert.StartsWith("NOAUTH", Assert.Throws<RawRedisException>(() => stranger.Ask(command)).Message, StringComparison.Ordinal);
                }

                Assert.StartsWith("WRONGPASS", Assert.Throws<RawRedisException>(() => stranger.Ask("AUTH", password[1..])).Message, StringComparison.Ordinal);
                Assert.Equal(["OK"], stranger.Ask("AUTH", password));
                Assert.NotEmpty(stranger.Ask("HGETALL", "snapper:{w1}:meta"));
            }

            // Redis comes back with the same one, and who knew it goes on.
            Assert.True(Posix.Send(ready.RedisPid!.Value, Posix.Kill));
            await Eventually.True("Redis is back", async () => await RedisProbe.Unavailable(address, RedisLogin.WithPassword(password)) is null);
            Assert.Contains("it asks for a password", await RedisProbe.Unavailable(address));
            await Eventually.True("a deposit is committed", async () => await TryDeposit(ready, 5));

            var processes = up.Remember().Select(child => child.Pid).Append(up.Pid).ToArray();
            Assert.Equal(5, processes.Length);
            Assert.All(processes, pid => Assert.DoesNotContain(password, File.ReadAllText($"/proc/{pid}/cmdline")));
            foreach (var path in (string[])["/v1/status", "/metrics", "/readyz"]) Assert.DoesNotContain(password, await Http.GetStringAsync(ready.Workers[0].Url + path));
            Assert.DoesNotContain(password, await Http.GetStringAsync(ready.Workers[0].Sidecar + "/v1.0/metadata"));
            var doctor = new StringWriter();
            await Snapper.Cli.Commands.CommandLine.Run(["doctor", "--data", Data], doctor, doctor);
            Assert.DoesNotContain(password, doctor.ToString());
            Assert.Contains("of this account alone", doctor.ToString());

            AssertClosed(Data);
            up.Signal(Posix.Terminate);
            Assert.Equal(0, await up.Exit());
            Assert.DoesNotContain(password, up.AllText);
        }

        Assert.Equal([PasswordFile, Path.Combine(Data, "run", "redis.conf")], Holders(password));
        await using var next = Up();
        await next.Ready();
        Assert.Equal(password, (await File.ReadAllTextAsync(PasswordFile)).Trim());
    }

    [NeedsServersFact]
    public async Task A_directory_of_an_earlier_version_is_closed_and_its_Redis_taken_over_with_what_it_holds()
    {
        await using (var up = Up())
        {
            await Deposit(await up.Ready(), 5);
            up.Signal(Posix.Terminate);
            Assert.Equal(0, await up.Exit());
        }

        // As they were left before: no password, and everything open.
        File.Delete(PasswordFile);
        File.Delete(Path.Combine(Data, "run", "redis.conf"));
        const UnixFileMode everybody = UnixFileMode.UserRead | UnixFileMode.UserWrite | UnixFileMode.GroupRead | UnixFileMode.OtherRead;
        foreach (var file in Directory.GetFiles(Data, "*", SearchOption.AllDirectories)) File.SetUnixFileMode(file, everybody);
        foreach (var folder in Folders()) File.SetUnixFileMode(folder, everybody | UnixFileMode.UserExecute | UnixFileMode.GroupExecute | UnixFileMode.OtherExecute);

        await using var next = Up();
        var ready = await next.Ready();
        Assert.Contains($"other accounts of this machine could look into {Data}, {Path.Combine(Data, "logs")}", next.ErrorText);
        Assert.All(Folders(), folder => Assert.False(FileModeMask.IsOpen(folder) && Path.GetDirectoryName(folder) == Data, folder));
        Assert.False(FileModeMask.IsOpen(Data));
        Assert.False(FileModeMask.IsOpen(PasswordFile));
        Assert.True(HostAndPort.TryParse(ready.Redis!, out var address));
        Assert.Contains("it asks for a password", await RedisProbe.Unavailable(address));
        Assert.Equal(10_005, await Balance(ready));
        await Deposit(ready, 1);
        Assert.Equal(10_006, await Balance(ready));
    }

    [Fact]
    public void A_password_that_others_could_read_or_that_is_none_is_made_anew()
    {
        using var data = DataDirectory.Open(Data);
        var first = PrivateRedisSecret.Take(data);
        Assert.Null(first.Note);
        Assert.Equal(first.Login.Password, PrivateRedisSecret.Take(data).Login.Password);
        Assert.Equal($"requirepass {first.Login.Password}\n", File.ReadAllText(first.ConfigurationFile));
        Assert.All((string[])[PasswordFile, first.ConfigurationFile], file => Assert.Equal(UnixFileMode.UserRead | UnixFileMode.UserWrite, File.GetUnixFileMode(file)));

        File.SetUnixFileMode(PasswordFile, UnixFileMode.UserRead | UnixFileMode.UserWrite | UnixFileMode.GroupRead);
        var second = PrivateRedisSecret.Take(data);
        Assert.Equal($"{PasswordFile} is made anew: other accounts could read it", second.Note);
        Assert.NotEqual(first.Login.Password, second.Login.Password);
        Assert.False(FileModeMask.IsOpen(PasswordFile));

        foreach (var wrong in (string[])["", "short", new string('a', 31) + " \"", new string('a', 40) + "\nrename-command FLUSHALL x"])
        {
            File.WriteAllText(PasswordFile, wrong);
            var next = PrivateRedisSecret.Take(data);
            Assert.Equal($"{PasswordFile} is made anew: it must be 32 to 512 letters, digits, '-' and '_'", next.Note);
            Assert.Equal(next.Login.Password + "\n", File.ReadAllText(PasswordFile));
        }

        var own = new string('a', 32);
        File.WriteAllText(PasswordFile, own);
        Assert.Equal((own, null), (PrivateRedisSecret.Take(data).Login.Password, PrivateRedisSecret.Take(data).Note));
        Assert.DoesNotContain(own, $"{PrivateRedisSecret.Take(data).Login}");
    }

    [Fact]
    public void A_password_that_cannot_be_read_is_named()
    {
        using var data = DataDirectory.Open(Data);
        Directory.CreateDirectory(PasswordFile);
        var problem = Assert.Throws<StartupException>(() => PrivateRedisSecret.Take(data));
        Assert.Equal($"{PasswordFile} is a folder, not a file with the password of the private Redis; {FixHints.Password}", problem.Message);

        Directory.Delete(PasswordFile);
        PrivateRedisSecret.Take(data);
        using (var held = new FileStream(PasswordFile, FileMode.Open, FileAccess.ReadWrite, FileShare.None))
        {
            Assert.StartsWith($"{PasswordFile} cannot be read: ", Assert.Throws<StartupException>(() => PrivateRedisSecret.Take(data)).Message, StringComparison.Ordinal);
        }
    }

    [NeedsServersFact]
    public async Task The_name_of_the_folder_does_not_open_it_and_neither_does_a_lost_configuration()
    {
        // Redis 7 reads the name of its configuration as a pattern.
        var data = _temp.File("x[1] a*b? \"'\\ Größe");
        await using var up = UpProcess.Start("up", data, _ports[0] - 1, _ports[1]);
        var ready = await up.Ready();
        Assert.True(HostAndPort.TryParse(ready.Redis!, out var address));
        Assert.Contains("it asks for a password", await RedisProbe.Unavailable(address));
        Assert.True(Directory.Exists(Path.Combine(data, "redis", "appendonlydir")));

        File.Delete(Path.Combine(data, "run", "redis.conf"));
        Assert.True(Posix.Send(ready.RedisPid!.Value, Posix.Kill));
        var login = RedisLogin.WithPassword((await File.ReadAllTextAsync(Path.Combine(data, PrivateRedisSecret.FileName))).Trim());
        await Eventually.True("Redis is back", async () => await RedisProbe.Unavailable(address, login) is null);
        Assert.Contains("it asks for a password", await RedisProbe.Unavailable(address));
        await Eventually.True("a deposit is committed", () => TryDeposit(ready, 5));
    }

    [NeedsServersFact]
    public async Task A_Redis_that_has_not_read_its_password_is_refused()
    {
        var careless = _temp.Script("careless-redis", $"""[ "$1" = --include ] && shift 2; exec "{ServerPrograms.Redis(ExecutableFinder.System).Path}" "$@" """);
        await using var up = UpProcess.Start("up", Data, _ports[0] - 1, _ports[1], [], new Dictionary<string, string?> { ["SNAPPER_REDIS_SERVER"] = careless });
        Assert.Equal(1, await up.Exit());
        Assert.Contains($"lets everybody in without the password of {Path.Combine(Data, "run", "redis.conf")}; {FixHints.OpenRedis}", up.ErrorText);
    }

    private static void AssertClosed(string root)
    {
        var open = Directory.EnumerateFileSystemEntries(root, "*", SearchOption.AllDirectories).Prepend(root)
            .Where(path => (File.Exists(path) || Directory.Exists(path)) && FileModeMask.IsOpen(path)).Select(path => $"{path} {File.GetUnixFileMode(path)}");
        Assert.Empty(open);
    }

    private string[] Holders(string password) =>
        [.. Directory.GetFiles(Data, "*", SearchOption.AllDirectories).Where(file => Encoding.Latin1.GetString(File.ReadAllBytes(file)).Contains(password, StringComparison.Ordinal)).Order()];

    private string[] Folders() => [.. Directory.GetDirectories(Data, "*", SearchOption.AllDirectories).Prepend(Data)];

    private static async Task Deposit(ReadyLine ready, int amount) => Assert.True(await TryDeposit(ready, amount));

    private static async Task<bool> TryDeposit(ReadyLine ready, int amount) =>
        (await Send(ready, "DepositChecking", $$"""{"amount":{{amount}}}"""))?.GetProperty("outcome").GetString() == "committed";

    private static async Task<decimal> Balance(ReadyLine ready) => (await Send(ready, "Balance", "null"))!.Value.GetProperty("result").GetProperty("checking").GetDecimal();

    private static async Task<JsonElement?> Send(ReadyLine ready, string method, string input)
    {
        using var body = new StringContent($$"""{"actor":{"type":"Account","id":"kept"},"method":"{{method}}","input":{{input}}}""", Encoding.UTF8, "application/json");
        using var answer = await Http.PostAsync(ready.Workers[0].Sidecar + "/v1.0/invoke/snapper/method/v1/transactions", body);
        if (!answer.IsSuccessStatusCode) return null;
        using var document = JsonDocument.Parse(await answer.Content.ReadAsStreamAsync());
        return document.RootElement.Clone();
    }
}
