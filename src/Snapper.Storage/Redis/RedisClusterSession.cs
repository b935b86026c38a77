using System.Globalization;
using Snapper.Protocol.Identity;
using Snapper.Storage.Log;
using Snapper.Storage.Membership;
using StackExchange.Redis;

namespace Snapper.Storage.Redis;

/// <summary>Runs the cluster's scripts for one incarnation.</summary>
internal sealed class RedisClusterSession(RedisConnections connections, Incarnation self, RedisLogGuard guard, ClusterOptions options)
{
    private const string DamageBegins = "DAMAGED<";
    private readonly RedisKey _meta = MetaOf(connections);
    private readonly RedisValue _prefix = connections.Options.KeyPrefix;

    public Incarnation Self => self;

    public RedisLogGuard Guard => guard;

    public ClusterOptions Options => options;

    public RedisConnections Connections => connections;

    /// <summary>A script that everybody may run, member or not.</summary>
    public static Task<ScriptAnswer> Read(RedisConnections connections, RedisScript script, CancellationToken cancellation, params RedisValue[] values) =>
        Read(connections, script, MetaOf(connections), [.. values, connections.Options.KeyPrefix], cancellation);

    /// <summary>A script that everybody may run, on the connection for reads.</summary>
    public Task<ScriptAnswer> Read(RedisScript script, RedisValue[] values, CancellationToken cancellation) =>
        Read(connections, script, _meta, [.. values, _prefix], cancellation);

    /// <summary>A script that checks this worker's epoch first.</summary>
    public Task<ScriptAnswer> Run(RedisScript script, RedisValue[] values, CancellationToken cancellation) =>
        Run(connections.State, script.Guarded, [_meta, guard.Meta], [.. values, _prefix, guard.Epoch, guard.Mark], cancellation);

    /// <summary>The same on the connection that has little else to do.</summary>
    public Task<ScriptAnswer> RunUrgently(RedisScript script, RedisValue[] values, CancellationToken cancellation) =>
        Run(connections.Log, script.Guarded, [_meta, guard.Meta], [.. values, _prefix, guard.Epoch, guard.Mark], cancellation);

    /// <summary>The same for a script that looks at a log, or opens it.</summary>
    public Task<ScriptAnswer> RunOnLog(RedisScript script, RedisKeys log, RedisValue[] values, CancellationToken cancellation) =>
        Run(connections.Log, script.Guarded, [log.Meta, log.Stream, guard.Meta], [.. values, _prefix, guard.Epoch, guard.Mark], cancellation);

    private static RedisKey MetaOf(RedisConnections connections) => connections.Options.KeyPrefix + "{cluster}:meta";

    private static Task<ScriptAnswer> Read(
        RedisConnections connections, RedisScript script, RedisKey meta, RedisValue[] values,
        CancellationToken cancellation) =>
        AnswerOf(connections.Read(script, [meta], values, cancellation), [meta]);

    private static Task<ScriptAnswer> Run(
        RedisCommands commands, RedisScript script, RedisKey[] keys, RedisValue[] values,
        CancellationToken cancellation) =>
        AnswerOf(commands.Run(script, keys, values, cancellation), keys);

    private static async Task<ScriptAnswer> AnswerOf(Task<RedisResult> answer, RedisKey[] keys)
    {
        try
        {
            return ScriptAnswer.Of((RedisValue[])(await answer.ConfigureAwait(false))!);
        }
        catch (RedisServerException error) when (error.Message.IndexOf(DamageBegins, StringComparison.Ordinal) is var at and >= 0)
        {
            var what = error.Message[(at + DamageBegins.Length)..];
            var end = what.LastIndexOf('>');
            throw new CorruptLogException($"Redis holds what this program did not write: {(end < 0 ? what : what[..end])}.");
        }
        catch (RedisServerException error) when (error.Message.Contains("WRONGTYPE", StringComparison.Ordinal) || error.Message.Contains("not an integer", StringComparison.Ordinal))
        {
            // Of the opening of a log, whose text is that of the log's own.
            throw new CorruptLogException($"Hash {keys[0]} or stream {keys[1]} is not what this program wrote: {error.Message}");
        }
    }
}

/// <summary>What a script said: a word, and values behind it.</summary>
internal readonly struct ScriptAnswer(ClusterStatus status, string detail, RedisValue[] values)
{
    public ClusterStatus Status => status;

    public string Detail => detail;

    /// <summary>Number of values behind the word.</summary>
    public int Count => Math.Max(0, values.Length - 1);

    public ClusterResult Result => new(status, detail);

    public static ScriptAnswer Of(RedisValue[] values)
    {
        var first = values.Length == 0 ? "" : (string)values[0]!;
        if (values.Length == 1 && first.IndexOf(' ', StringComparison.Ordinal) is var space and > 0)
        {
            // The guard speaks in one text.
            return first[..space] switch
            {
                "GUARD" => new ScriptAnswer(ClusterStatus.Fenced, first[(space + 1)..], []),
                "DAMAGED" => throw new CorruptLogException($"Redis holds what this program did not write: {first[(space + 1)..]}."),
                _ => throw new InvalidOperationException($"Redis answered a script with '{first}'."),
            };
        }

        var status = first switch
        {
            "OK" => ClusterStatus.Done,
            "DUP" => ClusterStatus.AlreadyDone,
            "LOST" => ClusterStatus.Lost,
            "NOTYET" => ClusterStatus.NotYet,
            "STALE" => ClusterStatus.Stale,
            "CONFLICT" => ClusterStatus.Conflict,
            "NOTFOUND" => ClusterStatus.NotFound,
            _ => throw new InvalidOperationException($"Redis answered a script with '{first}'."),
        };
        return new ScriptAnswer(status, status is ClusterStatus.Done || values.Length < 2 ? "" : (string)values[1]!, values);
    }

    public string Text(int at) => (string?)values[1 + at] ?? "";

    public long Number(int at, string key) =>
        long.TryParse(Text(at), NumberStyles.None, CultureInfo.InvariantCulture, out var number)
            ? number
            : throw new CorruptLogException($"Redis holds what this program did not write: key {key} has '{Text(at)}' where a number should be.");

    public Incarnation Incarnation(int at, string key) => new((int)Number(at, key), Number(at + 1, key));

    public byte[] Bytes(int at) => (byte[]?)values[1 + at] ?? [];

    /// <summary>All values behind the word.</summary>
    public RedisValue[] Values() => values[1..];

    /// <summary>Reads a list: groups of <paramref name="width"/> values from the one at <paramref name="first"/> on.</summary>
    /// <param name="first">0 or more.</param>
    /// <param name="width">1 or more.</param>
    /// <param name="read">Reads the group that begins at a value.</param>
    public T[] List<T>(int first, int width, Func<int, T> read)
    {
        var list = new T[(Count - first) / width];
        for (var i = 0; i < list.Length; i++)
        {
            list[i] = read(first + (width * i));
        }

        return list;
    }

    public ClusterResult<T> With<T>(Func<ScriptAnswer, T> read)
        where T : class => new(status, status == ClusterStatus.Done ? read(this) : null, detail);
}
