using Snapper.Storage.Log.Records;

namespace Snapper.Storage.Log.Writing;

/// <summary>Records and barriers that go out together. Without records it is a check of the epoch alone.</summary>
internal sealed class PendingGroup
{
    public GroupBuffer Buffer { get; } = new();

    public long FirstSequence { get; set; }

    public int Count { get; set; }

    /// <summary>The last ticket that this group's success covers.</summary>
    public long LastTicket { get; set; }
}
