using System.Buffers.Binary;
using Snapper.Protocol.Identity;

namespace Snapper.Storage.Log.Records;

/// <summary>
/// Writes records as bytes: length (u32, of what follows the checksum), CRC-32C of that, format version, kind, body.
/// All numbers are little-endian; texts are UTF-8 behind their length; a group is records one after another.
/// </summary>
internal static class RecordEncoder
{
    public const byte FormatVersion = 1;

    /// <summary>Length and checksum.</summary>
    public const int HeaderBytes = 8;

    /// <summary>Largest record, header included; far above every limit of the runtime, below what Redis holds in one value.</summary>
    public const int RecordBytesMax = 256 * 1024 * 1024;

    /// <summary>Adds one record at the end of the buffer.</summary>
    /// <exception cref="ArgumentException">A text is not valid Unicode or the record is too large; the buffer is as before.</exception>
    public static void Encode(LogRecord record, GroupBuffer buffer)
    {
        var start = buffer.Length;
        try
        {
            switch (record)
            {
                case LocalBatchCommitted batch:
                    Begin(buffer, RecordKind.LocalBatchCommitted);
                    buffer.WriteVarint(batch.Batch.Value);
                    buffer.WriteVarint(batch.LastTransaction.Value);
                    Changes(buffer, batch.Changes);
                    Outcomes(buffer, batch.Outcomes);
                    break;
                case ActCommitted act:
                    Begin(buffer, act.Participants.Count == 0 ? RecordKind.ActCommitted : RecordKind.ActCommittedWithOthers);
                    buffer.WriteVarint(act.Transaction.Value);
                    Changes(buffer, act.Changes);
                    if (act.Participants.Count > 0)
                    {
                        Workers(buffer, act.Participants);
                    }

                    buffer.WriteByte(act.Outcome is null ? (byte)0 : (byte)1);
                    if (act.Outcome is not null)
                    {
                        Outcome(buffer, act.Outcome);
                    }

                    break;
                default:
                    ClusterRecord(record, buffer);
                    break;
            }

            End(buffer, start);
        }
        catch
        {
            // Half a record must not stay in a group that others have written into.
            buffer.Truncate(start);
            throw;
        }
    }

    private static void ClusterRecord(LogRecord record, GroupBuffer buffer)
    {
        switch (record)
        {
            case Prepared prepared:
                Begin(buffer, RecordKind.Prepared);
                buffer.WriteVarint(prepared.Global.Value);
                buffer.WriteVarint(prepared.Batch.Value);
                buffer.WriteVarint(prepared.LastTransaction.Value);
                Changes(buffer, prepared.Changes);
                Outcomes(buffer, prepared.Outcomes);
                break;
            case Decided decided:
                Begin(buffer, RecordKind.Decided);
                buffer.WriteVarint(decided.Global.Value);
                Verdict(buffer, decided.Committed, decided.Versions);
                break;
            case Decision decision:
                Begin(buffer, RecordKind.Decision);
                buffer.WriteVarint(decision.Global.Value);
                break;
            case ActPrepared prepared:
                Begin(buffer, RecordKind.ActPrepared);
                buffer.WriteVarint(prepared.Transaction.Value);
                buffer.WriteVarint(prepared.Root.Worker);
                buffer.WriteVarint(prepared.Root.Epoch);
                Changes(buffer, prepared.Changes);
                break;
            case ActEnded ended:
                Begin(buffer, RecordKind.ActEnded);
                buffer.WriteVarint(ended.Transaction.Value);
                Verdict(buffer, ended.Committed, ended.Versions);
                break;
            case MovedIn moved:
                Begin(buffer, RecordKind.MovedIn);
                buffer.WriteString(moved.Plan);
                Actor(buffer, moved.Actor);
                buffer.WriteVarint(moved.Version);
                Fields(buffer, moved.Fields);
                Outcomes(buffer, moved.Outcomes);
                break;
            default:
                throw new ArgumentException($"No encoding for a record of type {record.GetType().Name}.", nameof(record));
        }
    }

    private static void Verdict(GroupBuffer buffer, bool committed, IReadOnlyList<long> versions)
    {
        buffer.WriteByte(committed ? (byte)1 : (byte)0);
        buffer.WriteVarint(versions.Count);
        for (var i = 0; i < versions.Count; i++)
        {
            buffer.WriteVarint(versions[i]);
        }
    }

    private static void Workers(GroupBuffer buffer, IReadOnlyList<int> workers)
    {
        buffer.WriteVarint(workers.Count);
        for (var i = 0; i < workers.Count; i++)
        {
            buffer.WriteVarint(workers[i]);
        }
    }

    /// <summary>Adds one outcome on its own, for a state store; read back by <see cref="GroupDecoder.StoredOutcome"/>.</summary>
    public static void EncodeOutcome(OutcomeRecord outcome, GroupBuffer buffer)
    {
        var start = buffer.Length;
        Begin(buffer, RecordKind.StoredOutcome);
        Outcome(buffer, outcome);
        End(buffer, start);
    }

    private static void Begin(GroupBuffer buffer, RecordKind kind)
    {
        buffer.Take(HeaderBytes);
        buffer.WriteByte(FormatVersion);
        buffer.WriteByte((byte)kind);
    }

    private static void End(GroupBuffer buffer, int start)
    {
        var whole = buffer.WrittenFrom(start);
        if (whole.Length > RecordBytesMax)
        {
            throw new ArgumentException($"A record of {whole.Length} bytes is larger than the limit of {RecordBytesMax} bytes.");
        }

        BinaryPrimitives.WriteUInt32LittleEndian(whole, (uint)(whole.Length - HeaderBytes));
        BinaryPrimitives.WriteUInt32LittleEndian(whole[4..], Checksum.Of(whole[HeaderBytes..]));
    }

    private static void Changes(GroupBuffer buffer, IReadOnlyList<ActorChange> changes)
    {
        buffer.WriteVarint(changes.Count);
        for (var i = 0; i < changes.Count; i++)
        {
            var change = changes[i];
            Actor(buffer, change.Actor);
            buffer.WriteVarint(change.Version);
            Fields(buffer, change.Fields);
        }
    }

    internal static void Fields(GroupBuffer buffer, IReadOnlyList<StateField> fields)
    {
        buffer.WriteVarint(fields.Count);
        for (var i = 0; i < fields.Count; i++)
        {
            var field = fields[i];
            buffer.WriteString(field.Name);

            // One more than the length, so that zero can say "deleted".
            if (field.Value is { } value)
            {
                buffer.WriteVarint(value.Length + 1L);
                buffer.WriteBytes(value.Span);
            }
            else
            {
                buffer.WriteVarint(0);
            }
        }
    }

    private static void Outcomes(GroupBuffer buffer, IReadOnlyList<OutcomeRecord> outcomes)
    {
        buffer.WriteVarint(outcomes.Count);
        for (var i = 0; i < outcomes.Count; i++)
        {
            Outcome(buffer, outcomes[i]);
        }
    }

    private static void Outcome(GroupBuffer buffer, OutcomeRecord outcome)
    {
        buffer.WriteString(outcome.RequestId);
        buffer.WriteByte((byte)((outcome.IsCallerKey ? 1 : 0) | (outcome.IsAct ? 2 : 0) | (
            outcome.AbortActor is null ? 0 : 4) | (outcome.IsResultDropped ? 8 : 0)));
        buffer.WriteUInt128(outcome.RequestHash);
        buffer.WriteVarint(outcome.Transaction.Value);
        buffer.WriteVarint(outcome.Batch.Value);
        buffer.WriteVarint(outcome.Attempts);
        buffer.WriteVarint(outcome.AtUnixMs);
        buffer.WriteByte((byte)outcome.Abort);
        buffer.WriteVarint(outcome.Payload.Length);
        buffer.WriteBytes(outcome.Payload.Span);
        if (outcome.AbortActor is not null)
        {
            Actor(buffer, outcome.AbortActor);
        }
    }

    internal static void Actor(GroupBuffer buffer, ActorKey actor)
    {
        buffer.WriteString(actor.Type);
        buffer.WriteString(actor.Id);
    }
}
