using System.Globalization;
using Snapper.Live.Harness;

namespace Snapper.Live.Running;

/// <summary>
/// Scripts that stand in for redis-server and daprd when <c>up</c> starts them: each becomes the real program (same process, so that <c>up</c> watches the
/// real one), with a port changed on its command line, so that a <see cref="Links.Link"/> lies on its roads.
/// </summary>
internal sealed class Stand
{
    private readonly string _folder;

    /// <summary>Writes the scripts.</summary>
    /// <param name="folder">Made when it is not there.</param>
    /// <param name="redisPort">Where Redis really listens.</param>
    /// <param name="appPort">Where daprd finds its app.</param>
    /// <param name="placementPort">Where daprd finds placement.</param>
    public Stand(string folder, int redisPort, int appPort, int placementPort)
    {
        _folder = Directory.CreateDirectory(folder).FullName;
        Redis = Write("redis-server", $$"""
            #!/bin/sh
            # A file that may not grow (see RoomOf) must give an error, not a signal; what is ignored here stays ignored behind exec.
            trap '' 25
            case "$1" in --version|-v) exec '{{ServerPrograms.PathOf("redis-server")}}' "$@";; esac
            last=
            for word do
              shift
              if [ "$last" = --port ]; then
                printf %s "$word" >'{{RedisAsked}}.next' && mv '{{RedisAsked}}.next' '{{RedisAsked}}'
                word={{Text(redisPort)}}
              fi
              last=$word
              set -- "$@" "$word"
            done
            if [ -s '{{RedisRoom}}' ]; then ulimit -S -f "$(cat '{{RedisRoom}}')"; fi
            exec '{{ServerPrograms.PathOf("redis-server")}}' "$@"
            """);
        Daprd = Write("daprd", $$"""
            #!/bin/sh
            last=
            for word do
              shift
              case "$last" in
                --app-port) word={{Text(appPort)}};;
                --placement-host-address)
                  printf %s "${word##*:}" >'{{PlacementAsked}}.next' && mv '{{PlacementAsked}}.next' '{{PlacementAsked}}'
                  word=127.0.0.1:{{Text(placementPort)}};;
              esac
              last=$word
              set -- "$@" "$word"
            done
            exec '{{ServerPrograms.PathOf("daprd")}}' "$@"
            """);
    }

    /// <summary>The script to name by SNAPPER_REDIS_SERVER.</summary>
    public string Redis { get; }

    /// <summary>The script to name by SNAPPER_DAPRD.</summary>
    public string Daprd { get; }

    private string RedisAsked => Path.Combine(_folder, "redis-port");

    private string PlacementAsked => Path.Combine(_folder, "placement-port");

    private string RedisRoom => Path.Combine(_folder, "redis-room");

    /// <summary>The port on which <c>up</c> wanted Redis, where the worker looks for it; null: not started yet.</summary>
    public int? RedisPortAsked => Read(RedisAsked);

    /// <summary>The port of placement that <c>up</c> named to daprd; null: not started yet.</summary>
    public int? PlacementPortAsked => Read(PlacementAsked);

    /// <summary>How long any file of a Redis that is started from now on may become, in blocks of 512 bytes; null: as long as the disk allows.</summary>
    public void RoomOf(long? blocks)
    {
        if (blocks is { } most)
        {
            File.WriteAllText(RedisRoom, most.ToString(CultureInfo.InvariantCulture));
        }
        else
        {
            File.Delete(RedisRoom);
        }
    }

    private static string Text(int number) => number.ToString(CultureInfo.InvariantCulture);

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
