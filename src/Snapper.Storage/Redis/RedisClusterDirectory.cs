using Snapper.Protocol.Directory;
using Snapper.Protocol.Identity;
using Snapper.Storage.Log;
using Snapper.Storage.Membership;
using StackExchange.Redis;

namespace Snapper.Storage.Redis;

/// <summary>The directory in Redis: one hash, and an ordered set of its fields by the version of their last change.</summary>
internal sealed class RedisClusterDirectory(RedisClusterSession session) : IClusterDirectory
{
    private const string Key = "{cluster}:directory";

    public async Task<ClusterResult<DirectoryPage>> Read(DirectoryCursor after, int most, CancellationToken cancellation)
    {
        ClusterArguments.Page(most, IClusterDirectory.LongestPage);
        var answer = await session.Read(
            ClusterScripts.ReadDirectory, [after.DirectoryId ?? "", after.Through, after.Since, most], cancellation).ConfigureAwait(false);
        return answer.With(static page => new DirectoryPage(
            page.List(5, 4, at => new DirectoryEntry(
                DirectoryFields.Parse(page.Bytes(at)), page.Incarnation(at + 1, Key), page.Number(at + 3, Key))),
            new DirectoryCursor(page.Text(0), page.Number(1, Key), page.Number(2, Key)),
            page.Text(3) == "1",
            page.Text(4) == "1"));
    }

    public async Task<ClusterResult<PartitionKeys>> Declare(PartitionKeys keys, CancellationToken cancellation)
    {
        ArgumentNullException.ThrowIfNull(keys);
        var values = new List<RedisValue> { session.Self.Worker };
        foreach (var (type, separator) in keys.Types)
        {
            values.Add(type);
            values.Add(separator?.ToString() ?? "");
        }

        var answer = await session.Run(ClusterScripts.Declare, [.. values], cancellation).ConfigureAwait(false);
        if (answer.Status == ClusterStatus.Conflict)
        {
            // The script names the type and what is known of it.
            return new ClusterResult<PartitionKeys>(
                ClusterStatus.Conflict, null, ClusterArguments.OtherKey(answer.Text(0), Separator(answer.Text(1)), keys.Types[answer.Text(0)]));
        }

        return answer.With(static all => new PartitionKeys(
            all.List(0, 2, at => KeyValuePair.Create(all.Text(at), Separator(all.Text(at + 1))))));
    }

    private static char? Separator(string text) => text.Length switch
    {
        0 => null,
        1 when PartitionKeys.IsSeparator(text[0]) => text[0],
        _ => throw new CorruptLogException($"Redis holds what this program did not write: key {{cluster}}:types says that ids end at '{text}'."),
    };

    public async Task<ClusterResult> AssignAll(IReadOnlyList<Incarnation> owners, CancellationToken cancellation)
    {
        ClusterArguments.Owners(owners);
        var numbers = new Dictionary<Incarnation, int>();
        var values = new List<RedisValue> { 0 };
        foreach (var owner in owners)
        {
            if (numbers.TryAdd(owner, numbers.Count))
            {
                values.Add(owner.Worker);
                values.Add(owner.Epoch);
            }
        }

        values[0] = numbers.Count;
        foreach (var owner in owners)
        {
            values.Add(numbers[owner]);
        }

        return (await session.Run(ClusterScripts.AssignAll, [.. values], cancellation).ConfigureAwait(false)).Result;
    }

    public Task<ClusterResult<IReadOnlyList<DirectoryEntry>>> TakeOver(
        Rescue rescue, IReadOnlyList<DirectoryKey> keys, Incarnation target, CancellationToken cancellation)
    {
        ArgumentNullException.ThrowIfNull(rescue);
        ClusterArguments.Worker(target);
        return Move(rescue.Opened, rescue.Mark, keys, target, cancellation);
    }

    public Task<ClusterResult<IReadOnlyList<DirectoryEntry>>> Reclaim(IReadOnlyList<DirectoryKey> keys, CancellationToken cancellation) =>
        Move(session.Self, session.Guard.Mark, keys, session.Self, cancellation);

    private async Task<ClusterResult<IReadOnlyList<DirectoryEntry>>> Move(
        Incarnation opened, string mark, IReadOnlyList<DirectoryKey> keys, Incarnation target, CancellationToken cancellation)
    {
        ClusterArguments.Keys(keys);
        var answer = await session.Run(
            ClusterScripts.Move, DirectoryFields.Arguments(keys, opened.Worker, opened.Epoch, mark, target.Worker, target.Epoch), cancellation).ConfigureAwait(false);
        return answer.With<IReadOnlyList<DirectoryEntry>>(moved => moved.List(
            0, 2, at => new DirectoryEntry(keys[(int)moved.Number(at, Key)], target, moved.Number(at + 1, Key))));
    }
}
