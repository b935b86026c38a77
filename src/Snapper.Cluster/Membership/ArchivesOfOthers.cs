using Snapper.Protocol.Identity;
using Snapper.Runtime.Execution;
using Snapper.Storage.Log;
using Snapper.Storage.Membership;
using Snapper.Storage.States;

namespace Snapper.Cluster.Membership;

/// <summary>
/// The copied outcomes of the other workers. Once a minute those of workers that do not live are looked at: an empty one is asked for no id any more, and one in which nothing was copied for longer
/// than the window, by this worker's monotonic clock, is cleared. Who lives drops its own.
/// </summary>
internal sealed class ArchivesOfOthers(Worker worker, IMemberNode node, Func<int, IStateStore> archiveOf)
{
    private static readonly TimeSpan s_minute = TimeSpan.FromMinutes(1);

    // Memory forgets an id one to two minutes behind its window; a copy must not go before.
    private static readonly TimeSpan s_margin = TimeSpan.FromMinutes(5);

    private readonly SortedDictionary<int, Archive> _archives = [];

    private long _next;

    /// <summary>The workers were read anew.</summary>
    public void Note(IReadOnlyList<Member> members)
    {
        var othersLivedBefore = false;
        foreach (var member in members)
        {
            if (member.Incarnation.Worker == node.Self.Worker)
            {
                continue;
            }

            othersLivedBefore |= member.CurrentEpoch > 1;
            if (!_archives.TryGetValue(member.Incarnation.Worker, out var archive))
            {
                _archives.Add(member.Incarnation.Worker, archive = new Archive(member.Incarnation.Worker, archiveOf(member.Incarnation.Worker)));
                Publish();
            }

            // Who owns nothing and does not live copies nothing, and nobody does for it: all that it had owned was handed over with its outcomes (M5, R4).
            var isGone = member.State != MemberState.Live && member.Entries == 0;
            if (archive.IsEmpty && !isGone)
            {
                archive.IsEmpty = false;
                Publish();
            }

            archive.IsGone = isGone;
        }

        node.OthersLivedBefore = othersLivedBefore;
    }

    /// <summary>Looks, if it is time to.</summary>
    public async Task Look(CancellationToken cancellation)
    {
        var now = worker.Time.GetTimestamp();
        if (now < _next)
        {
            return;
        }

        _next = now + TicksOf(s_minute);
        var gains = node.Gains;
        foreach (var archive in _archives.Values)
        {
            if (archive is not { IsGone: true, Store: IOutcomeArchive copies })
            {
                continue;
            }

            try
            {
                archive.IsEmpty = await HoldsNone(archive, copies, cancellation).ConfigureAwait(false);
            }
            catch (CorruptLogException damage)
            {
                // Any id may be in it. It is asked on, so that an id that no other one knows is in doubt until an operator has put it right.
                archive.IsEmpty = false;
                RuntimeLog.ArchiveDamaged(worker.Logger, Incarnation.NameOf(archive.Worker), damage.Message);
            }
        }

        var holding = new List<IStateStore>();
        foreach (var archive in _archives.Values)
        {
            if (!archive.IsEmpty)
            {
                holding.Add(archive.Store);
            }
        }

        node.First.PostRun(() =>
        {
            if (node.Gains == gains)
            {
                node.Archives = holding; // else what was gained meanwhile may have left its outcomes in one that was looked at before
            }
        });
    }

    /// <summary>Clears it behind its window.</summary>
    private async Task<bool> HoldsNone(Archive archive, IOutcomeArchive copies, CancellationToken cancellation)
    {
        var standing = await copies.Look(cancellation).ConfigureAwait(false);
        if (standing != archive.Seen)
        {
            (archive.Seen, archive.SeenAt) = (standing, worker.Time.GetTimestamp());
        }
        else if (standing.HoldsAny
            && worker.Time.GetTimestamp() - archive.SeenAt > TicksOf(worker.Options.IdempotencyWindow + s_margin))
        {
            await copies.Clear(standing, cancellation).ConfigureAwait(false);
        }

        return !standing.HoldsAny;
    }

    private void Publish()
    {
        var all = new List<IStateStore>(_archives.Count);
        foreach (var archive in _archives.Values)
        {
            all.Add(archive.Store);
        }

        node.AllArchives = all;
        node.Archives = all;
    }

    private long TicksOf(TimeSpan span) => (long)(span.TotalSeconds * worker.Time.TimestampFrequency);

    private sealed class Archive(int worker, IStateStore store)
    {
        public int Worker => worker;

        public IStateStore Store { get; } = store;

        public bool IsGone { get; set; }

        public bool IsEmpty { get; set; }

        public ArchiveStanding? Seen { get; set; }

        public long SeenAt { get; set; }
    }
}
