namespace Snapper.Storage.Redis;

/// <summary>
/// The scripts of what all workers share. One server holds everything, so a script names keys that depend on what it reads: those of the cluster share the hash tag
/// <c>{cluster}</c>, and the hash of each worker's log is looked at for its epoch. Like the scripts of logs they have no <c>#!lua</c> line, take and give numbers as
/// text, and delete nothing as their first write, which lets them work without memory: leases must be renewed, and plans ended, then as ever.
/// </summary>
/// <remarks>
/// All checks come before all effects. Arguments: the script's own, the prefix of all keys; the guard's come last and are taken away by it. Answers are flat lists whose
/// first element is a word. A key that holds what this program did not write ends a script with an error that names the key.
/// What a server holds after it was started anew, or after a replica took its place, is a prefix of what was written. A life that began on another instance of the server may
/// know more: it can do nothing here (the guard), and counts as fenced in the eyes of all others.
/// </remarks>
internal static partial class ClusterScripts
{
    /// <summary>
    /// Begins every script. The guard's locals, where there is one, are in sight. A loss raises the generation once, however often it is met: each time every worker begins anew.
    /// </summary>
    private const string Library = $$"""
        local P = table.remove(ARGV)
        local C = P .. '{cluster}:'
        local META, MEMBERS, LEASES, MASTER = C .. 'meta', C .. 'members', C .. 'leases', C .. 'master'
        local DIRECTORY, CHANGES, SHARES = C .. 'directory', C .. 'changes', C .. 'shares'
        local function damaged(key, what)
          error('DAMAGED<key ' .. key .. ': ' .. what .. '>', 0)
        end
        local function call(command, key, ...)
          local got = redis.pcall(command, key, ...)
          if type(got) == 'table' and got.err then
            if string.find(got.err, 'WRONGTYPE', 1, true) or string.find(got.err, 'not an integer', 1, true) then
              damaged(key, got.err)
            end
            return redis.call(command, key, ...)
          end
          return got
        end
        local function number(key, field, text)
          if not text then
            return 0
          end
          if not string.find(text, '^%d+$') then
            damaged(key, 'its field ' .. field .. ' is not a number but ' .. string.sub(text, 1, 64))
          end
          return tonumber(text)
        end
        local function text(n)
          return string.format('%.0f', n)
        end
        local function now()
          local t = redis.call('TIME')
          return tonumber(t[1]) * 1000 + math.floor(tonumber(t[2]) / 1000)
        end
        local function log(w)
          return P .. '{w' .. w .. '}:meta'
        end
        local function member(w)
          return C .. 'member:' .. w
        end
        {{RedisScripts.Foreign}}
        local function unfit(w, e)
          local key = member(w)
          local m = call('HMGET', key, 'epoch', 'left')
          if m[1] ~= e then
            return 'worker w' .. w .. ' is registered with epoch ' .. (m[1] or 'none') .. ', not with ' .. e
          end
          if m[2] then
            return 'w' .. w .. '/' .. e .. ' has left'
          end
          local l = call('HMGET', log(w), 'epoch', 'instance')
          if l[1] ~= e then
            return 'w' .. w .. '/' .. e .. ' is fenced, the epoch of its log is ' .. (l[1] or 'gone')
          end
          if foreign(l[2]) then
            return 'w' .. w .. '/' .. e .. ' began on another instance of the server, ' .. l[2]
          end
        end
        local function lost(what)
          if redis.pcall('HSETNX', C .. 'lost', what, '1') == 1 then
            redis.pcall('HINCRBY', META, 'generation', 1)
          end
          return {'LOST', what}
        end
        local function dirty()
          redis.call('HDEL', META, '')
        end
        local function inpieces(command, key, list)
          for at = 1, #list, 500 do
            call(command, key, unpack(list, at, math.min(at + 499, #list)))
          end
        end
        local function ofeach(key, list)
          local values = {}
          for at = 1, #list, 500 do
            for i, value in ipairs(call('HMGET', key, unpack(list, at, math.min(at + 499, #list)))) do
              values[at + i - 1] = value
            end
          end
          return values
        end

        """;

    /// <summary>Answers where everything stands, in eleven values.</summary>
    private const string Standing = """
        local function standing(at)
          local m = call('HMGET', META, 'id', 'version', 'membership', 'plan', 'generation')
          local s = call('HMGET', MASTER, 'worker', 'epoch', 'term', 'until')
          local remaining, fenced = 0, '0'
          if s[1] then
            remaining = math.max(0, number(MASTER, 'until', s[4]) - at)
            fenced = unfit(s[1], s[2]) and '1' or '0'
          end
          local expired = call('ZCOUNT', LEASES, '-inf', text(at))
          return {'OK', m[1] or '', m[2] or '0', m[3] or '0', m[4] or '0', m[5] or '0', text(expired), s[1] or '0', s[2] or '0', s[3] or '0', text(remaining), fenced}
        end

        """;

    /// <summary>The opening of a log inside a larger script: KEYS[1..2] and ARGV[1..2] are its own.</summary>
    private const string OpenLog = "local function open(joins, leap)\n" + RedisScripts.OpenText + "\nend\n";

    /// <summary>Refuses a worker that may not judge others: not registered, or its own lease not unbroken for a lease (the store was away). Gives the length of that.</summary>
    private const string Judge = """
        local function unbroken(me, at)
          local ends = call('ZSCORE', LEASES, me)
          if not ends or tonumber(ends) <= at then
            return -1
          end
          return at - number(member(me), 'since', call('HGET', member(me), 'since'))
        end
        local function judging(me, at)
          local why = unfit(me, guardEpoch)
          if why then
            return nil, {'STALE', why}
          end
          local held = unbroken(me, at)
          if held < 0 then
            return nil, {'NOTYET', 'the own lease of w' .. me .. '/' .. guardEpoch .. ' has run out'}
          end
          return held
        end

        """;

    /// <summary>Reads and changes entries of the directory. Versions come from one counter; each worker's number of entries is counted.</summary>
    private const string Entries = """
        local function parsed(field, value)
          if not value then
            return nil
          end
          local w, e, version = string.match(value, '^(%d+) (%d+) (%d+)$')
          if not w then
            damaged(DIRECTORY, 'its field ' .. field .. ' holds ' .. string.sub(value, 1, 64))
          end
          return w, e, version
        end
        local function entry(field)
          return parsed(field, call('HGET', DIRECTORY, field))
        end
        local function intact()
          number(META, 'version', call('HGET', META, 'version'))
          call('ZCARD', CHANGES)
          call('HLEN', SHARES)
        end
        local function set(field, w, e)
          local version = text(call('HINCRBY', META, 'version', 1))
          call('HSET', DIRECTORY, field, w .. ' ' .. e .. ' ' .. version)
          call('ZADD', CHANGES, version, field)
          return version
        end
        local function share(w, by)
          if by ~= 0 then
            call('HINCRBY', SHARES, w, by)
          end
        end

        """;

    /// <summary>
    /// What open plans name: each key, and for each partition the number of single actors in it that have no entry of their own. Those that have one are moved beside their
    /// partition, whatever becomes of it.
    /// </summary>
    private const string Planned = """
        local PLANNED = C .. 'planned'
        local function partition(field)
          return string.match(field, '^(%d+):')
        end
        local function isown(mark)
          return mark and string.find(mark, ' own', 1, true)
        end
        local function inside(whole)
          local cursor = '0'
          repeat
            local some = call('HSCAN', PLANNED, cursor, 'MATCH', whole .. ':*', 'COUNT', '10000')
            cursor = some[1]
            for at = 1, #some[2], 2 do
              if some[2][at] ~= whole .. ':*' and not isown(some[2][at + 1]) then
                return some[2][at + 1] .. ', for an actor in it'
              end
            end
          until cursor == '0'
          return 'for an actor in it'
        end
        local function planned(field)
          local plan = call('HGET', PLANNED, field)
          if plan then
            return plan
          end
          local whole = partition(field)
          if whole then
            return call('HGET', PLANNED, whole)
          end
          return call('HGET', PLANNED, field .. ':*') and 'for an actor in it'
        end

        """;
}
