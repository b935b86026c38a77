using Snapper.Cluster.Wire;
using Snapper.Protocol.Directory;
using Snapper.Protocol.Identity;
using Snapper.Runtime.Door;
using Snapper.Runtime.Requests;

namespace Snapper.Cluster;

/// <content>What became of a request, whoever ran it (I2).</content>
internal sealed partial class ForwardingTransactionService
{
    private static readonly TimeSpan s_find = TimeSpan.FromSeconds(1);

    public async Task<TransactionEnvelope?> Find(string id, CancellationToken cancellation)
    {
        var gains = node.Gains;
        var known = await FindHere(id, cancellation).ConfigureAwait(false);
        if (known is not null || NameRules.RequestIdError(id) is not null)
        {
            return known;
        }

        // What one of them gains when it has answered, from a worker that is dead or was not asked, says nothing.
        var living = node.Members();
        var all = IsOwnedBy(living);
        var asked = new List<Task<Reply>>();
        foreach (var member in living)
        {
            if (member != node.Self)
            {
                asked.Add(Ask(member, handle => new FindOutcomeMessage(handle, id), s_find, cancellation));
            }
        }

        while (asked.Count > 0)
        {
            var first = await Task.WhenAny(asked).ConfigureAwait(false);
            asked.Remove(first);
            try
            {
                var reply = await first.ConfigureAwait(false);
                if (reply.Envelope is { Outcome: not Outcome.Rejected } found)
                {
                    return found;
                }

                all &= reply is { IsThere: true, Envelope: null }; // else it cannot look now
            }
            catch (PeerGoneException)
            {
                all = false; // what it had recorded, its rescuer or its next life will know
            }
        }

        // "Nothing is known" may be said only when everybody was asked: what somebody who is away has recorded is as true as ever (I2).
        // One that may have been replaced does not know who lives.
        all = all && await worker.IsStillOwner().ConfigureAwait(false);
        return all && IsOwnedBy(living) && gains == node.Gains ? null : new TransactionEnvelope
        {
            Id = id,
            Outcome = Outcome.Rejected,
            Rejection = new Rejection(RejectionKind.Unavailable, "Nothing is known of this id yet, but a worker that may know it cannot be asked now.", Admission.ShortRetry),
        };
    }

    private bool IsOwnedBy(IReadOnlyList<Incarnation> living)
    {
        for (var partition = 0; partition < Partition.Count; partition++)
        {
            if (node.Directory.Find(new Partition(partition)) is not { } entry || !Lives(entry))
            {
                return false;
            }
        }

        var single = new List<DirectoryEntry>();
        node.Directory.AddSingleActors(single);
        return single.TrueForAll(Lives);

        bool Lives(DirectoryEntry entry) => entry.Owner == node.Self || living.Contains(entry.Owner);
    }

    private async Task<TransactionEnvelope?> FindHere(string id, CancellationToken cancellation)
    {
        var known = await worker.RequestManager.Find(id, cancellation).ConfigureAwait(false);
        if (known is { Outcome: not Outcome.Rejected })
        {
            known.Worker ??= worker.Options.Name;
        }

        return known;
    }
}
