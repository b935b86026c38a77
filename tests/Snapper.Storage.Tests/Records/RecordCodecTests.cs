using System.Buffers.Binary;
using Snapper.Protocol.Identity;
using Snapper.Protocol.Messages;
using Snapper.Storage.Log;
using Snapper.Storage.Log.Records;
using Snapper.Storage.Tests.Support;
using Xunit;

namespace Snapper.Storage.Tests.Records;

public sealed class RecordCodecTests
{
    [Fact]
    public void Random_records_come_back_as_they_were()
    {
        for (var seed = 0; seed < 500; seed++)
        {
            var random = new RandomRecords(seed);
            var records = Enumerable.Range(0, random.Next(1, 6)).Select(_ => random.Record()).ToArray();

            var decoded = Some.Decode(new LogGroup(1000, records.Length, Some.Encode(records)));

            Assert.Equal(Enumerable.Range(1000, records.Length).Select(i => (long)i), decoded.Select(d => d.Sequence));
            for (var i = 0; i < records.Length; i++)
            {
                Assert.True(Described.Of(records[i]) == Described.Of(decoded[i].Record), $"seed {seed}, record {i}");
            }
        }
    }

    [Fact]
    public void The_bytes_of_version_1_stay_what_they_are()
    {
        var bytes = Some.Encode(
            Some.Batch(300, [Some.Change("é", 2, "{}"), new ActorChange(Some.Actor("x"), 1, [new StateField("k:1", (ReadOnlyMemory<byte>?)null)])]),
            new ActCommitted { Transaction = TransactionId.Act(1, 2), Changes = [], Outcome = Some.Outcome("id", 1000) });

        Assert.Equal(
            "2F000000DE1C46E00101AC02AC0202074163636F756E7402C3A90201057374617465037B7D074163636F756E7401780101036B3A310000"
            + "29000000D095A48B0102828880808080800800010269640102000000000000000700000000000000050401E80700023432",
            Convert.ToHexString(bytes.Span),
            ignoreCase: true);
    }

    [Fact]
    public void Random_bytes_are_corrupt_and_nothing_worse()
    {
        var random = new Random(1);
        for (var i = 0; i < 20_000; i++)
        {
            var bytes = new byte[random.Next(0, 200)];
            random.NextBytes(bytes);
            if (i % 2 == 0 && bytes.Length >= 10)
            {
                // Past the header checks, into the bodies.
                MakeRecord(bytes, kind: (byte)random.Next(1, 10));
            }

            DecodesOrIsCorrupt(new LogGroup(1, random.Next(1, 4), bytes));
        }
    }

    [Fact]
    public void Mutated_records_with_right_checksums_are_corrupt_or_readable_and_nothing_worse()
    {
        for (var seed = 0; seed < 3_000; seed++)
        {
            var records = new RandomRecords(seed);
            var bytes = Some.Encode(records.Record()).ToArray();
            for (var flips = records.Next(1, 4); flips > 0; flips--)
            {
                bytes[records.Next(10, bytes.Length)] = (byte)records.Next(0, 256);
            }

            if (records.Next(0, 3) == 0)
            {
                bytes = bytes[..records.Next(10, bytes.Length + 1)];
            }

            MakeRecord(bytes, bytes[9]);
            DecodesOrIsCorrupt(new LogGroup(1, 1, bytes));
        }
    }

    [Fact]
    public void Every_flipped_bit_and_every_cut_is_found()
    {
        var whole = Some.Encode(Some.Batch(1, "a", 1), Some.Batch(2, "b", 1)).ToArray();
        for (var bit = 0; bit < whole.Length * 8; bit++)
        {
            var bytes = (byte[])whole.Clone();
            bytes[bit / 8] ^= (byte)(1 << (bit % 8));
            Assert.Throws<CorruptLogException>(() => Some.Decode(new LogGroup(1, 2, bytes)));
        }

        for (var length = 0; length < whole.Length; length++)
        {
            Assert.Throws<CorruptLogException>(() => Some.Decode(new LogGroup(1, 2, whole.AsMemory(0, length))));
        }

        Assert.Throws<CorruptLogException>(() => Some.Decode(new LogGroup(1, 1, whole)));
        Assert.Throws<CorruptLogException>(() => Some.Decode(new LogGroup(1, 3, whole)));
    }

    [Theory]
    [InlineData(0, 1, "Record 71 has kind 0 (0) in format version 1")]
    [InlineData(10, 1, "Record 71 has kind 10 (10) in format version 1")]
    [InlineData(64, 1, "Record 71 has kind 64 (StoredOutcome) in format version 1")]
    [InlineData(200, 1, "Record 71 has kind 200 (200) in format version 1")]
    [InlineData(1, 2, "Record 71 has kind 1 (LocalBatchCommitted) in format version 2")]
    [InlineData(3, 2, "Record 71 has kind 3 (Prepared) in format version 2")]
    public void An_unknown_kind_or_version_is_named_with_its_record(byte kind, byte version, string expected)
    {
        var bytes = Some.Encode(Some.Batch(1, "a", 1)).ToArray();
        bytes[8] = version;
        MakeRecord(bytes, kind);

        var error = Assert.Throws<CorruptLogException>(() => Some.Decode(new LogGroup(71, 1, bytes)));

        Assert.Contains(expected, error.Message, StringComparison.Ordinal);
    }

    [Fact]
    public void A_name_that_is_not_unicode_is_refused_and_leaves_the_group_as_it_was()
    {
        var buffer = new GroupBuffer();
        RecordEncoder.Encode(Some.Batch(1, "a", 1), buffer);
        var before = buffer.Written.ToArray();

        Assert.ThrowsAny<ArgumentException>(() => RecordEncoder.Encode(Some.Batch(2, "half \ud800", 1), buffer));

        Assert.Equal(before, buffer.Written.ToArray());
    }

    [Fact]
    public void Encoding_allocates_nothing_once_the_buffer_has_grown()
    {
        var record = Some.Batch(1, [Some.Change("alice", 1, "{\"balance\":1}"), Some.Change("bob", 1, "{\"balance\":1}")], Some.Outcome("key"));
        var buffer = new GroupBuffer();
        for (var i = 0; i < 2_000; i++)
        {
            RecordEncoder.Encode(record, buffer);
        }

        buffer.Truncate(0);
        var before = GC.GetAllocatedBytesForCurrentThread();
        for (var i = 0; i < 1_000; i++)
        {
            RecordEncoder.Encode(record, buffer);
        }

        Assert.True(GC.GetAllocatedBytesForCurrentThread() - before < 1_000, $"{GC.GetAllocatedBytesForCurrentThread() - before} bytes for 1,000 records");
    }

    [Fact]
    public void The_checksum_is_crc32c()
    {
        // The check value of the catalogue of parametrised CRC algorithms.
        Assert.Equal(0xE3069283u, Checksum.Of("123456789"u8));
        Assert.Equal(0u, Checksum.Of(default));
    }

    private static void MakeRecord(byte[] bytes, byte kind)
    {
        bytes[9] = kind;
        if (bytes[8] != 2)
        {
            bytes[8] = 1;
        }

        BinaryPrimitives.WriteUInt32LittleEndian(bytes, (uint)(bytes.Length - 8));
        BinaryPrimitives.WriteUInt32LittleEndian(bytes.AsSpan(4), Checksum.Of(bytes.AsSpan(8)));
    }

    private static void DecodesOrIsCorrupt(LogGroup group)
    {
        try
        {
            Some.Decode(group);
        }
        catch (CorruptLogException)
        {
            // One of the two allowed ends.
        }
    }

    /// <summary>Records from a seed.</summary>
    private sealed class RandomRecords(int seed)
    {
        private readonly Random _random = new(seed);

        public int Next(int from, int below) => _random.Next(from, below);

        public LogRecord Record() => _random.Next(8) switch
        {
            0 => new LocalBatchCommitted { Batch = new BatchId(Number()), LastTransaction = new TransactionId(Number()), Changes = Changes(), Outcomes = List(Outcome) },
            1 => new ActCommitted { Transaction = new TransactionId(Number()), Changes = Changes(), Outcome = _random.Next(2) == 0 ? null : Outcome(), Participants = List(Worker) },
            2 => new Prepared { Global = new BatchId(Number()), Batch = new BatchId(Number()), LastTransaction = new TransactionId(Number()), Changes = Changes(), Outcomes = List(Outcome) },
            3 => new Decided { Global = new BatchId(Number()), Committed = _random.Next(2) == 0, Versions = List(Number) },
            4 => new Decision { Global = new BatchId(Number()) },
            5 => new ActPrepared { Transaction = new TransactionId(Number()), Root = new Incarnation(Worker(), Number()), Changes = Changes() },
            6 => new ActEnded { Transaction = new TransactionId(Number()), Committed = _random.Next(2) == 0, Versions = List(Number) },
            _ => new MovedIn { Plan = Text(), Actor = Actor(), Version = Number(), Fields = List(Field), Outcomes = List(Outcome) },
        };

        private int Worker() => _random.Next(1, 1024);

        private List<ActorChange> Changes() => List(() => new ActorChange(Actor(), Number(), List(Field)));

        private StateField Field() => new(Text(), _random.Next(4) == 0 ? (ReadOnlyMemory<byte>?)null : Bytes());

        private OutcomeRecord Outcome() => new()
        {
            RequestId = Text(),
            IsCallerKey = _random.Next(2) == 0,
            RequestHash = new UInt128((ulong)_random.NextInt64(), (ulong)_random.NextInt64()),
            IsAct = _random.Next(2) == 0,
            Transaction = new TransactionId(Number()),
            Batch = new BatchId(Number()),
            Attempts = _random.Next(),
            AtUnixMs = Number(),
            Abort = (AbortReason)_random.Next(Enum.GetValues<AbortReason>().Length),
            Payload = Bytes(),
            IsResultDropped = _random.Next(4) == 0,
            AbortActor = _random.Next(2) == 0 ? null : Actor(),
        };

        private ActorKey Actor() => new("T" + Text(), "i" + Text());

        private List<T> List<T>(Func<T> make) => [.. Enumerable.Range(0, _random.Next(4)).Select(_ => make())];

        private ReadOnlyMemory<byte> Bytes()
        {
            var bytes = new byte[_random.Next(10) == 0 ? _random.Next(10_000) : _random.Next(40)];
            _random.NextBytes(bytes);
            return bytes;
        }

        private string Text() => string.Concat(Enumerable.Range(0, _random.Next(12)).Select(_ => _random.Next(6) switch
        {
            0 => "🦊",
            1 => "é",
            2 => "\0",
            3 => "/",
            _ => ((char)_random.Next(32, 127)).ToString(),
        }));

        private long Number() => _random.Next(5) switch
        {
            0 => 0,
            1 => _random.Next(300),
            2 => long.MaxValue - _random.Next(3),
            3 => -_random.NextInt64(),
            _ => _random.NextInt64(),
        };
    }

    /// <summary>Everything that a record says, as text.</summary>
    private static class Described
    {
        public static string Of(LogRecord record) => record switch
        {
            LocalBatchCommitted b => $"batch {b.Batch} {b.LastTransaction} {Of(b.Changes)} {Of(b.Outcomes)}",
            ActCommitted a => $"act {a.Transaction} {Of(a.Changes)} with [{string.Join(',', a.Participants)}] {(a.Outcome is null ? "none" : Of(a.Outcome))}",
            Prepared p => $"prepared {p.Global} {p.Batch} {p.LastTransaction} {Of(p.Changes)} {Of(p.Outcomes)}",
            Decided d => $"decided {d.Global} {d.Committed} [{string.Join(',', d.Versions)}]",
            Decision d => $"decision {d.Global}",
            ActPrepared p => $"act prepared {p.Transaction} {p.Root} {Of(p.Changes)}",
            ActEnded e => $"act ended {e.Transaction} {e.Committed} [{string.Join(',', e.Versions)}]",
            MovedIn m => $"moved in {m.Plan} {m.Actor.Type}|{m.Actor.Id} {m.Version} {Of(m.Fields)} {Of(m.Outcomes)}",
            _ => throw new ArgumentException(record.GetType().Name),
        };

        private static string Of(IReadOnlyList<ActorChange> changes) => $"[{string.Join(';', changes.Select(Of))}]";

        private static string Of(IReadOnlyList<OutcomeRecord> outcomes) => $"[{string.Join(';', outcomes.Select(Of))}]";

        private static string Of(ActorChange c) => $"{c.Actor.Type}|{c.Actor.Id}|{c.Version}|{Of(c.Fields)}";

        private static string Of(IReadOnlyList<StateField> fields) => string.Join(',', fields.Select(f => $"{f.Name}={(f.Value is { } value ? Convert.ToHexString(value.Span) : "deleted")}"));

        private static string Of(OutcomeRecord o) =>
            $"{o.RequestId}|{o.IsCallerKey}|{o.RequestHash}|{o.IsAct}|{o.Transaction}|{o.Batch}|{o.Attempts}|{o.AtUnixMs}|{o.Abort}|{Convert.ToHexString(o.Payload.Span)}|{o.IsResultDropped}|{o.AbortActor?.Type}|{o.AbortActor?.Id}";
    }
}
