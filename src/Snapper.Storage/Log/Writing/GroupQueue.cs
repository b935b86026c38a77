using Snapper.Protocol;
using Snapper.Storage.Log.Records;

namespace Snapper.Storage.Log.Writing;

/// <summary>
/// Records and barriers that wait, gathered into the groups that they will be sent in: a group takes records up to its limit,
/// a barrier rides on the last group. Not thread-safe; <see cref="LogWriter"/> locks.
/// </summary>
internal sealed class GroupQueue(int groupBytesMax, SchedulingPolicy schedulingPolicy = default)
{
    private readonly Queue<PendingGroup> _groups = new();
    private PendingGroup? _last;

    public bool IsEmpty => _groups.Count == 0;

    /// <summary>Encodes a record at the end of the last group, or of a new one.</summary>
    /// <returns>Its bytes.</returns>
    /// <exception cref="ArgumentException">The record cannot be encoded; nothing has changed.</exception>
    public int Add(LogRecord record, long sequence, long ticket)
    {
        // A group that is full takes nothing more; looked at first, so that a large record is not moved about for a small one.
        var group = _last is { } last && last.Buffer.Length < groupBytesMax && !schedulingPolicy.GroupOfOne() ? last : new PendingGroup();
        var before = group.Buffer.Length;
        RecordEncoder.Encode(record, group.Buffer);
        var bytes = group.Buffer.Length - before;
        if (group.Count > 0 && group.Buffer.Length > groupBytesMax)
        {
            // Too much for one group: the record moves to a new one, where the next records will join it.
            var next = new PendingGroup();
            next.Buffer.WriteBytes(group.Buffer.WrittenFrom(before));
            group.Buffer.Truncate(before);
            group = next;
        }

        // Queued only once the record is in: an encoding error must not leave an empty group behind.
        Queue(group);
        if (group.Count++ == 0)
        {
            group.FirstSequence = sequence;
        }

        group.LastTicket = ticket;
        return bytes;
    }

    /// <summary>Lets a barrier ride on the last group that waits; with none it makes one without records.</summary>
    public void AddBarrier(long ticket)
    {
        var group = _last is { } last && !schedulingPolicy.BarrierAlone() ? last : new PendingGroup();
        Queue(group);
        group.LastTicket = ticket;
    }

    /// <summary>The next group to send; null: none waits. What comes later goes into another one.</summary>
    public PendingGroup? Take()
    {
        if (!_groups.TryDequeue(out var group))
        {
            return null;
        }

        if (_groups.Count == 0)
        {
            _last = null;
        }

        return group;
    }

    private void Queue(PendingGroup group)
    {
        if (group != _last)
        {
            _groups.Enqueue(group);
            _last = group;
        }
    }
}
