using System.Globalization;
using Snapper.Live.Harness;

namespace Snapper.Live.Cluster;

/// <summary>
/// Scripts that stand in for redis-server and daprd when <c>up</c> starts several workers: Redis listens on another port than it was told, and so
/// does each sidecar, which finds its worker at another one, so that links lie on these roads.
/// </summary>
internal sealed class ClusterStand
{
    private readonly string _folder;

    /// <summary>Writes the scripts.</summary>
    /// <param name="folder">Made when it is not there.</param>
    /// <param name="redisPort">Where Redis really listens.</param>
    public ClusterStand(string folder, int redisPort)
    {
        _folder = Directory.CreateDirectory(folder).FullName;
        Redis = Write("redis-server", $$"""
            #!/bin/sh
            case "$1" in --version|-v) exec '{{ServerPrograms.PathOf("redis-server")}}' "$@";; esac
            last=
            for word do
              shift
              if [ "$last" = --port ]; then
                printf %s "$word" >'{{RedisAsked}}.next' && mv '{{RedisAsked}}.next' '{{RedisAsked}}'
                word={{redisPort.ToString(CultureInfo.InvariantCulture)}}
              fi
              last=$word
              set -- "$@" "$word"
            done
            exec '{{ServerPrograms.PathOf("redis-server")}}' "$@"
            """);
        Daprd = Write("daprd", $$"""
            #!/bin/sh
            last=
            for word do
              shift
              case "$last" in
                --app-port) word=$((word + {{AppShift}}));;
                --dapr-http-port) word=$((word + {{SidecarShift}}));;
              esac
              last=$word
              set -- "$@" "$word"
            done
            exec '{{ServerPrograms.PathOf("daprd")}}' "$@"
            """);
    }

    /// <summary>Sidecars find their worker so much above its port.</summary>
    public const int AppShift = 40;

    /// <summary>Sidecars listen so much above the port at which their worker looks for them.</summary>
    public const int SidecarShift = 20;

    /// <summary>The script to name by SNAPPER_REDIS_SERVER.</summary>
    public string Redis { get; }

    /// <summary>The script to name by SNAPPER_DAPRD.</summary>
    public string Daprd { get; }

    /// <summary>Where workers look for Redis; null: not started yet.</summary>
    public int? RedisPortAsked => Read(RedisAsked);

    private string RedisAsked => Path.Combine(_folder, "redis-port");

    private static int? Read(string path) =>
        File.Exists(path) && int.TryParse(File.ReadAllText(path), NumberStyles.None, CultureInfo.InvariantCulture, out var port) ? port : null;

    private string Write(string name, string script)
    {
        var path = Path.Combine(_folder, name);
        File.WriteAllText(path, script + "\n");
        if (OperatingSystem.IsWindows())
        {
            throw new PlatformNotSupportedException("The stand-ins are shell scripts.");
        }

        File.SetUnixFileMode(path, UnixFileMode.UserRead | UnixFileMode.UserWrite | UnixFileMode.UserExecute);
        return path;
    }
}
