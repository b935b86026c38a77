namespace Snapper.Storage.Redis;

/// <content>Membership, the fence and the master's lease.</content>
internal static partial class ClusterScripts
{
    /// <summary>
    /// ARGV: worker, lease in ms, app id, url, process id, version, a name for the directory if it has none, where it
    /// takes links.
    /// </summary>
    public static readonly RedisScript Register = new(Library + Standing + """
        local w, key, at = ARGV[1], member(ARGV[1]), now()
        local m = call('HMGET', key, 'epoch', 'left')
        if m[1] == guardEpoch and m[2] then
          return {'STALE', 'w' .. w .. '/' .. guardEpoch .. ' has left'}
        end
        call('ZCARD', LEASES)
        call('SCARD', MEMBERS)
        number(META, 'membership', call('HGET', META, 'membership'))
        local version = number(META, 'version', call('HGET', META, 'version'))
        dirty()
        call('HSET', guardKey, 'several', '1')
        if version > 0 then
          call('HSET', guardKey, 'divided', '1')
        end
        call('HSETNX', META, 'id', ARGV[7])
        call('HSET', key, 'epoch', guardEpoch, 'since', text(at), 'app', ARGV[3], 'url', ARGV[4], 'pid', ARGV[5],
            'version', ARGV[6], 'lease', ARGV[2], 'link', ARGV[8])
        call('HDEL', key, 'left', 'rescuer', 'rescuerEpoch', 'types')
        call('SADD', MEMBERS, w)
        call('ZADD', LEASES, text(at + tonumber(ARGV[2])), w)
        call('HINCRBY', META, 'membership', 1)
        return standing(at)
        """);

    /// <summary>
    /// ARGV: worker, lease in ms, id of the directory or nothing, highest version known, 1 if this opening has registered. No lease ends later than one that begins now: else
    /// a clock of the server that was put back would keep the dead in office for as long.
    /// </summary>
    public static readonly RedisScript Renew = new(Library + Standing + """
        local w, key, at = ARGV[1], member(ARGV[1]), now()
        local m = call('HMGET', key, 'epoch', 'left', 'types', 'since')
        if not m[1] and ARGV[5] == '1' then
          return lost('the registration of worker w' .. w .. '/' .. guardEpoch .. ' is gone')
        end
        if m[1] ~= guardEpoch then
          return {'STALE', 'w' .. w .. '/' .. guardEpoch .. ' is not registered'}
        end
        if m[2] then
          return {'STALE', 'w' .. w .. '/' .. guardEpoch .. ' has left'}
        end
        local d = call('HMGET', META, 'id', 'version', 'types')
        if m[3] and number(key, 'types', m[3]) < number(META, 'types', d[3]) then
          return {'STALE', 'w' .. w .. '/' .. guardEpoch .. ' does not know the partition key of a type that was declared while its lease had run out'}
        end
        if ARGV[3] ~= '' and d[1] ~= ARGV[3] then
          return lost('the directory is not ' .. ARGV[3] .. ' any more, but ' .. (d[1] or 'gone'))
        end
        if number(META, 'version', d[2]) < tonumber(ARGV[4]) then
          return lost('the directory ends at version ' .. (d[2] or '0') .. ', this worker has heard of version ' .. ARGV[4])
        end
        local ends, latest = call('ZSCORE', LEASES, w), at + tonumber(ARGV[2])
        local late, masters = call('ZRANGEBYSCORE', LEASES, '(' .. text(latest), '+inf'), number(MASTER, 'until', call('HGET', MASTER, 'until'))
        dirty()
        if not ends or tonumber(ends) <= at or number(key, 'since', m[4]) > at then
          call('HSET', key, 'since', text(at))
        end
        call('ZADD', LEASES, text(latest), w)
        for _, other in ipairs(late) do
          local own = at + number(member(other), 'lease', call('HGET', member(other), 'lease'))
          call('ZADD', LEASES, 'LT', text(math.max(latest, own)), other)
        end
        if masters > latest then
          call('HSET', MASTER, 'until', text(latest))
        end
        return standing(at)
        """);

    public static readonly RedisScript Look = new(Library + Standing + "return standing(now())");

    /// <summary>Sixteen values for each worker.</summary>
    public static readonly RedisScript ReadMembers = new(Library + """
        local at, out = now(), {'OK'}
        local workers = call('SMEMBERS', MEMBERS)
        for _, w in ipairs(workers) do
          number(MEMBERS, 'of a worker', w)
        end
        table.sort(workers, function(one, other) return tonumber(one) < tonumber(other) end)
        for _, w in ipairs(workers) do
          local key = member(w)
          local m = call('HMGET', key, 'epoch', 'since', 'left', 'rescuer', 'rescuerEpoch', 'app', 'url', 'pid',
              'version', 'expirations', 'evictions', 'link')
          if not m[1] then
            damaged(key, 'it is gone, and worker w' .. w .. ' is registered')
          end
          local ends = call('ZSCORE', LEASES, w)
          local remaining = ends and math.max(0, tonumber(ends) - at) or 0
          local lived = remaining > 0 and math.max(0, at - number(key, 'since', m[2])) or 0
          local l = call('HMGET', log(w), 'epoch', 'instance')
          local current = foreign(l[2]) and text(number(log(w), 'epoch', l[1]) + 1) or l[1] or '0'
          local values = {w, m[1], current, text(remaining), text(lived), m[3] or '0',
            call('HGET', SHARES, w) or '0', m[4] or '0', m[5] or '0', m[6]
                or '', m[7] or '', m[8] or '0', m[9] or '', m[10] or '0', m[11] or '0', m[12] or ''}
          for _, value in ipairs(values) do
            out[#out + 1] = value
          end
        end
        return out
        """);

    /// <summary>ARGV: worker.</summary>
    public static readonly RedisScript Leave = new(Library + """
        local w, key = ARGV[1], member(ARGV[1])
        local m = call('HMGET', key, 'epoch', 'left')
        if m[1] ~= guardEpoch then
          return {'STALE', 'w' .. w .. '/' .. guardEpoch .. ' is not registered'}
        end
        if m[2] then
          return {'DUP'}
        end
        local entries = call('HGET', SHARES, w) or '0'
        if number(SHARES, w, entries) > 0 then
          return {'CONFLICT', 'the directory still names worker w' .. w .. ' in ' .. entries .. ' entries'}
        end
        local s = call('HMGET', MASTER, 'worker', 'epoch')
        call('ZCARD', LEASES)
        dirty()
        call('HSET', key, 'left', '1')
        call('ZREM', LEASES, w)
        if s[1] == w and s[2] == guardEpoch then
          call('HSET', MASTER, 'until', '0')
        end
        call('HINCRBY', META, 'membership', 1)
        return {'OK'}
        """);

    /// <summary>
    /// KEYS: hash and stream of the worker to be fenced. ARGV: mark, a name for its log (it has one), worker, epoch as registered, 1 for always, lease in ms, this worker.
    /// </summary>
    public static readonly RedisScript FenceWorker = new(Library + OpenLog + Judge + """
        local w, e, me, key, at = ARGV[3], ARGV[4], ARGV[7], member(ARGV[3]), now()
        if w == me then
          return {'STALE', 'a worker does not fence itself'}
        end
        local m = call('HMGET', key, 'epoch', 'left', 'rescuer', 'rescuerEpoch')
        if not m[1] then
          return {'NOTFOUND', 'worker w' .. w .. ' never registered'}
        end
        if m[1] ~= e then
          return {'STALE', 'worker w' .. w .. ' is registered with epoch ' .. m[1] .. ', not with ' .. e}
        end
        local held, refused = judging(me, at)
        if refused then
          return refused
        end
        if number(KEYS[1], 'epoch', call('HGET', KEYS[1], 'epoch')) < tonumber(e) then
          return lost('key ' .. KEYS[1] .. ' of w' .. w .. '/' .. e .. ' is gone, or an older copy')
        end
        if ARGV[5] ~= '1' and not m[2] then
          local ends = call('ZSCORE', LEASES, w)
          if ends and tonumber(ends) > at then
            return {'NOTYET', 'the lease of w' .. w .. '/' .. e .. ' has ' .. text(tonumber(ends) - at) .. ' ms to go'}
          end
          if held < tonumber(ARGV[6]) then
            return {'NOTYET', 'the own lease of w' .. me .. '/' .. guardEpoch .. ' has been unbroken for ' .. text(held) .. ' ms only'}
          end
          if m[3] and m[3] ~= me and not unfit(m[3], m[4]) and unbroken(m[3], at) >= 0 then
            return {'NOTYET', 'w' .. w .. '/' .. e .. ' is being rescued by w' .. m[3] .. '/' .. m[4]}
          end
        end
        local ends = call('ZSCORE', LEASES, w)
        local counter = not m[2] and ends and tonumber(ends) > at and 'evictions' or 'expirations'
        number(key, counter, call('HGET', key, counter))
        dirty()
        local expired = not m[2] and ends and tonumber(ends) <= at
        if call('HGET', KEYS[1], 'epoch') == e or expired then
          call('HINCRBY', key, counter, 1)
        end
        call('HSET', key, 'rescuer', me, 'rescuerEpoch', guardEpoch)
        call('ZREM', LEASES, w)
        call('HINCRBY', META, 'membership', 1)
        local opened = open(true)
        table.insert(opened, 1, 'OK')
        return opened
        """);

    /// <summary>KEYS: hash and stream of the master's log. ARGV: mark, a name for the log if it has none, this worker, lease in ms.</summary>
    public static readonly RedisScript TakeMaster = new(Library + OpenLog + Judge + """
        local me, at = ARGV[3], now()
        local held, refused = judging(me, at)
        if refused then
          return refused
        end
        local s = call('HMGET', MASTER, 'worker', 'epoch', 'term', 'until')
        if number(KEYS[1], 'epoch', call('HGET', KEYS[1], 'epoch')) < number(MASTER, 'term', s[3]) then
          return lost('key ' .. KEYS[1] .. ' is gone, or older than master epoch ' .. s[3])
        end
        if s[1] and not (s[1] == me and s[2] == guardEpoch) and not unfit(s[1], s[2]) then
          local ends = number(MASTER, 'until', s[4])
          if ends > at then
            return {'NOTYET', 'w' .. s[1] .. '/' .. s[2] .. ' is master for another ' .. text(ends - at) .. ' ms'}
          end
          if ends > 0 and held < tonumber(ARGV[4]) then
            return {'NOTYET', 'the own lease of w' .. me .. '/' .. guardEpoch .. ' has been unbroken for ' .. text(held) .. ' ms only'}
          end
        end
        dirty()
        local opened = open(true, 16)
        call('HSET', MASTER, 'worker', me, 'epoch', guardEpoch, 'term', opened[1], 'until', text(at + tonumber(ARGV[4])))
        table.insert(opened, 1, 'OK')
        return opened
        """);

    /// <summary>KEYS: hash of the master's log. ARGV: this worker, master epoch, lease in ms; 0: gives it up.</summary>
    public static readonly RedisScript RenewMaster = new(Library + """
        local me, term, lease = ARGV[1], ARGV[2], tonumber(ARGV[3])
        local s = call('HMGET', MASTER, 'worker', 'epoch', 'term')
        local current = call('HGET', KEYS[1], 'epoch')
        if s[1] ~= me or s[2] ~= guardEpoch or s[3] ~= term or current ~= term then
          return {'STALE', 'the master is w' .. (s[1] or '?') .. '/' .. (s[2] or '?') .. ' in master epoch ' .. (current or '0') .. ', not w' .. me .. '/' .. guardEpoch .. ' in ' .. term}
        end
        dirty()
        call('HSET', MASTER, 'until', lease == 0 and '0' or text(now() + lease))
        return {'OK'}
        """);
}
