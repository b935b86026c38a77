namespace Snapper.Storage.Redis;

/// <content>Plans of migrations: a hash and a list of fields for each, ordered sets of the open and the ended ones.</content>
internal static partial class ClusterScripts
{
    private const string Plans = """
        local OPEN, ENDED = C .. 'plans:open', C .. 'plans:ended'
        local function plan(id)
          return C .. 'plan:' .. id
        end
        local function fields(id)
          return C .. 'planned:' .. id
        end
        local function stranger(list, entries, w, e)
          for at, field in ipairs(list) do
            local ow, oe = parsed(field, entries[at])
            local whole = partition(field)
            if not ow and whole then
              ow, oe = entry(whole)
            end
            if ow ~= w or oe ~= e then
              return field .. ' is owned by ' .. (ow and 'w' .. ow .. '/' .. oe or 'nobody') .. ', not by w' .. w .. '/' .. e
            end
          end
        end
        local function finish(id, list, state, why, most)
          call('HSET', plan(id), 'state', state, 'ended', text(now()), 'why', why)
          local marks = ofeach(PLANNED, list)
          inpieces('HDEL', PLANNED, list)
          for at, field in ipairs(list) do
            local whole = not isown(marks[at]) and partition(field)
            if whole and call('HINCRBY', PLANNED, whole .. ':*', -1) <= 0 then
              call('HDEL', PLANNED, whole .. ':*')
            end
          end
          call('ZREM', OPEN, id)
          call('ZADD', ENDED, text(call('HINCRBY', META, 'plan', 1)), id)
          while call('ZCARD', ENDED) > most do
            local oldest = call('ZRANGE', ENDED, 0, 0)[1]
            call('DEL', plan(oldest))
            call('DEL', fields(oldest))
            call('ZREM', ENDED, oldest)
          end
        end
        local function sound()
          number(META, 'plan', call('HGET', META, 'plan'))
          call('HLEN', PLANNED)
          call('ZCARD', OPEN)
          call('ZCARD', ENDED)
        end
        local function planList(id, count)
          local list = call('LRANGE', fields(id), 0, -1)
          if text(#list) ~= count then
            damaged(fields(id), 'it has ' .. text(#list) .. ' elements, the plan has ' .. (count or 'no number of them'))
          end
          return list
        end

        """;

    /// <summary>Nothing is put out for a plan that is damaged; what may be committed is none (R3, M6).</summary>
    private const string Heads = """
        local function head(out, id)
          local key = plan(id)
          local p = call('HMGET', key, 'state', 'fromWorker', 'fromEpoch', 'toWorker', 'toEpoch', 'reason', 'created', 'ended', 'why', 'count', 'asked')
          for i = 1, 10 do
            if not p[i] and i ~= 8 and i ~= 9 then
              damaged(key, 'it is not a plan')
            end
          end
          if p[1] ~= 'planned' and p[1] ~= 'done' and p[1] ~= 'cancelled' then
            damaged(key, 'it has the state ' .. string.sub(p[1], 1, 64))
          end
          for i, field in pairs({[2] = 'fromWorker', [3] = 'fromEpoch', [4] = 'toWorker', [5] = 'toEpoch',
            [7] = 'created', [8] = 'ended', [10] = 'count'}) do
            number(key, field, p[i])
          end
          if text(call('LLEN', fields(id))) ~= p[10] then
            damaged(fields(id), 'it has not the ' .. p[10] .. ' elements of the plan')
          end
          for _, value in ipairs({id, p[1], p[2], p[3], p[4], p[5], p[6], p[7], p[8] or '0', p[9] or '', p[10], p[11] or ''}) do
            out[#out + 1] = value
          end
          return p[10]
        end

        """;

    /// <summary>ARGV: id, worker and epoch of source and target, reason, digest of what was asked for, most open plans, fields.</summary>
    public static readonly RedisScript CreatePlan = new(Library + Entries + Planned + Plans + """
        local id, key = ARGV[1], plan(ARGV[1])
        local p = call('HMGET', key, 'state', 'fromWorker', 'fromEpoch', 'toWorker', 'toEpoch', 'reason', 'count', 'asked')
        if p[1] then
          local same = text(#ARGV - 8) == p[7] and (p[8] or '') == ARGV[7]
          for i = 2, 6 do
            same = same and p[i] == ARGV[i]
          end
          if same then
            for at, field in ipairs(planList(id, p[7])) do
              same = same and field == ARGV[8 + at]
            end
          end
          if same then
            return {'DUP'}
          end
          return {'CONFLICT', 'another plan has the id ' .. id}
        end
        if call('ZCARD', OPEN) >= tonumber(ARGV[8]) then
          return {'CONFLICT', ARGV[8] .. ' plans are open'}
        end
        local list, around, seen, marks, own = {}, {}, {}, {}, {}
        for at = 9, #ARGV do
          local field = ARGV[at]
          list[at - 8], around[at - 8] = field, partition(field) or field .. ':*'
          seen[field] = true
        end
        local entries = ofeach(DIRECTORY, list)
        local why = unfit(ARGV[2], ARGV[3]) or unfit(ARGV[4], ARGV[5]) or stranger(list, entries, ARGV[2], ARGV[3])
        if why then
          return {'STALE', why}
        end
        local itself, near = ofeach(PLANNED, list), ofeach(PLANNED, around)
        for at, field in ipairs(list) do
          local w = parsed(field, entries[at])
          own[at] = partition(field) and w
          marks[2 * at - 1], marks[2 * at] = field, own[at] and id .. ' own' or id
          local other = itself[at] or not own[at] and near[at] and (partition(field) and near[at] or inside(field))
          if other then
            return {'CONFLICT', field .. ' has an open plan: ' .. (string.match(other, '^(.-) own$') or other)}
          end
        end
        for at, field in ipairs(list) do
          if not own[at] and seen[partition(field) or ''] then
            return {'CONFLICT', field .. ' and its partition are both in the plan'}
          end
        end
        sound()
        call('LLEN', fields(id))
        dirty()
        call('DEL', fields(id))
        call('HSET', key, 'state', 'planned', 'fromWorker', ARGV[2], 'fromEpoch', ARGV[3], 'toWorker', ARGV[4], 'toEpoch', ARGV[5], 'reason', ARGV[6],
          'asked', ARGV[7], 'created', text(now()), 'count', text(#list))
        inpieces('RPUSH', fields(id), list)
        inpieces('HSET', PLANNED, marks)
        for at, field in ipairs(list) do
          local whole = not own[at] and partition(field)
          if whole then
            call('HINCRBY', PLANNED, whole .. ':*', 1)
          end
        end
        call('ZADD', OPEN, text(call('HINCRBY', META, 'plan', 1)), id)
        return {'OK'}
        """);

    /// <summary>ARGV: id, most ended plans. Answers field and version of each entry.</summary>
    public static readonly RedisScript CommitPlan = new(Library + Entries + Planned + Plans + Heads + """
        local id = ARGV[1]
        if call('EXISTS', plan(id)) == 0 then
          return {'NOTFOUND', 'there is no plan ' .. id}
        end
        head({}, id)
        local p = call('HMGET', plan(id), 'state', 'fromWorker', 'fromEpoch', 'toWorker', 'toEpoch', 'count', 'why')
        if p[1] == 'done' then
          return {'DUP'}
        end
        if p[1] ~= 'planned' then
          return {'STALE', 'plan ' .. id .. ' was cancelled: ' .. (p[7] or '')}
        end
        local list = planList(id, p[6])
        local before = ofeach(DIRECTORY, list)
        local why = unfit(p[2], p[3]) or unfit(p[4], p[5]) or stranger(list, before, p[2], p[3])
        if why then
          return {'STALE', why}
        end
        intact()
        sound()
        dirty()
        local out, owned = {'OK', p[4], p[5]}, 0
        local version, entries, changes = call('HINCRBY', META, 'version', #list) - #list, {}, {}
        for at, field in ipairs(list) do
          local w = parsed(field, before[at])
          if w then
            owned = owned + 1
          end
          local v = text(version + at)
          entries[2 * at - 1], entries[2 * at] = field, p[4] .. ' ' .. p[5] .. ' ' .. v
          changes[2 * at - 1], changes[2 * at] = v, field
          out[2 * at + 2], out[2 * at + 3] = field, v
        end
        inpieces('HSET', DIRECTORY, entries)
        inpieces('ZADD', CHANGES, changes)
        share(p[2], -owned)
        share(p[4], #list)
        finish(id, list, 'done', '', tonumber(ARGV[2]))
        return out
        """);

    /// <summary>ARGV: id, why, most ended plans.</summary>
    public static readonly RedisScript CancelPlan = new(Library + Entries + Planned + Plans + """
        local id = ARGV[1]
        local p = call('HMGET', plan(id), 'state', 'count')
        if not p[1] then
          return {'NOTFOUND', 'there is no plan ' .. id}
        end
        if p[1] == 'cancelled' then
          return {'DUP'}
        end
        if p[1] ~= 'planned' then
          return {'STALE', 'plan ' .. id .. ' is done'}
        end
        local list = planList(id, p[2])
        sound()
        dirty()
        finish(id, list, 'cancelled', ARGV[2], tonumber(ARGV[3]))
        return {'OK'}
        """);

    /// <summary>ARGV: id. Twelve values and the fields; nothing: there is none.</summary>
    public static readonly RedisScript FindPlan = new(Library + Entries + Planned + Plans + Heads + """
        local out, id = {'OK'}, ARGV[1]
        if call('EXISTS', plan(id)) == 1 then
          for _, field in ipairs(planList(id, head(out, id))) do
            out[#out + 1] = field
          end
        end
        return out
        """);

    /// <summary>
    /// ARGV: open or ended, most plans. Twelve values for each that is not damaged. Or damaged, most plans: of each
    /// open one that is, its key and what is wrong.
    /// </summary>
    public static readonly RedisScript ReadPlans = new(Library + Entries + Planned + Plans + Heads + """
        local out, last = {'OK'}, tonumber(ARGV[2]) - 1
        local ids = ARGV[1] == 'ended' and call('ZREVRANGE', ENDED, 0, last) or call('ZRANGE', OPEN, 0, last)
        for _, id in ipairs(ids) do
          local isSound, why = pcall(head, ARGV[1] == 'damaged' and {} or out, id)
          local what = not isSound and type(why) == 'string' and string.match(why, 'DAMAGED<(.*)>')
          if not isSound and not what then
            error(why, 0)
          end
          if what and ARGV[1] == 'damaged' then
            out[#out + 1] = what
          end
        end
        return out
        """);

    /// <summary>ARGV: id of a migration. Twelve values for each of its plans, <c>id.1</c> to the first that is not there.</summary>
    public static readonly RedisScript ReadParts = new(Library + Entries + Planned + Plans + Heads + """
        local out, part = {'OK'}, 1
        while call('EXISTS', plan(ARGV[1] .. '.' .. text(part))) == 1 do
          head(out, ARGV[1] .. '.' .. text(part))
          part = part + 1
        end
        return out
        """);
}
