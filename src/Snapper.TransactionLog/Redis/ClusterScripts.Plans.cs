namespace Snapper.TransactionLog.Redis;

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
        local function owner(field)
          local w, e = entry(field)
          local whole = partition(field)
          if (not w or w == '0') and whole then
            w, e = entry(whole)
          end
          return w, e
        end
        local function stranger(id, list, from, w, e)
          for at = from, #list do
            local ow, oe = owner(list[at])
            if ow ~= w or oe ~= e then
              return list[at] .. ' is owned by ' .. (ow and 'w' .. ow .. '/' .. oe or 'nobody') .. ', not by w' .. w .. '/' .. e
            end
          end
        end
        local function finish(id, list, state, why, most)
          call('HSET', plan(id), 'state', state, 'ended', text(now()), 'why', why)
          for _, field in ipairs(list) do
            call('HDEL', PLANNED, field)
            local whole = partition(field)
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

    private const string Heads = """
        local function head(out, id)
          local key = plan(id)
          local p = call('HMGET', key, 'state', 'fromWorker', 'fromEpoch', 'toWorker', 'toEpoch', 'reason', 'created', 'ended', 'why', 'count')
          for i = 1, 10 do
            if not p[i] and i ~= 8 and i ~= 9 then
              damaged(key, 'it is not a plan')
            end
          end
          for _, value in ipairs({id, p[1], p[2], p[3], p[4], p[5], p[6], p[7], p[8] or '0', p[9] or '', p[10]}) do
            out[#out + 1] = value
          end
          return p[10]
        end

        """;

    /// <summary>ARGV: id, worker and epoch of source and target, reason, most open plans, fields.</summary>
    public static readonly RedisScript CreatePlan = new(Library + Entries + Planned + Plans + """
        local id, key = ARGV[1], plan(ARGV[1])
        local p = call('HMGET', key, 'state', 'fromWorker', 'fromEpoch', 'toWorker', 'toEpoch', 'reason', 'count')
        if p[1] then
          local same = text(#ARGV - 7) == p[7]
          for i = 2, 6 do
            same = same and p[i] == ARGV[i]
          end
          if same then
            for at, field in ipairs(planList(id, p[7])) do
              same = same and field == ARGV[7 + at]
            end
          end
          if same then
            return {'DUP'}
          end
          return {'CONFLICT', 'another plan has the id ' .. id}
        end
        if call('ZCARD', OPEN) >= tonumber(ARGV[7]) then
          return {'CONFLICT', ARGV[7] .. ' plans are open'}
        end
        local why = unfit(ARGV[2], ARGV[3]) or unfit(ARGV[4], ARGV[5]) or stranger(id, ARGV, 8, ARGV[2], ARGV[3])
        if why then
          return {'STALE', why}
        end
        for at = 8, #ARGV do
          local other = planned(ARGV[at])
          if other then
            return {'CONFLICT', ARGV[at] .. ' has an open plan: ' .. other}
          end
        end
        local seen = {}
        for at = 8, #ARGV do
          seen[ARGV[at]] = true
        end
        for at = 8, #ARGV do
          if seen[partition(ARGV[at]) or ''] then
            return {'CONFLICT', ARGV[at] .. ' and its partition are both in the plan'}
          end
        end
        sound()
        call('LLEN', fields(id))
        dirty()
        call('DEL', fields(id))
        call('HSET', key, 'state', 'planned', 'fromWorker', ARGV[2], 'fromEpoch', ARGV[3], 'toWorker', ARGV[4], 'toEpoch', ARGV[5], 'reason', ARGV[6],
          'created', text(now()), 'count', text(#ARGV - 7))
        for at = 8, #ARGV do
          call('RPUSH', fields(id), ARGV[at])
          call('HSET', PLANNED, ARGV[at], id)
          local whole = partition(ARGV[at])
          if whole then
            call('HINCRBY', PLANNED, whole .. ':*', 1)
          end
        end
        call('ZADD', OPEN, text(call('HINCRBY', META, 'plan', 1)), id)
        return {'OK'}
        """);

    /// <summary>ARGV: id, most ended plans. Answers field and version of each entry.</summary>
    public static readonly RedisScript CommitPlan = new(Library + Entries + Planned + Plans + """
        local id = ARGV[1]
        local p = call('HMGET', plan(id), 'state', 'fromWorker', 'fromEpoch', 'toWorker', 'toEpoch', 'count', 'why')
        if not p[1] then
          return {'NOTFOUND', 'there is no plan ' .. id}
        end
        if p[1] == 'done' then
          return {'DUP'}
        end
        if p[1] ~= 'planned' then
          return {'STALE', 'plan ' .. id .. ' was cancelled: ' .. (p[7] or '')}
        end
        local list = planList(id, p[6])
        local why = unfit(p[2], p[3]) or unfit(p[4], p[5]) or stranger(id, list, 1, p[2], p[3])
        if why then
          return {'STALE', why}
        end
        intact()
        sound()
        dirty()
        local out, owned = {'OK', p[4], p[5]}, 0
        for _, field in ipairs(list) do
          local w = entry(field)
          if w and w ~= '0' then
            owned = owned + 1
          end
          out[#out + 1], out[#out + 2] = field, set(field, p[4], p[5])
        end
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

    /// <summary>ARGV: id. Eleven values and the fields; nothing: there is none.</summary>
    public static readonly RedisScript FindPlan = new(Library + Entries + Planned + Plans + Heads + """
        local out, id = {'OK'}, ARGV[1]
        if call('EXISTS', plan(id)) == 1 then
          for _, field in ipairs(planList(id, head(out, id))) do
            out[#out + 1] = field
          end
        end
        return out
        """);

    /// <summary>ARGV: open or ended, most plans. Eleven values for each.</summary>
    public static readonly RedisScript ReadPlans = new(Library + Entries + Planned + Plans + Heads + """
        local out, last = {'OK'}, tonumber(ARGV[2]) - 1
        for _, id in ipairs(ARGV[1] == 'open' and call('ZRANGE', OPEN, 0, last) or call('ZREVRANGE', ENDED, 0, last)) do
          head(out, id)
        end
        return out
        """);
}
