using System.Globalization;
using Snapper.Live.Harness;

namespace Snapper.Live.Cluster;

/// <summary>
/// Scripts that stand in for redis-server and daprd when <c>up</c> starts several workers: Redis listens on another port than it was told, and each sidecar
/// is reached by the others at a loopback address of its own, so that links lie on these roads.
/// </summary>
internal sealed class ClusterStand
{
    private readonly string _folder;

    /// <summary>Writes the scripts.</summary>
    /// <param name="folder">Made when it is not there.</param>
    /// <param name="redisPort">Where Redis really listens.</param>
    /// <param name="basePort">Worker i listens on this plus i.</param>
    public ClusterStand(string folder, int redisPort, int basePort)
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
            case "$1" in --version) exec '{{ServerPrograms.PathOf("daprd")}}' "$@";; esac
            last= number= port=
            for word do
              case "$last" in
                --app-port) number=$((word - {{basePort.ToString(CultureInfo.InvariantCulture)}}));;
                --dapr-internal-grpc-port) port=$word;;
              esac
              last=$word
            done
            printf %s "$port" >"{{_folder}}/inbox-$number.next" && mv "{{_folder}}/inbox-$number.next" "{{_folder}}/inbox-$number"
            DAPR_HOST_IP=127.0.0.$((100 + number))
            export DAPR_HOST_IP
            exec '{{ServerPrograms.PathOf("daprd")}}' "$@"
            """);
    }

    /// <summary>The script to name by SNAPPER_REDIS_SERVER.</summary>
    public string Redis { get; }

    /// <summary>The script to name by SNAPPER_DAPRD.</summary>
    public string Daprd { get; }

    /// <summary>Where workers look for Redis; null: not started yet.</summary>
    public int? RedisPortAsked => Read(RedisAsked);

    private string RedisAsked => Path.Combine(_folder, "redis-port");

    /// <summary>Where other sidecars look for that of a worker, from 1; null: not started yet.</summary>
    public int? InboxOf(int worker) => Read(Path.Combine(_folder, $"inbox-{worker}"));

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
