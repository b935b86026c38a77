using System.Diagnostics;
using System.Net;
using System.Net.Sockets;
using System.Text.Json.Nodes;
using System.Text.RegularExpressions;
using Snapper.AspNetCore.Processes;
using Xunit;
using static Snapper.Manifests.Tests.Rules.Manifests;

namespace Snapper.Manifests.Tests;

/// <summary>
/// The Redis of a rendering, started by the command of its container on the files that its pod mounts. Only places
/// differ from those in a pod: folders of one's own, loopback, a free port.
/// </summary>
internal sealed class MountedRedis : IAsyncDisposable
{
    /// <summary>What stands in the secret.</summary>
    public const string Password = "a password of tests";

    private static readonly TimeSpan s_deadline = TimeSpan.FromSeconds(30);

    private readonly DirectoryInfo _folder = Directory.CreateTempSubdirectory("snapper-mounted-redis-");
    private readonly Dictionary<string, string> _places = new(StringComparer.Ordinal);
    private readonly Process _process;

    private MountedRedis(Rules.Manifests all, Func<string, string, string> secrets)
    {
        Port = FreePort();
        var pods = all.Pods.Single(pods => pods.Where == "StatefulSet/snapper-redis");
        Container = pods.Containers.Single();
        var mounts = List(Container["volumeMounts"]).Select(one => ((string)one["mountPath"]!, (string)one["name"]!));
        foreach (var (path, name) in mounts) _places.Add(path, _folder.CreateSubdirectory(name).FullName);
        foreach (var (place, name) in mounts)
        {
            var volume = List(pods.Spec["volumes"]).FirstOrDefault(one => (string?)one["name"] == name);
            foreach (var (file, text) in Files(all, volume, secrets))
            {
                File.WriteAllText(Path.Combine(_places[place], file), Here(text));
            }
        }

        _process = Process.Start(Told([.. Texts(Container["command"]).Select(Here)]))!;
    }

    public int Port { get; }

    public JsonObject Container { get; }

    public HostAndPort Address => new("127.0.0.1", Port);

    /// <summary>Starts it; it answers, though not to everyone.</summary>
    public static Task<MountedRedis> Start(Rules.Manifests all, string password = Password) =>
        Start(all, (secret, key) => (secret, key) == ("snapper-redis", "password")
            ? password
            : throw new InvalidOperationException($"{secret} has no key {key}"));

    /// <summary>With the values that a function has for secrets and their keys.</summary>
    public static async Task<MountedRedis> Start(Rules.Manifests all, Func<string, string, string> secrets)
    {
        var made = new MountedRedis(all, secrets);
        for (var started = Stopwatch.GetTimestamp(); ;)
        {
            try
            {
                using var client = new TcpClient();
                await client.ConnectAsync(IPAddress.Loopback, made.Port);
                return made;
            }
            catch (SocketException) when (!made._process.HasExited && Stopwatch.GetElapsedTime(started) < s_deadline)
            {
                await Task.Delay(20);
            }
            catch (SocketException)
            {
                var ended = made._process.HasExited;
                if (!ended) made._process.Kill();
                var said = await made._process.StandardError.ReadToEndAsync();
                said += await made._process.StandardOutput.ReadToEndAsync();
                await made.DisposeAsync();
                throw new InvalidOperationException(ended ? $"Redis ended: {said}" : $"Redis does not listen: {said}");
            }
        }
    }

    /// <summary>What every account of the machine can read of the server's process.</summary>
    public string CommandLine => File.ReadAllText($"/proc/{_process.Id}/cmdline");

    /// <summary>What its own account can read of it.</summary>
    public string Environment => File.ReadAllText($"/proc/{_process.Id}/environ");

    /// <summary>A connection that has not signed in.</summary>
    public Task<RawRedis> Connect() => RawRedis.Connect(Address, TimeSpan.FromSeconds(5));

    /// <summary>Where a path of the pod is on this machine, in a text.</summary>
    public string Here(string text)
    {
        foreach (var (path, place) in _places)
        {
            text = Regex.Replace(text, $@"(?<![\w/]){Regex.Escape(path)}(?![\w-])", place);
        }

        return text.Replace("bind * -::*", "bind 127.0.0.1", StringComparison.Ordinal)
            .Replace("port 6379", $"port {Port}", StringComparison.Ordinal);
    }

    /// <summary>Runs a probe's command in the container's environment, as far as that holds no secrets.</summary>
    /// <returns>Its exit code, and what it said.</returns>
    public async Task<(int Code, string Said)> Probe(string name)
    {
        var words = Texts(Container[name]!["exec"]!["command"])
            .Select(word => Here(word).Replace("redis-cli", $"redis-cli -p {Port}", StringComparison.Ordinal));
        string[] command = [.. words.SelectMany(word => word[0] == 'r' ? word.Split(' ') : [word])];
        var start = Told(command);
        foreach (var variable in List(Container["env"]))
        {
            start.Environment[(string)variable["name"]!] = (string?)variable["value"];
        }

        using var process = Process.Start(start)!;
        var errors = process.StandardError.ReadToEndAsync();
        var said = await process.StandardOutput.ReadToEndAsync() + await errors;
        await process.WaitForExitAsync();
        return (process.ExitCode, said);
    }

    public async ValueTask DisposeAsync()
    {
        if (!_process.HasExited) _process.Kill();
        await _process.WaitForExitAsync();
        _process.Dispose();
        _folder.Delete(recursive: true);
    }

    private static ProcessStartInfo Told(string[] command) =>
        new(command[0], command[1..]) { RedirectStandardOutput = true, RedirectStandardError = true };

    private static IEnumerable<(string Path, string Text)> Files(
        Rules.Manifests all, JsonObject? volume, Func<string, string, string> secrets)
    {
        if (volume?["configMap"] is { } map)
        {
            var data = all.Find("ConfigMap", (string?)map["name"])!["data"]!;
            return List(map["items"]).Select(item => ((string)item["path"]!, (string)data[(string)item["key"]!]!));
        }

        if (volume?["secret"] is not { } secret) return [];
        return List(secret["items"])
            .Select(item => ((string)item["path"]!, secrets((string)secret["secretName"]!, (string)item["key"]!)));
    }

    private static int FreePort()
    {
        using var listener = new TcpListener(IPAddress.Loopback, 0);
        listener.Start();
        return ((IPEndPoint)listener.LocalEndpoint).Port;
    }
}
