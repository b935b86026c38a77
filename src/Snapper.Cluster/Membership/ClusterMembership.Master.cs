using Snapper.Cluster.Mastering;
using Snapper.Cluster.Recovering;
using Snapper.Protocol.Identity;
using Snapper.Runtime.Execution;
using Snapper.Storage.Log;
using Snapper.Storage.Membership;
using Snapper.Storage.MigrationPlans;

namespace Snapper.Cluster.Membership;

/// <content>Who is master, and what a new one waits for (R3).</content>
internal sealed partial class ClusterMembership
{
    private static readonly TimeSpan s_seatTriedAgain = TimeSpan.FromSeconds(5);

    private long? _seatDamaged; // when the master's log was found to be

    /// <summary>There is always a master: whoever finds the lease free takes it.</summary>
    private async Task SeeToMaster(MasterStanding standing)
    {
        if (_seat is { } held)
        {
            var givesUp = _master is { GivesUp: true };
            if (standing.Holder == _node.Self && standing.MasterEpoch == held.Mastership.MasterEpoch && !givesUp)
            {
                if (standing.Remaining < _setup.Options.Lease * 0.75)
                {
                    await _store.Master.Renew(held.Mastership.MasterEpoch, _ending.Token).ConfigureAwait(false); // whatever the answer: the next look tells
                }

                return;
            }

            _seat = null;
            _joining.Seat.Lose();
            await _node.Ask(EndMaster).ConfigureAwait(false);
            if (_master is { } over)
            {
                _master = null;
                await over.DisposeAsync().ConfigureAwait(false);
            }

            if (givesUp)
            {
                await _store.Master.Release(held.Mastership.MasterEpoch, _ending.Token).ConfigureAwait(false); // whoever takes it next opens the log anew
                return;
            }
        }

        if (standing.IsHeld && standing.Holder != _node.Self)
        {
            _joining.Seat.Lose();
            await _node.Ask(() => Follow(standing.Holder, standing.MasterEpoch)).ConfigureAwait(false);
        }
        else if (await TryTakeSeat().ConfigureAwait(false))
        {
            await ReadMembers().ConfigureAwait(false); // those who may live settle before anything is numbered (R3)
            var plans = await _migrator.ReadOpen(_ending.Token).ConfigureAwait(false);
            await _directory.Read(_ending.Token).ConfigureAwait(false); // behind the plans: what is open no more has moved, and the directory says where to (M7)
            var seat = _joining.Seat.Held!;
            await _node.Ask(() => BeginMaster(seat, plans)).ConfigureAwait(false);
            _seat = seat;
        }
    }

    /// <summary>
    /// Where what was decided cannot be read, there can be no master: nothing is numbered over several workers until an
    /// operator has restored it. What is of one worker goes on; if the living stopped for it, none would be left.
    /// </summary>
    private async Task<bool> TryTakeSeat()
    {
        if (_seatDamaged is { } found && _worker.Time.GetElapsedTime(found) < s_seatTriedAgain)
        {
            return false;
        }

        try
        {
            return await _joining.Seat.TryTake(_ending.Token).ConfigureAwait(false);
        }
        catch (CorruptLogException damage)
        {
            _seatDamaged = _worker.Time.GetTimestamp();
            RuntimeLog.MasterLogDamaged(_worker.Logger, damage.Message);
            return false;
        }
    }

    private bool BeginMaster(MasterElection.Taken seat, IReadOnlyList<MigrationPlan> plans)
    {
        // One whose lease has run out may renew it before anybody fences it, and have open what earlier masters numbered. Of one whose life has ended since they were read, this
        // executor has been told already, and nobody tells it again.
        var unfenced = new List<Incarnation>();
        foreach (var member in Members)
        {
            var life = member.Incarnation;
            if (member.State == MemberState.Fenced && member.Entries > 0)
            {
                _node.Gone.Add(life); // its stream is not resolved, and this worker may never have heard of it
            }

            if (member.State is MemberState.Live or MemberState.Expired && (life == _node.Self || _node.Gate.Hub.Known(life.Worker) == life))
            {
                unfenced.Add(life);
            }
        }

        var master = new MasterHost(_node, _worker, seat, unfenced, _node.Gone.Unresolved, new());
        foreach (var plan in plans)
        {
            master.Frozen.Freeze(plan.Id, plan.Keys);
        }

        _master = master;
        _node.BeginMaster(master);
        return Follow(_node.Self, seat.Mastership.MasterEpoch);
    }

    private bool Follow(Incarnation master, long epoch)
    {
        _node.Succession.Follow(master, epoch);
        return true;
    }

    private bool EndMaster()
    {
        _node.Master?.End();
        return true;
    }

    /// <summary>
    /// A plan whose source died, or was fenced, is cancelled by whoever sees it, and nobody tells the master: it looks itself. In this order: what is frozen was open
    /// when it was frozen; what is not open after that has ended, and the directory that is read then says where its keys are (M3, M6).
    /// </summary>
    private async Task Thaw()
    {
        if (_seat is null)
        {
            return; // nothing waits for its first executor while another is master
        }

        var frozen = await _node.Ask(() => _node.Master is { IsOver: false } master ? master.Frozen.Plans : []).ConfigureAwait(false);
        if (frozen.Count == 0)
        {
            return;
        }

        var ended = new HashSet<string>(frozen);
        foreach (var open in await _store.Plans.ReadOpen(_ending.Token).ConfigureAwait(false))
        {
            ended.Remove(open.Plan.Id);
        }

        if (ended.Count == 0)
        {
            return;
        }

        await _directory.Read(_ending.Token).ConfigureAwait(false);
        await _node.Ask(() =>
        {
            foreach (var plan in ended)
            {
                _node.Master?.Frozen.Unfreeze(plan);
            }

            return true;
        }).ConfigureAwait(false);
    }
}
