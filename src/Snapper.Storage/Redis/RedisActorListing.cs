using System.Globalization;
using System.Text;
using Snapper.Protocol.Identity;
using Snapper.Storage.Checkpoints;
using Snapper.Storage.States;
using StackExchange.Redis;

namespace Snapper.Storage.Redis;

/// <summary>
/// Lists states by SCAN, a thousand keys at a time: Redis serves others between two of these calls. It knows no order, so each page looks through all keys once; one page at a time, and few wait for it.
/// </summary>
internal sealed class RedisActorListing(RedisConnections connections, RedisKeys keys) : IDisposable
{
    private const int KeysPerCall = 1000;

    /// <summary>Pages that wait for the one that is being made; more are refused.</summary>
    public const int WaitingMax = 8;

    private readonly SemaphoreSlim _one = new(1);
    private int _asked;

    /// <exception cref="ListingBusyException">Too many wait already.</exception>
    public async Task<IReadOnlyList<StoredActor>> List(ActorListQuery query, CancellationToken cancellation)
    {
        if (Interlocked.Increment(ref _asked) > 1 + WaitingMax)
        {
            Interlocked.Decrement(ref _asked);
            throw new ListingBusyException(WaitingMax);
        }

        try
        {
            await _one.WaitAsync(cancellation).ConfigureAwait(false);
            try
            {
                return await Page(query, cancellation).ConfigureAwait(false);
            }
            finally
            {
                _one.Release();
            }
        }
        finally
        {
            Interlocked.Decrement(ref _asked);
        }
    }

    public void Dispose() => _one.Dispose();

    private async Task<IReadOnlyList<StoredActor>> Page(ActorListQuery query, CancellationToken cancellation)
    {
        var found = new FirstIds(query);
        var prefix = keys.StatePrefix;
        // The id that a name needs is taken off again.
        var pattern = Escaped(prefix + RedisKeys.NameOf(new ActorKey(query.Type, query.Prefix + "x"))[..^1]) + "*";
        var cursor = "0";
        do
        {
            var reading = connections.Read(
                RedisScripts.ScanStates, [], [cursor, Encoding.UTF8.GetBytes(pattern), KeysPerCall], cancellation);
            var answer = (RedisResult[])(await reading.ConfigureAwait(false))!;
            cursor = (string)answer[0]!;
            foreach (var key in (RedisResult[])answer[1]!)
            {
                var name = Encoding.UTF8.GetString((byte[])key!);
                if (name.StartsWith(prefix, StringComparison.Ordinal) && RedisKeys.ActorOf(name[prefix.Length..]) is { } actor)
                {
                    found.Offer(actor);
                }
            }
        }
        while (cursor != "0");
        return await Task.WhenAll(found.Ids.Select(id => WithVersion(new ActorKey(query.Type, id), cancellation))).ConfigureAwait(false);
    }

    private async Task<StoredActor> WithVersion(ActorKey actor, CancellationToken cancellation)
    {
        try
        {
            var reading = connections.Read(
                RedisScripts.ReadVersion, [keys.State(actor)], [CheckpointRule.VersionField], cancellation);
            var found = (RedisResult[])(await reading.ConfigureAwait(false))!;
            var version = (string?)found[0];
            var number = long.TryParse(version, NumberStyles.None, CultureInfo.InvariantCulture, out var whole) ? whole : (long?)null;
            return new StoredActor(actor.Id, number, number is null || (long)found[1] > 1);
        }
        catch (RedisServerException error) when (error.Message.Contains("WRONGTYPE", StringComparison.Ordinal))
        {
            return new StoredActor(actor.Id, null, true); // shown all the same: whoever looks at it is told what is wrong
        }
    }

    /// <summary>For MATCH, in which some characters mean others.</summary>
    private static string Escaped(string text)
    {
        var escaped = new StringBuilder(text.Length);
        foreach (var c in text)
        {
            if (c is '*' or '?' or '[' or ']' or '\\' or '^' or '-')
            {
                escaped.Append('\\');
            }

            escaped.Append(c);
        }

        return escaped.ToString();
    }
}
