using System.Diagnostics;
using System.Globalization;
using System.Net;
using System.Net.Sockets;
using System.Text.Json.Nodes;
using System.Text.RegularExpressions;
using Snapper.Server.Processes;
using Xunit;
using static Snapper.Manifests.Tests.Rules.Manifests;

namespace Snapper.Manifests.Tests;

/// <summary>
/// The Redis of a rendering, started by the command of its container on the files that its pod mounts. Only places differ from those in a pod: folders of
/// one's own, loopback, a free port.
/// </summary>
internal sealed class MountedRedis : IAsyncDisposable
{
    /// <summary>What stands in the secret.</summary>
    public const string Password = "a password that everybody knows";

    private static readonly TimeSpan s_deadline = TimeSpan.FromSeconds(30);

    private readonly DirectoryInfo _folder = Directory.CreateTempSubdirectory("snapper-mounted-redis-");
    private readonly Dictionary<string, string> _places = new(StringComparer.Ordinal);
    private readonly Process _process;

    private MountedRedis(Rules.Manifests all, IReadOnlyDictionary<string, IReadOnlyDictionary<string, string>> secrets)
    {
        Port = FreePort();
        var pods = all.Pods.Single(pods => pods.Where == "StatefulSet/snapper-redis");
        Container = pods.Containers.Single();
        foreach (var mount in List(Container["volumeMounts"])) _places.Add((string)mount["mountPath"]!, _folder.CreateSubdirectory((string)mount["name"]!).FullName);
        foreach (var mount in List(Container["volumeMounts"]))
        {
            var volume = List(pods.Spec["volumes"]).FirstOrDefault(one => (string?)one["name"] == (string?)mount["name"]);
            foreach (var (path, text) in Files(all, volume, secrets)) File.WriteAllText(Path.Combine(_places[(string)mount["mountPath"]!], path), Here(text));
        }

        string[] command = [.. Texts(Container["command"]).Select(Here)];
        _process = Process.Start(new ProcessStartInfo(command[0], command[1..]) { RedirectStandardOutput = true, RedirectStandardError = true })!;
    }

    public int Port { get; }

    public JsonObject Container { get; }

    public HostAndPort Address => new("127.0.0.1", Port);

    /// <summary>Starts it; it answers, though not to everyone.</summary>
    public static async Task<MountedRedis> Start(Rules.Manifests all, IReadOnlyDictionary<string, IReadOnlyDictionary<string, string>>? secrets = null)
    {
        var made = new MountedRedis(all, secrets ?? new Dictionary<string, IReadOnlyDictionary<string, string>> { ["snapper-redis"] = new Dictionary<string, string> { ["password"] = Password, ["auth.conf"] = $"requirepass \"{Password}\"" } });
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
                var said = await made._process.StandardError.ReadToEndAsync() + await made._process.StandardOutput.ReadToEndAsync();
                await made.DisposeAsync();
                throw new InvalidOperationException(ended ? $"Redis ended: {said}" : $"Redis does not listen: {said}");
            }
        }
    }

    /// <summary>A connection of nobody yet.</summary>
    public Task<RawRedis> Connect() => RawRedis.Connect(Address, TimeSpan.FromSeconds(5));

    /// <summary>Where a path of the pod is on this machine, in a text.</summary>
    public string Here(string text)
    {
        foreach (var (path, place) in _places) text = Regex.Replace(text, $@"(?<![\w/]){Regex.Escape(path)}(?![\w-])", place);
        return text.Replace("bind * -::*", "bind 127.0.0.1", StringComparison.Ordinal).Replace("port 6379", string.Create(CultureInfo.InvariantCulture, $"port {Port}"), StringComparison.Ordinal);
    }

    /// <summary>Runs a probe's command in the container's environment, as far as that holds no secrets.</summary>
    /// <returns>Its exit code, and what it said.</returns>
    public async Task<(int Code, string Said)> Probe(string name)
    {
        string[] command = [.. Texts(Container[name]!["exec"]!["command"]).Select(word => Regex.Replace(Here(word), @"\bredis-cli\b", $"redis-cli -p {Port}"))];
        if (command[0].Contains(' ', StringComparison.Ordinal)) command = [.. command[0].Split(' '), .. command[1..]];
        var start = new ProcessStartInfo(command[0], command[1..]) { RedirectStandardOutput = true, RedirectStandardError = true };
        foreach (var variable in List(Container["env"])) start.Environment[(string)variable["name"]!] = (string?)variable["value"] ?? Password;
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

    private static IEnumerable<(string Path, string Text)> Files(Rules.Manifests all, JsonObject? volume, IReadOnlyDictionary<string, IReadOnlyDictionary<string, string>> secrets)
    {
        if (volume?["configMap"] is { } map)
        {
            var data = all.Find("ConfigMap", (string?)map["name"])!["data"]!;
            return List(map["items"]).Select(item => ((string)item["path"]!, (string)data[(string)item["key"]!]!));
        }

        return volume?["secret"] is not { } secret ? [] : List(secret["items"]).Select(item => ((string)item["path"]!, secrets[(string)secret["secretName"]!][(string)item["key"]!]));
    }

    private static int FreePort()
    {
        using var listener = new TcpListener(IPAddress.Loopback, 0);
        listener.Start();
        return ((IPEndPoint)listener.LocalEndpoint).Port;
    }
}
