namespace Snapper.Storage.Redis;

/// <content>What the source of a plan says of its progress: a field of the plan's hash, which goes when that goes. Nothing is decided by it.</content>
internal static partial class ClusterScripts
{
    /// <summary>ARGV: id, the note.</summary>
    public static readonly RedisScript NotePlan = new(Library + """
        local key = C .. 'plan:' .. ARGV[1]
        if not call('HGET', key, 'state') then
          return {'NOTFOUND', 'there is no plan ' .. ARGV[1]}
        end
        call('HSET', key, 'note', ARGV[2])
        return {'OK'}
        """);

    /// <summary>ARGV: ids. The note of each, or nothing.</summary>
    public static readonly RedisScript ReadNotes = new(Library + """
        local out = {'OK'}
        for _, id in ipairs(ARGV) do
          out[#out + 1] = call('HGET', C .. 'plan:' .. id, 'note') or ''
        end
        return out
        """);
}
