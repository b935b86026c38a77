using System.Globalization;
using Snapper.Live.Harness;

namespace Snapper.Live.Running;

/// <summary>
/// A folder of scripts that stand in for servers when <c>up</c> starts them: each becomes the real program (same process, so that <c>up</c> watches the real one) with
/// words of its command line changed.
/// </summary>
/// <param name="folder">Made when it is not there.</param>
internal sealed class StandFolder(string folder)
{
    private readonly string _folder = Directory.CreateDirectory(folder).FullName;

    /// <summary>A file beside the scripts.</summary>
    public string PathOf(string name) => Path.Combine(_folder, name);

    /// <summary>Shell that writes a port down, all of it at once.</summary>
    /// <param name="port">In the shell's words.</param>
    /// <param name="name">Name of the file.</param>
    public string Tells(string port, string name) => $"printf %s \"{port}\" >'{PathOf(name)}.next' && mv '{PathOf(name)}.next' '{PathOf(name)}'";

    /// <summary>A port that a script wrote down; null: it was not started yet.</summary>
    public int? Told(string name) =>
        File.Exists(PathOf(name)) && int.TryParse(File.ReadAllText(PathOf(name)), NumberStyles.None, CultureInfo.InvariantCulture, out var port) ? port : null;

    /// <summary>Writes a script.</summary>
    /// <param name="name">Its name.</param>
    /// <param name="cases">Cases of shell for the word before ($last), each of which may change $word.</param>
    /// <param name="first">Shell that comes first.</param>
    /// <param name="then">Shell that comes last, before it becomes the program.</param>
    /// <param name="program">The program; null: the server of this name.</param>
    /// <returns>Where it is.</returns>
    public string Write(string name, string cases, string first = "", string then = "", string? program = null)
    {
        var path = PathOf(name);
        File.WriteAllText(path, $$"""
            #!/bin/sh
            {{first}}
            last=
            for word do
              shift
              case "$last" in
                {{cases}}
              esac
              last=$word
              set -- "$@" "$word"
            done
            {{then}}
            exec '{{program ?? ServerPrograms.PathOf(name)}}' "$@"

            """);
        if (OperatingSystem.IsWindows())
        {
            throw new PlatformNotSupportedException("The stand-ins are shell scripts.");
        }

        File.SetUnixFileMode(path, UnixFileMode.UserRead | UnixFileMode.UserWrite | UnixFileMode.UserExecute);
        return path;
    }

    /// <summary>Writes the script of a Redis that listens elsewhere than it was told, and says where that was.</summary>
    /// <param name="port">Where it really listens.</param>
    /// <returns>Where it is.</returns>
    public string WriteRedis(int port) => Write(
        "redis-server",
        $"--port) {Tells("$word", RedisPort)}; word={Text(port)};;",
        $"""
        # A file that may not grow (see RoomOf) must give an error, not a signal; what is ignored here stays ignored behind exec.
        trap '' 25
        case "$1" in --version|-v) exec '{ServerPrograms.PathOf("redis-server")}' "$@";; esac
        """,
        $"""
        if [ -s '{PathOf(RedisRoom)}' ]; then ulimit -S -f "$(cat '{PathOf(RedisRoom)}')"; fi
        if [ -s '{PathOf(RedisMaster)}' ]; then read -r master password <'{PathOf(RedisMaster)}'; set -- "$@" --replicaof 127.0.0.1 "$master" --masterauth "$password"; fi
        """);

    /// <summary>How long any file of a Redis that is started from now on may become, in blocks of 512 bytes; null: as long as the disk allows.</summary>
    public void RoomOf(long? blocks) => Put(RedisRoom, blocks?.ToString(CultureInfo.InvariantCulture));

    /// <summary>A Redis that is started from now on copies this one; null: it is nobody's replica.</summary>
    public void CopiesFrom(int? master, string password) => Put(RedisMaster, master is { } port ? $"{Text(port)} {password}\n" : null);

    /// <summary>The port on which <c>up</c> wanted Redis, where workers look for it; null: not started yet.</summary>
    public int? RedisPortAsked => Told(RedisPort);

    /// <summary>The next Redis may be wanted elsewhere.</summary>
    public void ForgetRedisPort() => Put(RedisPort, null);

    public static string Text(int number) => number.ToString(CultureInfo.InvariantCulture);

    private const string RedisPort = "redis-port";
    private const string RedisRoom = "redis-room";
    private const string RedisMaster = "redis-master";

    private void Put(string name, string? text)
    {
        if (text is null)
        {
            File.Delete(PathOf(name));
        }
        else
        {
            File.WriteAllText(PathOf(name), text);
        }
    }
}
