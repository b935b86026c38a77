using Snapper.Contracts;
using Snapper.Protocol.Batches;
using Snapper.Protocol.Identity;

namespace Snapper.Runtime.Inspection;

/// <summary>
/// What the components of a batch wait for (D2). Read beside the commit machine, which changes them: as of about now.
/// </summary>
internal static class ComponentViews
{
    private const int Most = 100;

    /// <summary>Those that are not final.</summary>
    public static IReadOnlyList<ComponentView> OfOpen(Batch batch)
    {
        var views = new List<ComponentView>();
        foreach (var component in batch.Components)
        {
            if (!component.IsFinal && views.Count < Most)
            {
                views.Add(Of(component));
            }
        }

        return views;
    }

    private static ComponentView Of(Component component)
    {
        var batch = component.Batch;
        var (members, actors) = (0, 0);
        for (var i = component.FirstMember; i >= 0; i = batch.NextMember(i))
        {
            members++;
        }

        var waiting = new List<string>();
        var behind = new SortedSet<long>();
        for (var slot = component.FirstSlot; slot >= 0; slot = batch.NextSlot(slot))
        {
            actors++;
            var subBatch = batch.SubBatchOf(slot);
            if (!batch.IsSlotComplete(slot))
            {
                waiting.Add(subBatch.Actor.ToString());
            }

            if (subBatch.OpenBefore is var before && before != BatchId.None)
            {
                behind.Add(before.Value);
            }
        }

        return new ComponentView(batch.Bid.Value + component.FirstMember, members, actors)
        {
            WaitingFor = waiting,
            Behind = [.. behind],
        };
    }
}
