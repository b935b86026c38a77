using Snapper.Storage.Checkpoints;

namespace Snapper.Storage.Redis;

/// <summary>
/// The scripts. They carry no <c>#!lua</c> line on purpose: with one, a server out of memory refuses a script before it can say
/// that an append is already there, and servers before 7.0 know none. Without one a write is refused only when it is a
/// script's first, so each script's first write is the one that may be refused (append) or one that never is (the others).
/// </summary>
/// <remarks>Numbers stay below 2^53 and travel as text; Lua's own formatting would turn large ones into powers of ten.</remarks>
internal static class RedisScripts
{
    /// <summary>
    /// A Lua function: what names this server as long as it is the primary without a break. That is its run_id and,
    /// after a promotion, the replication id that it got then: one that was a replica for a while has another's data.
    /// Nil: INFO is not allowed. A replica refuses writes, and need say no more.
    /// </summary>
    /// <remarks>A server forgets its second replication id, and takes a new first one, an hour after its last replica
    /// left. That is no promotion.</remarks>
    private const string ThisInstance = """
        local function thisInstance()
          local server, replication = redis.pcall('INFO', 'server'), redis.pcall('INFO', 'replication')
          local run = type(server) == 'string' and string.match(server, 'run_id:(%w+)') or nil
          if not run or type(replication) ~= 'string' or string.find(replication, 'role:slave', 1, true) then
            return run
          end
          local second = string.match(replication, 'master_replid2:(%w+)') or ''
          return string.find(second, '[^0]') and run .. '@' .. string.match(replication, 'master_replid:(%w+)') or run
        end

        """;

    /// <summary>
    /// A Lua function: whether something began on another instance of the server, or on this one before it was a
    /// replica for a while. Its argument is what <c>thisInstance</c> said then.
    /// </summary>
    public const string Foreign = ThisInstance + """
        local here
        local function foreign(began)
          if not began or began == '' then
            return false
          end
          here = here or thisInstance() or ''
          return here ~= '' and here ~= began and here ~= string.match(began, '^%w*')
        end

        """;

    /// <summary>
    /// Begins every fenced script: KEYS[1] is the log's hash, ARGV[1] the epoch, ARGV[2] the opener's mark, ARGV[3] the number
    /// up to which this writer's records were acknowledged, plus one; the last argument, which is taken away, how many checkpoints, trims and savings of outcomes
    /// this writer knows of. The mark tells two openings apart that got the same epoch because the server had lost one of them.
    /// A missing or lower epoch, a lower end and a lower count mean lost data (L6): a loss of checkpoints alone would show in nothing else.
    /// </summary>
    /// <remarks>
    /// A loss raises, once for each epoch, the log's generation, and that of the cluster, which every worker looks at. Not on another instance of the server: there every life
    /// that began elsewhere stops by itself, and lives that began there have read what was kept. A replica may lag
    /// behind its primary: it says nothing of a loss.
    /// </remarks>
    private const string Fence = $$"""
        local known = table.remove(ARGV)
        local m = redis.call('HMGET', KEYS[1], 'epoch', 'owner', 'next', 'first', 'changes')
        local epoch, mine = tonumber(m[1] or '0'), tonumber(ARGV[1])
        local next = tonumber(m[3] or '1')
        if epoch > mine or (epoch == mine and m[2] ~= ARGV[2]) then
          return 'FENCED epoch ' .. ARGV[1] .. ' is not the current one, ' .. m[1]
        end
        local function lost(what)
          {{Foreign}}
          local shared = redis.call('HMGET', KEYS[1], 'several', 'instance', 'lost')
          if shared[3] == ARGV[1] then
            return 'LOST ' .. what
          end
          local noted = redis.pcall('HSET', KEYS[1], 'lost', ARGV[1])
          if type(noted) == 'table' and noted.err and string.find(noted.err, 'READONLY', 1, true) then
            return 'REFUSED ' .. noted.err
          end
          redis.pcall('HINCRBY', KEYS[1], 'generation', 1)
          if shared[1] and not foreign(shared[2]) then
            redis.pcall('HINCRBY', string.gsub(KEYS[1], '{[^{}]*}:meta$', '{cluster}:meta'), 'generation', 1)
          end
          return 'LOST ' .. what
        end
        if epoch < mine or next < tonumber(ARGV[3]) then
          return lost((next < tonumber(ARGV[3]) and 'records ' .. (m[3] or '1') .. ' to ' .. string.format('%.0f', tonumber(ARGV[3]) - 1) .. ' are gone: ' or '')
            .. 'the next record is ' .. (m[3] or '1') .. ' in epoch ' .. (m[1] or '0') .. ', this writer has epoch ' .. ARGV[1] .. ' and was told of everything below ' .. ARGV[3])
        end
        if tonumber(m[5] or '0') < tonumber(known) then
          return lost('checkpoints, trims or saved outcomes: it counts ' .. (m[5] or '0') .. ' of them, this writer was told of ' .. known .. '; the records up to ' .. string.format('%.0f', next - 1) .. ' are there')
        end

        """;

    /// <summary>Counts what changed beside the stream, and answers the count.</summary>
    private const string Count = "\nreturn 'OK ' .. string.format('%.0f', redis.call('HINCRBY', KEYS[1], 'changes', 1))";

    /// <summary>
    /// Precedes whatever is done on behalf of a worker that is not the owner of what it changes (R4): the last key is the hash of that worker's own log, the last two
    /// arguments are its epoch and mark. They are taken away, so that what follows finds its own keys and arguments alone. A life that began on another instance of the
    /// server changes nothing on this one: what it was told may not be here (L6).
    /// </summary>
    public const string Guard = $$"""
        local guardKey, guardMark, guardEpoch = table.remove(KEYS), table.remove(ARGV), table.remove(ARGV)
        local guard = redis.pcall('HMGET', guardKey, 'epoch', 'owner', 'instance')
        if guard.err then
          return 'DAMAGED key ' .. guardKey .. ': ' .. guard.err
        end
        if guard[1] ~= guardEpoch or guard[2] ~= guardMark then
          return 'GUARD epoch ' .. guardEpoch .. ' of ' .. guardKey .. ' is not the current one, ' .. (guard[1] or 'there is none')
        end
        {{Foreign}}
        if foreign(guard[3]) then
          return 'GUARD epoch ' .. guardEpoch .. ' of ' .. guardKey .. ' began on another instance of the server, ' .. guard[3]
        end

        """;

    /// <summary>
    /// Precedes what only reads: the last key is the hash of the reader's own log, the last five arguments its epoch
    /// and mark, what it knows to have been acknowledged, as for <see cref="Fence"/>, and 1 if its life is bound to the
    /// instance of the server on which it began. The connection for reads is not the one for appends: it may have been
    /// made anew while the address led to a replica that lags, or to an earlier primary, and what that one does not
    /// have would count as what there never was. A reader that is fenced, or whose hash is damaged, is told by its
    /// appends.
    /// </summary>
    public const string Known = $$"""
        local knownKey, knownBound, knownChanges = table.remove(KEYS), table.remove(ARGV), table.remove(ARGV)
        local knownNext, knownMark, knownEpoch = table.remove(ARGV), table.remove(ARGV), table.remove(ARGV)
        local own = redis.pcall('HMGET', knownKey, 'epoch', 'owner', 'next', 'changes', 'instance')
        local ownEpoch = (tonumber(own[1] or '0') or 0) - tonumber(knownEpoch)
        if own.err then
          ownEpoch = 1
        end
        local ownNext, ownChanges = tonumber(own[3] or '1'), tonumber(own[4] or '0')
        local isOlder = ownNext < tonumber(knownNext) or ownChanges < tonumber(knownChanges)
        if ownEpoch < 0 or (ownEpoch == 0 and (own[2] ~= knownMark or isOlder)) then
          return 'STALE ' .. knownKey .. ' is an older copy: epoch ' .. (own[1] or '0') .. ', next record '
            .. (own[3] or '1') .. ', ' .. (own[4] or '0') .. ' changes beside them'
        end
        if knownBound == '1' and ownEpoch == 0 then
          {{Foreign}}
          if foreign(own[5]) then
            return 'STALE ' .. knownKey .. ' is a copy on another instance of the server than ' .. own[5]
          end
        end

        """;

    /// <summary>Follows the fence where the stream matters (KEYS[2]): answers LOST, and why.</summary>
    private const string LoseStream = """
        local function lostStream(what)
          return lost('stream ' .. KEYS[2] .. ' ' .. what .. ': records ' .. (m[4] or m[3]) .. ' to ' .. string.format('%.0f', next - 1) .. ' should be there')
        end

        """;

    /// <summary>
    /// Follows the fence for a worker that is one of several: another instance of the server than that of the opening
    /// (it was started anew, or a replica took its place, or it was one for a while) may hold less than others were
    /// told, of which this log's own numbers say nothing. So this life ends, whether or not anything is missing. With
    /// each command: a connection lives on while its server becomes a replica and a primary again.
    /// </summary>
    private const string OnInstance = Foreign + """
        local began = redis.call('HGET', KEYS[1], 'instance')
        if foreign(began) then
          return 'FENCED epoch ' .. ARGV[1] .. ' began on another instance of the server, ' .. began .. '; of this log nothing is missing'
        end

        """;

    /// <summary>
    /// Deletes nothing, as a write: a primary that a replica has replaced answers reads as before, knows nothing of
    /// what the new one took, and is told apart by refusing writes.
    /// </summary>
    private const string Write = "redis.call('HDEL', KEYS[1], '')\n";

    public static readonly RedisScript CheckEpoch = new(Fence + Write + "return 'OK'");

    /// <summary>The same for one of several.</summary>
    public static readonly RedisScript CheckEpochOnInstance = new(Fence + Write + OnInstance + "return 'OK'");

    /// <summary>
    /// Writes, behind another write, what is there already: replicas are told of it, and what waits for their answer
    /// hears of this moment. One of before says nothing of a primary that has lost its replicas since.
    /// </summary>
    private const string Told = "redis.call('HSET', KEYS[1], 'next', m[3] or '1')\n";

    /// <summary>The check of the epoch for whom replicas must hear of it.</summary>
    public static readonly RedisScript CheckEpochTold = new(Fence + Write + Told + "return 'OK'");

    /// <summary>The same for one of several.</summary>
    public static readonly RedisScript CheckEpochToldOnInstance =
        new(Fence + Write + OnInstance + Told + "return 'OK'");

    /// <summary>
    /// KEYS[2]: the stream. ARGV[4..7]: first sequence, the sequence behind the last, count, bytes. A stream that is gone would be
    /// made anew without a word; one that holds nothing that is needed (a new log, everything trimmed) may be.
    /// </summary>
    private static readonly string s_add = $$"""
        if tonumber(m[4] or m[3] or '1') < next and redis.call('EXISTS', KEYS[2]) == 0 then
          return lost('stream ' .. KEYS[2] .. ' is gone: records ' .. (m[4] or m[3]) .. ' to ' .. string.format('%.0f', next - 1) .. ' should be there')
        end
        local first = tonumber(ARGV[4])
        if first == next then
          local added = redis.pcall('XADD', KEYS[2], ARGV[4] .. '-0', 'n', ARGV[6], 'r', ARGV[7])
          if type(added) == 'table' and added.err then
            return 'REFUSED ' .. added.err
          end
          redis.call('HSET', KEYS[1], 'next', ARGV[5])
          return 'OK'
        end
        if tonumber(ARGV[5]) <= next then
          {{Write}}{{Told}}return 'DUP'
        end
        if first > next then
          return 'LOST the next record is ' .. (m[3] or '1') .. ', this append begins with ' .. ARGV[4]
        end
        return 'GAP records from ' .. ARGV[4] .. ' on do not follow the log, whose next record is ' .. m[3]
        """;

    public static readonly RedisScript Append = new(Fence + s_add);

    /// <summary>The same for one of several.</summary>
    public static readonly RedisScript AppendOnInstance = new(Fence + OnInstance + s_add);

    /// <summary>
    /// Raises the epoch and tells the rest. KEYS: hash, stream. ARGV: mark, and a name for the log if it has none yet. Deleting nothing first makes it a script that has
    /// written, which then works without memory, too: whoever cannot open can neither checkpoint nor trim, and memory is never freed.
    /// The last thing answered is the highest entry there ever was: Redis takes none below it, though it may be gone.
    /// A log without <c>first</c> is new, or from before there was one: it is taken as it stands, once.
    /// Locals: <c>joins</c>, the log is that of one of several; <c>leap</c>, or nothing. On an instance of the server where such a log was not opened before, its epoch leaps, also
    /// from nothing: openings may be among what a server lost, and no life may have the name of an earlier one. Without a <c>leap</c> it is one that the instance's own random
    /// name gives, 1,000 to 1,049,575, so that neither the first lives on two servers nor those on two copies of one server meet.
    /// Where a worker's log alone was deleted, and that accepted, its next life comes behind the one that is
    /// registered: the directory and the others know the lives of before.
    /// </summary>
    public const string OpenText = ThisInstance + """
        redis.call('HDEL', KEYS[1], 'owner')
        local before, instance = redis.call('HMGET', KEYS[1], 'several', 'instance'), thisInstance() or ''
        local by = 1
        if (joins or before[1]) and (before[2] or '') ~= instance then
          by = leap or 1000 + (tonumber(string.sub(string.match(instance, '%w*$'), 1, 5), 16) or 0)
        end
        local epoch = redis.call('HINCRBY', KEYS[1], 'epoch', by)
        if epoch < by then
          redis.call('HINCRBY', KEYS[1], 'epoch', -by)
          return redis.error_reply('the epoch ' .. (epoch - by) .. ' is not an integer from 0 on')
        end
        local member, isOfWorker = string.gsub(KEYS[1], '{w(%d+)}:meta$', '{cluster}:member:%1')
        local registered = isOfWorker == 1 and redis.pcall('HGET', member, 'epoch')
        registered = type(registered) == 'string' and tonumber(registered) or 0
        if epoch <= registered then
          epoch = redis.call('HINCRBY', KEYS[1], 'epoch', registered + 1 - epoch)
        end
        if joins then
          redis.call('HSET', KEYS[1], 'several', '1')
        end
        redis.call('HSET', KEYS[1], 'instance', instance)
        redis.call('HSET', KEYS[1], 'owner', ARGV[1])
        redis.call('HSETNX', KEYS[1], 'next', '1')
        redis.call('HSETNX', KEYS[1], 'id', ARGV[2])
        local m = redis.call('HMGET', KEYS[1], 'epoch', 'next', 'transaction', 'actCounter', 'generation', 'id', 'first', 'changes')
        local function id(entry)
          return entry and string.match(entry[1], '^%d+') or ''
        end
        local first = id(redis.call('XRANGE', KEYS[2], '-', '+', 'COUNT', 1)[1])
        local last = redis.call('XREVRANGE', KEYS[2], '+', '-', 'COUNT', 1)[1]
        if not m[7] then
          m[7] = first ~= '' and first or m[2]
          redis.call('HSET', KEYS[1], 'first', m[7])
        end
        local top = ''
        if redis.call('EXISTS', KEYS[2]) == 1 then
          local about = redis.call('XINFO', 'STREAM', KEYS[2])
          for i = 1, #about, 2 do
            if about[i] == 'last-generated-id' then
              top = string.match(about[i + 1], '^%d+')
            end
          end
        end
        return {m[1], m[2], m[3] or '0', m[4] or '0', m[5] or '0', first, id(last), last and last[2][2] or '', m[6], m[7], top, m[8] or '0'}
        """;

    /// <summary>ARGV[3]: 1 if the log is that of one of several.</summary>
    public static readonly RedisScript Open = new("local joins, leap = ARGV[3] == '1', nil\n" + OpenText);

    /// <summary>KEYS: a hash. Its fields and values, in turn.</summary>
    public static readonly RedisScript ReadHash = new("return redis.call('HGETALL', KEYS[1])");

    /// <summary>KEYS: hash of a log. The number of its next record; none: there is no log.</summary>
    public static readonly RedisScript ReadNext = new("return {redis.call('HGET', KEYS[1], 'next')}");

    /// <summary>KEYS: stream. ARGV: an entry. That one, or the last one before it.</summary>
    public static readonly RedisScript ReadHolding = new(
        "return redis.call('XREVRANGE', KEYS[1], ARGV[1], '-', 'COUNT', 1)");

    /// <summary>KEYS: none. ARGV: cursor, pattern, count. What SCAN answers.</summary>
    public static readonly RedisScript ScanStates = new(
        "return redis.call('SCAN', ARGV[1], 'MATCH', ARGV[2], 'COUNT', ARGV[3])");

    /// <summary>KEYS: a state. ARGV: the field of its version. Its version, and how many fields there are.</summary>
    public static readonly RedisScript ReadVersion = new(
        "return {redis.call('HGET', KEYS[1], ARGV[1]), redis.call('HLEN', KEYS[1])}");

    /// <summary>
    /// KEYS: stream. ARGV: first and last entry, bytes from which on no further entry is added, most entries. XRANGE alone
    /// bounds the number of entries only, and one of them may have a hundred megabytes.
    /// </summary>
    public static readonly RedisScript ReadPart = new("""
        local read, bytes, from = {}, 0, ARGV[1]
        while bytes < tonumber(ARGV[3]) and #read < tonumber(ARGV[4]) do
          local entry = redis.call('XRANGE', KEYS[1], from, ARGV[2], 'COUNT', 1)[1]
          if not entry then
            break
          end
          read[#read + 1] = entry
          bytes = bytes + #(entry[2][4] or '')
          from = '(' .. entry[1]
        end
        return read
        """);

    /// <summary>
    /// KEYS[2]: the stream. ARGV[4..6]: keep from, watermarks. The trim itself is never refused and makes way for the rest. With it
    /// goes, into the hash, the number with which the stream begins from now on: its absence can be told from emptiness by that alone.
    /// </summary>
    public static readonly RedisScript Trim = new(Fence + LoseStream + """
        local kept = tonumber(m[4] or m[3] or '1')
        if kept < next then
          local head = redis.call('XRANGE', KEYS[2], '-', '+', 'COUNT', 1)[1]
          if not head then
            return lostStream('is empty')
          end
          local begins = string.match(head[1], '^%d+')
          if tonumber(begins) > kept then
            return lostStream('begins with record ' .. begins)
          end
        end
        local keep = tonumber(ARGV[4])
        local from = ARGV[4]
        if keep >= next then
          from = m[3] or '1'
        else
          local within = redis.call('XREVRANGE', KEYS[2], ARGV[4] .. '-0', '-', 'COUNT', 1)[1]
          if within then
            local start = string.match(within[1], '^%d+')
            if tonumber(start) + tonumber(within[2][2]) > keep then
              from = start
            end
          end
        end
        redis.call('XTRIM', KEYS[2], 'MINID', from .. '-0')
        if kept < tonumber(from) then
          redis.call('HSET', KEYS[1], 'first', from)
        end
        local w = redis.call('HMGET', KEYS[1], 'transaction', 'actCounter')
        if tonumber(w[1] or '0') < tonumber(ARGV[5]) then
          redis.call('HSET', KEYS[1], 'transaction', ARGV[5])
        end
        if tonumber(w[2] or '0') < tonumber(ARGV[6]) then
          redis.call('HSET', KEYS[1], 'actCounter', ARGV[6])
        end
        """ + Count);

    /// <summary>
    /// KEYS[2..]: states. ARGV[4..]: for each state from, to, number of fields, and for each field its name, 1 or 0 (deleted), value.
    /// First all checks, then all effects (L7). A state that this program did not write is left as it is and named. Works without memory (see <see cref="Open"/>): checkpointing is what lets the log be trimmed.
    /// </summary>
    public static readonly RedisScript Checkpoint = new(Fence + $$"""
        local at = 4
        local stored = {}
        for k = 2, #KEYS do
          local found = redis.pcall('HGET', KEYS[k], 'version')
          if type(found) == 'table' then
            return 'DAMAGED key ' .. KEYS[k] .. ': ' .. found.err
          end
          if not found and redis.call('EXISTS', KEYS[k]) == 1 then
            return 'DAMAGED key ' .. KEYS[k] .. ': it has no field version'
          end
          stored[k] = tonumber(found or '0')
          if not stored[k] then
            return 'DAMAGED key ' .. KEYS[k] .. ': its field version is not a number'
          end
          if stored[k] > {{CheckpointRule.HighestCheckpointed}} then
            return 'DAMAGED key ' .. KEYS[k] .. ': its field version is higher than any that is counted'
          end
          if stored[k] < tonumber(ARGV[at]) then
            return 'BEHIND ' .. KEYS[k] .. ' is stored at version ' .. string.format('%.0f', stored[k]) .. ', the checkpoint (' .. ARGV[at] .. ', ' .. ARGV[at + 1] .. '] builds on a later one'
          end
          at = at + 3 + 3 * tonumber(ARGV[at + 2])
        end
        redis.call('HDEL', KEYS[1], '')
        at = 4
        for k = 2, #KEYS do
          local fields = tonumber(ARGV[at + 2])
          if stored[k] < tonumber(ARGV[at + 1]) then
            redis.call('HSET', KEYS[k], 'version', ARGV[at + 1])
            for f = 0, fields - 1 do
              local name = at + 3 + 3 * f
              if ARGV[name + 1] == '1' then
                redis.call('HSET', KEYS[k], ARGV[name], ARGV[name + 2])
              else
                redis.call('HDEL', KEYS[k], ARGV[name])
              end
            end
          end
          at = at + 3 + 3 * fields
        end
        """ + Count);

    /// <summary>
    /// KEYS[2]: the hash of a minute; KEYS[3]: the index, which has a field for each minute and counts the copies. ARGV[4]: the minute; ARGV[5]: how many
    /// milliseconds of it have passed; ARGV[6..]: request id and bytes, in turn.
    /// </summary>
    public static readonly RedisScript SaveOutcomes = new(Fence + """
        redis.call('HDEL', KEYS[1], '')
        for i = 6, #ARGV, 2 do
          redis.call('HSET', KEYS[2], ARGV[i], ARGV[i + 1])
        end
        redis.call('HSET', KEYS[3], ARGV[4], ARGV[5])
        redis.call('HINCRBY', KEYS[3], 'copied', 1)
        """ + Count);

    /// <summary>KEYS[2]: the index; KEYS[3]: the hash of a minute. ARGV[4]: the minute.</summary>
    public static readonly RedisScript DropOutcomes = new(Fence + """
        redis.call('DEL', KEYS[3])
        redis.call('HDEL', KEYS[2], ARGV[4])
        return 'OK'
        """);

    /// <summary>KEYS[1]: the index; KEYS[2]: the hash of a minute. ARGV: the minute, and how many copies were counted. For archives without an owner: what was copied since stays.</summary>
    public static readonly RedisScript ClearOutcomes = new("""
        if redis.call('HGET', KEYS[1], 'copied') == ARGV[2] then
          redis.call('DEL', KEYS[2])
          redis.call('HDEL', KEYS[1], ARGV[1])
        end
        return 'OK'
        """);

    /// <summary>
    /// KEYS[1]: the index; KEYS[2..]: hashes of minutes of a wall clock, newest first, as earlier versions made them.
    /// ARGV: request id, and how the keys of indexed minutes begin. Empty: in none of them.
    /// </summary>
    public static readonly RedisScript FindOutcome = new("""
        local index, minutes = redis.call('HGETALL', KEYS[1]), {}
        for i = 1, #index, 2 do
          if index[i] ~= 'copied' then
            minutes[#minutes + 1] = tonumber(index[i])
          end
        end
        table.sort(minutes, function(one, other) return one > other end)
        for i, minute in ipairs(minutes) do
          local found = redis.call('HGET', ARGV[2] .. string.format('%.0f', minute), ARGV[1])
          if found then
            return {found}
          end
        end
        for k = 2, #KEYS do
          local found = redis.call('HGET', KEYS[k], ARGV[1])
          if found then
            return {found}
          end
        end
        return {}
        """);
}
