using Snapper.Protocol.Identity;
using Snapper.Protocol.Scheduling;

namespace Snapper.Simulation.Rules;

/// <summary>
/// W1 on one actor: wait-die by age, first come, first served, but for upgrades; a request meets an older waiter as if that one held the lock. Checked from who
/// asked, who was answered what, and who has ended.
/// </summary>
internal sealed class LockRules(ActorKey actor, Action<string> violated) : RuleSet(violated)
{
    private readonly List<Claim> _holders = [];
    private readonly List<Claim> _waiters = [];

    public void Asked(IActorCall call, LockMode mode, LockAnswer answer)
    {
        RequireNobodyWaitsForNothing();
        var mine = new Claim(call.Tid.Value, call.Age.Value, mode);
        var held = _holders.FindIndex(holder => holder.Tid == mine.Tid);
        if (held >= 0 && _holders[held].Mode >= mode)
        {
            Require(answer == LockAnswer.Granted, $"W1: {actor}: {call.Tid} has its {mode} lock and is told {answer}");
            return;
        }

        if (_holders.Count == 0 && _waiters.Count == 0)
        {
            Require(answer == LockAnswer.Granted, $"W1: {actor}: {call.Tid} asks for a {mode} lock that nobody has, and is told {answer}");
            Hold(mine);
            return;
        }

        var ahead = _holders.Where(holder => holder.ConflictsWith(mine)).ToList();
        if (held < 0)
        {
            ahead.AddRange(_waiters.Where(waiter => waiter.ConflictsWith(mine)));
        }

        var right = ahead.Exists(other => other.Age < mine.Age) ? LockAnswer.Die : ahead.Count > 0 ? LockAnswer.Waiting : LockAnswer.Granted;
        Require(answer == right, $"W1: {actor}: {call.Tid} of age {call.Age} asks for a {mode} lock, meets {string.Join(", ", ahead)} and is told {answer}, not {right}");
        switch (answer)
        {
            case LockAnswer.Granted:
                Hold(mine);
                break;
            case LockAnswer.Waiting:
                _waiters.Insert(held >= 0 ? 0 : _waiters.Count, mine);
                break;
        }
    }

    public void Granted(IActorCall call, LockMode mode)
    {
        var mine = new Claim(call.Tid.Value, call.Age.Value, mode);
        Require(_waiters.Count > 0 && _waiters[0] == mine, $"W1: {actor}: {call.Tid} is granted its {mode} lock before its turn");
        Require(!_holders.Exists(holder => holder.ConflictsWith(mine)), $"H2: {actor}: {call.Tid} is granted a {mode} lock beside {string.Join(", ", _holders)}");
        _waiters.Remove(mine);
        Hold(mine);
    }

    public void Ended(long tid)
    {
        _holders.RemoveAll(holder => holder.Tid == tid);
        _waiters.RemoveAll(waiter => waiter.Tid == tid);
    }

    private void RequireNobodyWaitsForNothing()
    {
        if (_waiters.Count > 0)
        {
            var first = _waiters[0];
            Require(_holders.Exists(holder => holder.ConflictsWith(first)), $"W1: {actor}: {first} waits for nobody");
        }
    }

    private void Hold(Claim claim)
    {
        // Two branches of one transaction may wait at once: the stronger lock stays.
        if (!_holders.Exists(holder => holder.Tid == claim.Tid && holder.Mode >= claim.Mode))
        {
            _holders.RemoveAll(holder => holder.Tid == claim.Tid);
            _holders.Add(claim);
        }
    }

    private readonly record struct Claim(long Tid, long Age, LockMode Mode)
    {
        public bool ConflictsWith(Claim other) => Tid != other.Tid && (Mode == LockMode.Exclusive || other.Mode == LockMode.Exclusive);
    }
}
