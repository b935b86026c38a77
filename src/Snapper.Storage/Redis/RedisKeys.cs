using System.Globalization;
using System.Text;
using Snapper.Protocol.Identity;
using Snapper.Storage.Log.Records;
using Snapper.Storage.States;
using StackExchange.Redis;

namespace Snapper.Storage.Redis;

/// <summary>
/// Names of keys. Those of one log share the hash tag <c>{worker}</c>; states are under <c>{state}</c>, without a worker's name,
/// because actors move between workers.
/// </summary>
internal sealed class RedisKeys
{
    private readonly string _prefix;
    private readonly string _worker;

    public RedisKeys(string prefix, string worker)
    {
        ArgumentException.ThrowIfNullOrEmpty(worker);
        foreach (var c in worker)
        {
            if (!char.IsAsciiLetterOrDigit(c) && c is not ('-' or '_' or '.'))
            {
                throw new ArgumentException($"The worker name '{worker}' holds something other than letters, digits, '-', '_' and '.'.", nameof(worker));
            }
        }

        _prefix = prefix;
        _worker = worker;
        Meta = $"{prefix}{{{worker}}}:meta";
        Stream = $"{prefix}{{{worker}}}:log";
    }

    /// <summary>Hash: id, epoch, owner, next, transaction, actCounter, generation.</summary>
    public RedisKey Meta { get; }

    /// <summary>Stream: one entry per group, id <c>first sequence-0</c>, fields <c>n</c> (count) and <c>r</c> (records).</summary>
    public RedisKey Stream { get; }

    /// <summary>Hash: the minutes that have a hash of <see cref="Copied"/>, and how often something was copied.</summary>
    public RedisKey CopiedIndex => $"{_prefix}{{{_worker}}}:copied";

    /// <summary>Hash: request id to outcome, for what was copied in one minute of an <see cref="OutcomeClock"/>.</summary>
    public RedisKey Copied(long minute) => string.Create(CultureInfo.InvariantCulture, $"{_prefix}{{{_worker}}}:copied:{minute}");

    public string CopiedPrefix => $"{_prefix}{{{_worker}}}:copied:";

    /// <summary>The same as earlier versions made it, by the requests' minutes of a wall clock; it expires by itself.</summary>
    public RedisKey Outcomes(long minute) => string.Create(CultureInfo.InvariantCulture, $"{_prefix}{{{_worker}}}:outcomes:{minute}");

    public string StatePrefix => string.Concat(_prefix, "{state}:");

    /// <summary>Hash of a state: <c>snapper:{state}:Type/id</c>.</summary>
    /// <exception cref="ArgumentException">The name is not valid Unicode.</exception>
    public RedisKey State(ActorKey actor) => GroupBuffer.StrictUtf8.GetBytes(string.Concat(StatePrefix, NameOf(actor)));

    /// <summary><c>Type/id</c>. Slashes and percent signs in the type are escaped, so that the first slash ends it whatever follows; the id stands as it is.</summary>
    public static string NameOf(ActorKey actor)
    {
        var type = actor.Type;
        if (type.AsSpan().IndexOfAny('/', '%') >= 0)
        {
            type = new StringBuilder(type).Replace("%", "%25").Replace("/", "%2F").ToString();
        }

        return string.Concat(type, "/", actor.Id);
    }

    /// <summary>The actor of a name; null: it is none.</summary>
    public static ActorKey? ActorOf(string name)
    {
        var slash = name.IndexOf('/', StringComparison.Ordinal);
        return slash > 0 && slash < name.Length - 1
            ? new ActorKey(name[..slash].Replace("%2F", "/", StringComparison.Ordinal).Replace("%25", "%", StringComparison.Ordinal), name[(slash + 1)..])
            : null;
    }
}
