using System.Buffers.Binary;
using Snapper.Fuzzing.Engine;
using Snapper.Storage.Log;
using Snapper.Storage.Log.Records;

namespace Snapper.Fuzzing.Storage;

/// <summary>
/// Decoding of a group. An input is a byte, the count of records that the group claims (0: it is one stored outcome), and the group's bytes. Mutations reach the decoder behind the checksum:
/// the bodies are changed, length and checksum are made right again.
/// </summary>
/// <remarks>
/// Oracle: records or <see cref="CorruptLogException"/>, nothing else; memory in proportion to the input; what was decoded is encoded and decoded to the same again.
/// </remarks>
internal sealed class RecordsTarget : FuzzTarget
{
    private const long BytesFree = 64 * 1024;
    private const long BytesPerByte = 64;
    private readonly GroupDecoder _decoder = new();
    private readonly GroupBuffer _buffer = new();

    public override string Name => "records";

    public override string Attacks => "log records: framing, checksum, every kind";

    public override int ShortRun => 20_000;

    public override byte[] Generate(Random random)
    {
        var records = new RandomRecords(random);
        _buffer.Truncate(0);
        if (random.Percent(15))
        {
            RecordEncoder.EncodeOutcome(records.Outcome(), _buffer);
            return [0, .. _buffer.Written.Span];
        }

        var count = 1 + random.Next(4);
        for (var i = 0; i < count; i++)
        {
            RecordEncoder.Encode(records.Record(), _buffer);
        }

        return [(byte)count, .. _buffer.Written.Span];
    }

    public override byte[] Mutate(byte[] input, byte[] other, Random random)
    {
        var bodies = Bodies(input);
        if (bodies.Count == 0 || random.Percent(10))
        {
            return Pieces.Break(input, other, random);
        }

        var others = Bodies(other);
        var at = random.Next(bodies.Count);
        var count = input[0];
        switch (random.Next(10))
        {
            case 0: bodies.RemoveAt(at); break;
            case 1: bodies.Insert(at, bodies[random.Next(bodies.Count)]); break;
            case 2 when others.Count > 0: bodies.Insert(at, others[random.Next(others.Count)]); break;
            case 3: count = (byte)random.Next(bodies.Count + 2); break;
            case 4 when bodies[at].Length > 1: bodies[at][random.Next(2)] = (byte)random.One(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 64, 255); break;
            case 5: bodies[at] = WithOtherNumber(bodies[at], random); break;
            default: bodies[at] = Pieces.Break(bodies[at], others.Count > 0 ? others[0] : [], random, Math.Min(2, bodies[at].Length)); break;
        }

        return [count, .. bodies.SelectMany(Sealed)];
    }

    public override string Run(byte[] input)
    {
        if (input.Length == 0)
        {
            return "nothing";
        }

        var bytes = input.AsMemory(1);
        var before = GC.GetAllocatedBytesForCurrentThread();
        List<LogRecord> records;
        try
        {
            if (input[0] == 0)
            {
                var outcome = GroupDecoder.StoredOutcome(bytes, "here");
                Demand(GC.GetAllocatedBytesForCurrentThread() - before, input.Length);
                return Again(outcome);
            }

            records = Decode(new LogGroup(7, input[0], bytes));
        }
        catch (CorruptLogException damage)
        {
            Demand(GC.GetAllocatedBytesForCurrentThread() - before, input.Length);
            return damage.Message;
        }

        Demand(GC.GetAllocatedBytesForCurrentThread() - before, input.Length);
        return Again(records);
    }

    private List<LogRecord> Decode(LogGroup group)
    {
        var records = new List<LogRecord>();
        _decoder.Start(group);
        while (_decoder.MoveNext())
        {
            records.Add(_decoder.Current);
        }

        return records;
    }

    private string Again(List<LogRecord> records)
    {
        _buffer.Truncate(0);
        foreach (var record in records)
        {
            RecordEncoder.Encode(record, _buffer);
        }

        var again = Decode(new LogGroup(7, records.Count, _buffer.Written));
        for (var i = 0; i < records.Count; i++)
        {
            var (was, now) = (RecordText.Of(records[i]), RecordText.Of(again[i]));
            if (was != now)
            {
                throw new FuzzFailureException($"Record {i} was '{was}' and came back from its own encoding as '{now}'.");
            }
        }

        return "read " + string.Join(' ', records.Select(Shape));
    }

    private string Again(OutcomeRecord outcome)
    {
        _buffer.Truncate(0);
        RecordEncoder.EncodeOutcome(outcome, _buffer);
        var again = GroupDecoder.StoredOutcome(_buffer.Written, "here");
        return RecordText.Of(again) == RecordText.Of(outcome)
            ? $"read outcome {outcome.Abort}{(outcome.AbortActor is null ? "" : " at an actor")}"
            : throw new FuzzFailureException("The outcome came back from its own encoding as another one.");
    }

    private static string Shape(LogRecord record) => record switch
    {
        LocalBatchCommitted b => $"batch{(b.Changes.Count > 0 ? " changes" : "")}{(b.Outcomes.Count > 0 ? " outcomes" : "")}",
        ActCommitted a => $"act{(a.Changes.Count > 0 ? " changes" : "")}{(a.Outcome is null ? "" : " outcome")}",
        _ => record.GetType().Name,
    };

    private static void Demand(long allocated, int input)
    {
        if (allocated > BytesFree + (BytesPerByte * input))
        {
            throw new FuzzFailureException($"Decoding {input} bytes allocated {allocated}.");
        }
    }

    /// <summary>The records' bodies (version, kind, content) as far as their lengths lead.</summary>
    private static List<byte[]> Bodies(byte[] input)
    {
        var bodies = new List<byte[]>();
        for (var at = 1; at + RecordEncoder.HeaderBytes <= input.Length;)
        {
            var length = BinaryPrimitives.ReadUInt32LittleEndian(input.AsSpan(at));
            at += RecordEncoder.HeaderBytes;
            var end = (int)Math.Min(input.Length, at + (long)length);
            bodies.Add(input[at..end]);
            at = end;
        }

        return bodies;
    }

    /// <summary>Takes what may be a varint out and puts another in.</summary>
    private static byte[] WithOtherNumber(byte[] body, Random random)
    {
        if (body.Length < 3)
        {
            return body;
        }

        var at = random.Next(2, body.Length);
        var end = at;
        while (end < body.Length - 1 && body[end] >= 0x80)
        {
            end++;
        }

        var number = new GroupBuffer();
        number.WriteVarint(random.Next(4) switch { 0 => random.Next(4), 1 => body.Length - at + random.Next(-3, 4), 2 => random.One(long.MaxValue, long.MinValue, -1, int.MaxValue, uint.MaxValue), _ => random.NextInt64() });
        byte[] changed = [.. body[..at], .. number.Written.Span, .. body[Math.Min(body.Length, end + 1)..]];
        number.Release();
        return changed;
    }

    private static byte[] Sealed(byte[] body)
    {
        var record = new byte[RecordEncoder.HeaderBytes + body.Length];
        BinaryPrimitives.WriteUInt32LittleEndian(record, (uint)body.Length);
        BinaryPrimitives.WriteUInt32LittleEndian(record.AsSpan(4), Checksum.Of(body));
        body.CopyTo(record, RecordEncoder.HeaderBytes);
        return record;
    }
}
