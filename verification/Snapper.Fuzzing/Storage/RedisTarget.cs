using System.Globalization;
using Snapper.Fuzzing.Engine;
using Snapper.Storage.Log;
using Snapper.Storage.Log.Records;
using Snapper.Storage.Recovery;
using Snapper.Storage.Redis;
using Snapper.Storage.States;
using StackExchange.Redis;

namespace Snapper.Fuzzing.Storage;

/// <summary>
/// Opening and recovering a log over broken keys in a real Redis. A <see cref="Recipe"/> whose lines are Redis commands; <c>{meta}</c>, <c>{log}</c>, <c>{state:a1}</c>, <c>{outcomes:MINUTE}</c> stand for keys, <c>{entry:N}</c>
/// for the id of the stream's Nth entry, <c>{r:N}</c> for its bytes.
/// </summary>
/// <remarks>Oracle: it opens and recovers, or refuses with <see cref="CorruptLogException"/>, again and again; every entry that only went missing is missed, unless the last ones and the hash went together.</remarks>
internal sealed class RedisTarget : FuzzTarget
{
    private static readonly CancellationToken None = CancellationToken.None;
    private static readonly string[] Fields = ["epoch", "next", "first", "id", "owner", "transaction", "actCounter", "generation", "nope"];
    private RedisProcess? _server;
    private RedisConnections? _connections;
    private ConnectionMultiplexer? _raw;
    private long _number;

    public override string Name => "redis";

    public override string Attacks => "stream, hash, states and outcomes in Redis";

    public override string? Lacks => RedisProcess.Executable is null ? "no redis-server: set SNAPPER_REDIS_SERVER or put it on PATH" : null;

    public override bool IsText => true;

    public override int ShortRun => 150;

    public override byte[] Generate(Random random)
    {
        var text = $"sample {random.Next(1, 10_000)}\n";
        for (var steps = random.Next(1, 4); steps > 0; steps--)
        {
            text += Step(random) + "\n";
        }

        return Pieces.Bytes(text);
    }

    public override byte[] Mutate(byte[] input, byte[] other, Random random) => Recipe.Mutate(input, other, random, () => Step(random));

    public override string Run(byte[] input) => Task.Run(() => Attack(Recipe.Read(input))).GetAwaiter().GetResult();

    public override void Dispose()
    {
        _raw?.Dispose();
        _connections?.DisposeAsync().AsTask().GetAwaiter().GetResult();
        _server?.Dispose();
        base.Dispose();
    }

    private async Task<string> Attack(Recipe recipe)
    {
        await Connect();
        var sample = new SampleLog(recipe.Sample);
        var worker = string.Create(CultureInfo.InvariantCulture, $"w{++_number}");
        await _raw!.GetDatabase().ExecuteAsync("FLUSHALL");
        await using (var log = new RedisTransactionLog(_connections!, worker))
        {
            await sample.Write(log, Store(log));
        }

        foreach (var step in recipe.Steps)
        {
            await Do(step, worker);
        }

        try
        {
            return await Recover(worker, sample, onlyMissing: recipe.Steps.All(step => step[0] is "XDEL" or "XTRIM" || (step[0] == "DEL" && step.ElementAtOrDefault(1) == "{log}")));
        }
        catch (CorruptLogException damage)
        {
            try
            {
                await Recover(worker, sample, onlyMissing: false);
            }
            catch (CorruptLogException)
            {
                return damage.Message.Replace(worker, "w", StringComparison.Ordinal);
            }

            throw new FuzzFailureException($"At first it was refused ({damage.Message}), the second time it was recovered.");
        }
    }

    private async Task<string> Recover(string worker, SampleLog sample, bool onlyMissing)
    {
        await using var log = new RedisTransactionLog(_connections!, worker);
        var store = Store(log);
        var opening = await log.Open(None);
        if (opening.NextSequence < 1 || opening.FirstSequence < 1 || opening.FirstSequence > opening.NextSequence || opening.Epoch < 1 || opening.Watermarks.Transaction < 0 || opening.Watermarks.ActCounter < 0)
        {
            throw new FuzzFailureException($"The log opened as {opening}.");
        }

        await LogRecovery.Run(log, store, opening, new Deaf(), TimeProvider.System, None);
        foreach (var actor in sample.Actors)
        {
            var state = await store.Load(actor, None);
            if (onlyMissing && (state?.Version ?? 0) != (sample.After(sample.Groups).GetValueOrDefault(actor)?.Version ?? 0))
            {
                throw new FuzzFailureException($"{actor} came back in version {state?.Version ?? 0}, with records missing and nothing said.");
            }
        }

        foreach (var (id, _) in sample.Outcomes)
        {
            _ = await store.FindOutcome(id, None);
        }

        var buffer = new GroupBuffer();
        RecordEncoder.Encode(new ActCommitted { Transaction = Protocol.Identity.TransactionId.Act(1, 2), Changes = [], Outcome = null }, buffer);
        var appended = await log.Append(opening.Epoch, opening.NextSequence, 1, buffer.Written.ToArray(), None);
        buffer.Release();
        return appended.Status is AppendStatus.Appended ? $"recovered {(opening.FirstSequence == opening.NextSequence ? "empty" : "records")}" : throw new FuzzFailureException($"The recovered log answers an append with {appended}.");
    }

    private async Task Do(string[] step, string worker)
    {
        var database = _raw!.GetDatabase();
        var keys = new RedisKeys("f:", worker);
        var entries = await database.KeyTypeAsync(keys.Stream) == RedisType.String ? [] : await Entries(database, keys);
        var words = new List<object>();
        foreach (var word in step.Skip(1))
        {
            if (Key(word, keys) is { } key)
            {
                words.Add(key);
            }
            else if (word.StartsWith("{entry:", StringComparison.Ordinal) || word.StartsWith("{r:", StringComparison.Ordinal))
            {
                var at = word.AsSpan(word.IndexOf(':', StringComparison.Ordinal) + 1).TrimEnd('}');
                if (!int.TryParse(at, NumberStyles.None, CultureInfo.InvariantCulture, out var number) || number >= entries.Count)
                {
                    return;
                }

                words.Add(word[1] == 'e' ? entries[number].Id : (RedisValue)entries[number].Bytes);
            }
            else
            {
                words.Add(word);
            }
        }

        try
        {
            await database.ExecuteAsync(step[0], [.. words]);
        }
        catch (RedisServerException)
        {
            // Redis keeps some of the damage out by itself.
        }
    }

    private static async Task<List<(RedisValue Id, byte[] Bytes)>> Entries(IDatabase database, RedisKeys keys)
    {
        try
        {
            var found = (RedisResult[])(await database.ExecuteAsync("XRANGE", keys.Stream, "-", "+"))!;
            return [.. found.Select(entry => (RedisResult[])entry!).Select(entry => ((RedisValue)entry[0], ((RedisValue[])entry[1]!) is { Length: >= 4 } fields ? (byte[])fields[3]! : []))];
        }
        catch (RedisServerException)
        {
            return [];
        }
    }

    private static object? Key(string word, RedisKeys keys) => word switch
    {
        "{meta}" => (object)keys.Meta,
        "{log}" => keys.Stream,
        _ when word.StartsWith("{state:", StringComparison.Ordinal) => keys.State(new Protocol.Identity.ActorKey("Account", word[7..^1])),
        _ when word.StartsWith("{outcomes:", StringComparison.Ordinal) => keys.Outcomes((SampleLog.Now.ToUnixTimeMilliseconds() / 60_000) - (word[10] - '0')),
        _ => null,
    };

    private static string Step(Random random)
    {
        var state = $"{{state:a{random.Next(1, 4)}}}";
        var outcomes = $"{{outcomes:{random.Next(3)}}}";
        var entry = random.Next(6);
        var number = random.Percent(40) ? random.Next(12).ToString(CultureInfo.InvariantCulture) : Pieces.Number(random).Replace(" ", "", StringComparison.Ordinal);
        return random.Next(16) switch
        {
            0 or 1 => $"HSET {{meta}} {random.One(Fields)} {number}",
            2 => $"HDEL {{meta}} {random.One(Fields)}",
            3 or 4 => $"XDEL {{log}} {{entry:{entry}}}",
            5 => $"XTRIM {{log}} MAXLEN {random.Next(4)}",
            6 => $"XADD {{log}} {random.One("*", "18446744073709551615-1", "9223372036854775808-0", "9223372036854775807-0", "1000-0", number + "-1")} {random.One("n 1 r x", "n 1 r {r:0}", "n x r {r:0}", "a b", "r {r:0} n 1", "n 2147483647 r {r:0}", "n 2147483648 r {r:0}")}",
            7 => $"{random.One("DEL", "UNLINK")} {random.One("{meta}", "{log}", state, outcomes)}",
            8 => $"SET {random.One("{meta}", "{log}", state, outcomes)} x",
            9 => $"RENAME {random.One("{meta}", "{log}", state, outcomes)} {random.One("{meta}", "{log}", state, outcomes)}",
            10 or 11 => $"HSET {state} version {number}",
            12 => $"HSET {state} {random.One("state", "k:1", "\u0001")} {random.One("{}", "x", "{r:0}")}",
            13 => $"HDEL {state} {random.One("version", "state")}",
            14 => $"HSET {outcomes} r{random.Next(1, 12)} {random.One("x", "{r:0}")}",
            _ => $"EXPIRE {random.One("{meta}", "{log}", state)} 0",
        };
    }

    private async Task Connect()
    {
        if (_server is null)
        {
            _server = new RedisProcess();
            _connections = await RedisConnections.Connect(
                new RedisOptions { Port = _server.Port, KeyPrefix = "f:", CommandTimeout = TimeSpan.FromSeconds(30) });
            _raw = await ConnectionMultiplexer.ConnectAsync($"127.0.0.1:{_server.Port},allowAdmin=true");
        }
    }

    private static RedisStateStore Store(RedisTransactionLog log) => new(log, new StandingTime(), new StateStoreOptions());

    private sealed class Deaf : IRecoverySink
    {
        public void Outcome(OutcomeRecord outcome, long sequence)
        {
        }
    }
}
