using System.Globalization;
using System.Text;
using Snapper.Protocol.Directory;
using Snapper.Protocol.Identity;
using Snapper.Storage.Log;
using Snapper.Storage.Log.Records;
using StackExchange.Redis;

namespace Snapper.Storage.Redis;

/// <summary>Names of the directory's fields: <c>17</c> for a partition, <c>17:Type/id</c> for an actor of it.</summary>
internal static class DirectoryFields
{
    /// <exception cref="ArgumentException">The actor's name is not valid Unicode.</exception>
    public static RedisValue Of(DirectoryKey key) => key.Actor is { } actor
        ? GroupBuffer.StrictUtf8.GetBytes(string.Create(CultureInfo.InvariantCulture, $"{key.Partition.Number}:{RedisKeys.NameOf(actor)}"))
        : key.Partition.Number;

    public static DirectoryKey Parse(byte[] field)
    {
        string text;
        try
        {
            text = GroupBuffer.StrictUtf8.GetString(field);
        }
        catch (DecoderFallbackException)
        {
            throw new CorruptLogException("Redis holds what this program did not write: the directory has a field whose name is not UTF-8.");
        }

        var colon = text.IndexOf(':', StringComparison.Ordinal);
        var actor = colon < 0 ? null : RedisKeys.ActorOf(text[(colon + 1)..]);
        return int.TryParse(colon < 0 ? text : text.AsSpan(0, colon), NumberStyles.None, CultureInfo.InvariantCulture, out var number)
            && number < Partition.Count && (colon < 0 || actor is not null)
            ? new DirectoryKey(new Partition(number), actor)
            : throw new CorruptLogException($"Redis holds what this program did not write: the directory has a field '{text}', which names neither a partition nor an actor.");
    }

    /// <summary>The arguments of a script that ends with fields.</summary>
    public static RedisValue[] Arguments(IReadOnlyList<DirectoryKey> keys, params ReadOnlySpan<RedisValue> before)
    {
        var values = new RedisValue[before.Length + keys.Count];
        before.CopyTo(values);
        for (var i = 0; i < keys.Count; i++)
        {
            values[before.Length + i] = Of(keys[i]);
        }

        return values;
    }
}
