using System.Buffers.Binary;
using System.Text;
using Snapper.Protocol.Identity;
using Snapper.Storage.Log;
using Snapper.Storage.Log.Records;

namespace Snapper.Simulation.Rules;

/// <summary>
/// The rules of the log, checked over everything that was ever appended, over all lives: numbers without holes (L1), versions without gaps per actor (L7), no
/// transaction twice (R1), epochs that never go back (L6). And what recovery has to give back: the last state of every actor.
/// </summary>
internal sealed class LogRules(StorageRules storage, Action<string> violated) : RuleSet(violated)
{
    private readonly GroupDecoder _decoder = new();
    private readonly Dictionary<ActorKey, (long Version, ReadOnlyMemory<byte> State)> _last = [];
    private readonly HashSet<long> _transactions = [];
    private readonly Dictionary<long, (int Count, ulong Hash)> _groups = [];
    private long _epoch;
    private long _next = 1;

    /// <summary>Number of the next record.</summary>
    public long Next => _next;

    /// <summary>The last state that the log ever held of an actor, as JSON; null: none.</summary>
    public string? LastState(ActorKey actor) => _last.TryGetValue(actor, out var last) ? Encoding.UTF8.GetString(last.State.Span) : null;

    /// <summary>A worker has opened the log: nothing may be missing of what was part of it before.</summary>
    public void Opened(LogOpening opening, long known) =>
        Require(opening.NextSequence >= known, $"L6: the log opens with {opening.NextSequence} as its next record; every record below {known} was durable");

    /// <summary>Somebody was told, or has read, that a group is part of the log: it becomes that, or it was and is the same.</summary>
    public void There(long epoch, long firstSequence, int count, ReadOnlyMemory<byte> records)
    {
        var hash = HashOf(records.Span);
        if (_groups.TryGetValue(firstSequence, out var known))
        {
            Require(known == (count, hash), $"L6: the group that begins with record {firstSequence} is not the one that was appended");
            return;
        }

        _groups.Add(firstSequence, (count, hash));
        Appended(epoch, firstSequence, count, records.ToArray()); // the writer uses its buffer again
    }

    /// <summary>A group has become part of the log.</summary>
    /// <param name="epoch">Of the worker that has appended it.</param>
    /// <param name="firstSequence">Of its first record.</param>
    /// <param name="count">Of its records.</param>
    /// <param name="records">Their bytes; nobody changes them any more.</param>
    public void Appended(long epoch, long firstSequence, int count, ReadOnlyMemory<byte> records)
    {
        Require(epoch >= _epoch, $"L6: epoch {epoch} appends after epoch {_epoch}");
        _epoch = epoch;
        Require(firstSequence == _next, $"L1: record {firstSequence} is appended where {_next} should be");
        _next = firstSequence + count;
        _decoder.Start(new LogGroup(firstSequence, count, records));
        while (_decoder.MoveNext())
        {
            storage.Appended(_decoder.Sequence, _decoder.Current);
            switch (_decoder.Current)
            {
                case LocalBatchCommitted batch:
                    Add(batch.Changes);
                    foreach (var outcome in batch.Outcomes)
                    {
                        Add(outcome);
                    }

                    break;
                case ActCommitted act:
                    Add(act.Changes);
                    if (act.Outcome is { } own)
                    {
                        Add(own);
                    }

                    break;
            }
        }
    }

    private static ulong HashOf(ReadOnlySpan<byte> bytes)
    {
        var hash = 14695981039346656037 + (ulong)bytes.Length;
        for (; bytes.Length >= sizeof(ulong); bytes = bytes[sizeof(ulong)..])
        {
            hash = (hash ^ BinaryPrimitives.ReadUInt64LittleEndian(bytes)) * 1099511628211;
            hash ^= hash >> 32; // a product passes changes upwards only
        }

        foreach (var b in bytes)
        {
            hash = (hash ^ b) * 1099511628211;
        }

        return hash;
    }

    private void Add(OutcomeRecord outcome) =>
        Require(_transactions.Add(outcome.Transaction.Value), $"R1: transaction {outcome.Transaction} has two outcomes in the log");

    private void Add(IReadOnlyList<ActorChange> changes)
    {
        foreach (var change in changes)
        {
            var before = _last.TryGetValue(change.Actor, out var last) ? last.Version : 0;
            Require(change.Version == before + 1, $"L7: {change.Actor} goes from version {before} to {change.Version}");
            _last[change.Actor] = (change.Version, change.Fields[0].Value!.Value);
        }
    }
}
