using System.Globalization;
using Snapper.Storage.Membership;

namespace Snapper.Storage.Redis;

/// <content>The directory. A field is <c>17</c> for a partition, <c>17:Type/id</c> for an actor of it; its value is worker, epoch and version.</content>
internal static partial class ClusterScripts
{
    /// <summary>ARGV: id or nothing, version read up to, version when the pass began, most entries. Four values for each entry follow the head's five.</summary>
    public static readonly RedisScript ReadDirectory = new(Library + Entries + """
        local m = call('HMGET', META, 'id', 'version')
        local id, version = m[1] or '', number(META, 'version', m[2])
        local through, since, most, whole = tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4]), '0'
        if ARGV[1] ~= '' and ARGV[1] ~= id then
          return {'LOST', 'the directory is not ' .. ARGV[1] .. ' any more, but ' .. (m[1] or 'gone')}
        end
        if version < through then
          return {'LOST', 'the directory ends at version ' .. text(version) .. ', and was read up to ' .. ARGV[2]}
        end
        if through == 0 then
          through, since, whole = 0, version, '1'
        end
        local fields = call('ZRANGEBYSCORE', CHANGES, '(' .. text(through), '+inf', 'LIMIT', 0, most)
        local isLast = #fields < most
        local out = {'OK', id, '', '', whole, isLast and '1' or '0'}
        local entries = ofeach(DIRECTORY, fields)
        for i, field in ipairs(fields) do
          local w, e, at = parsed(field, entries[i])
          if not w then
            damaged(DIRECTORY, 'it has no field ' .. field .. ', which ' .. CHANGES .. ' names')
          end
          through = tonumber(at)
          out[#out + 1], out[#out + 2], out[#out + 3], out[#out + 4] = field, w, e, at
        end
        if isLast then
          through, since = version, version
        end
        out[3], out[4] = text(through), text(since)
        return out
        """);

    /// <summary>ARGV: worker, then type and separator (nothing: the whole id) of each type. Answers both for each type that is known.</summary>
    public static readonly RedisScript Declare = new(Library + Judge + """
        local TYPES = C .. 'types'
        local w, at = ARGV[1], now()
        local why = unfit(w, guardEpoch)
        if why then
          return {'STALE', why}
        end
        local added
        for i = 2, #ARGV, 2 do
          local known = call('HGET', TYPES, ARGV[i])
          if known and known ~= ARGV[i + 1] then
            return {'CONFLICT', ARGV[i], known}
          end
          if not known and ARGV[i + 1] ~= '' then
            added = added or ARGV[i]
          end
        end
        if added then
          for _, other in ipairs(call('SMEMBERS', MEMBERS)) do
            local o = call('HMGET', member(other), 'epoch', 'types')
            if other ~= w and o[1] and o[2] and not unfit(other, o[1]) and unbroken(other, at) >= 0 then
              return {'NOTYET', 'the type ' .. added .. ' is new here and names a partition key, and w' .. other .. '/' .. o[1] .. ' lives and does not know it'}
            end
          end
        end
        number(META, 'types', call('HGET', META, 'types'))
        dirty()
        for i = 2, #ARGV, 2 do
          call('HSET', TYPES, ARGV[i], ARGV[i + 1])
        end
        local version = text(call('HINCRBY', META, 'types', added and 1 or 0))
        call('HSET', member(w), 'types', version)
        local out = call('HGETALL', TYPES)
        table.insert(out, 1, 'OK')
        return out
        """);

    /// <summary>
    /// ARGV: number of owners, worker and epoch of each, then for each partition its owner's number in that list. A worker that ran alone may have changes in its log that are
    /// in no state yet; it brings them there before it registers. One that has logged nothing so far is fenced: it may be about to run alone.
    /// Logs know that there was a division: after a loss of all that says so here, lives of before would go on with it.
    /// </summary>
    public static readonly RedisScript AssignAll = new(Library + Entries + string.Create(CultureInfo.InvariantCulture, $"local LASTWORKER = {ClusterOptions.LastWorker}\n") + """
        local version = number(META, 'version', call('HGET', META, 'version'))
        if call('HLEN', DIRECTORY) > 0 then
          return {'DUP'}
        end
        if version > 0 then
          return lost('the directory is empty at version ' .. text(version))
        end
        local count = tonumber(ARGV[1])
        for i = 0, count - 1 do
          local why = unfit(ARGV[2 + 2 * i], ARGV[3 + 2 * i])
          if why then
            return {'STALE', why}
          end
        end
        local idle = {}
        for w = 1, LASTWORKER do
          local l = call('HMGET', log(w), 'epoch', 'next', 'divided')
          if l[3] then
            return lost('the directory was lost: the log of worker w' .. text(w) .. ' is of one that was divided')
          end
          if l[1] and unfit(text(w), l[1]) then
            if number(log(w), 'next', l[2]) > 1 then
              return {'NOTYET', 'the log of worker w' .. text(w) .. ' holds what may be in no state yet, and w' .. text(w) .. ' has not joined: start it'}
            end
            idle[#idle + 1] = log(w)
          end
        end
        intact()
        dirty()
        for _, key in ipairs(idle) do
          call('HINCRBY', key, 'epoch', 1)
        end
        local shares, first = {}, 2 + 2 * count
        for at = first, #ARGV do
          local owner = tonumber(ARGV[at])
          set(text(at - first), ARGV[2 + 2 * owner], ARGV[3 + 2 * owner])
          shares[owner] = (shares[owner] or 0) + 1
        end
        for i = 0, count - 1 do
          share(ARGV[2 + 2 * i], shares[i] or 0)
          call('HSET', log(ARGV[2 + 2 * i]), 'divided', '1')
        end
        return {'OK'}
        """);

    /// <summary>
    /// ARGV: worker, the epoch and the mark with which its log is open, worker and epoch of the target, fields. Moves what names the worker in an earlier epoch.
    /// Answers number and version of each that it moved.
    /// </summary>
    public static readonly RedisScript Move = new(Library + Entries + """
        local from, to, epoch = ARGV[1], ARGV[4], tonumber(ARGV[2])
        local opening = call('HMGET', log(from), 'epoch', 'owner')
        if opening[1] ~= ARGV[2] or opening[2] ~= ARGV[3] then
          return {'STALE', 'the log of worker w' .. from .. ' was opened again, its epoch is ' .. (opening[1] or 'gone') .. ', not ' .. ARGV[2]}
        end
        local why = unfit(to, ARGV[5])
        if why then
          return {'STALE', why}
        end
        local moves = {}
        for at = 6, #ARGV do
          local w, e = entry(ARGV[at])
          if w == from and tonumber(e) < epoch then
            moves[#moves + 1] = at
          end
        end
        intact()
        dirty()
        local out = {'OK'}
        for _, at in ipairs(moves) do
          out[#out + 1], out[#out + 2] = text(at - 6), set(ARGV[at], to, ARGV[5])
        end
        share(from, -#moves)
        share(to, #moves)
        return out
        """);

    /// <summary>Answers the version of the directory; 0: nobody has divided anything.</summary>
    public static readonly RedisScript IsDivided = new(Library + """
        return {'OK', text(number(META, 'version', call('HGET', META, 'version')))}
        """);

    /// <summary>
    /// ARGV: worker. Answers how many entries of the directory it owns, in any life; how many those own whose lease has run out; and the version of the directory, 0: nobody has divided anything.
    /// </summary>
    public static readonly RedisScript ShareOf = new(Library + """
        local orphans, at = 0, now()
        local shares = call('HGETALL', SHARES)
        for i = 1, #shares, 2 do
          local entries, ends = number(SHARES, shares[i], shares[i + 1]), call('ZSCORE', LEASES, shares[i])
          if entries > 0 and not (ends and tonumber(ends) > at) then
            orphans = orphans + entries
          end
        end
        return {'OK', text(number(SHARES, ARGV[1], call('HGET', SHARES, ARGV[1]))), text(orphans), text(number(META, 'version', call('HGET', META, 'version')))}
        """);
}
