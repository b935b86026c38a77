using Snapper.Protocol.Batches;
using Snapper.Protocol.Commitment;
using Snapper.Protocol.Identity;
using Snapper.Protocol.Messages;
using Snapper.Protocol.Scheduling;

namespace Snapper.Protocol.Tests.World;

/// <summary>What must hold at every step, judged from outside the machines.</summary>
internal sealed partial class MachineWorld
{
    private readonly Appended?[] _committed;
    private readonly long[] _versions;
    private readonly List<ActScheduleEntry>[] _stays;
    private readonly HashSet<TransactionId> _decided = [];

    /// <summary>Per actor, who was let in, in order of the first time.</summary>
    public List<Attempt>[] Touches { get; }

    /// <summary>The final state of each actor.</summary>
    public IReadOnlyList<Appended?> Committed => _committed;

    /// <summary>Fails with what is expected to hold.</summary>
    public static void Require(bool holds, string what)
    {
        if (!holds)
        {
            throw new InvariantException($"Broken: {what}.");
        }
    }

    /// <summary>Everything has ended: nothing is open anywhere, and no machine keeps anything.</summary>
    public void CheckQuiet()
    {
        foreach (var request in Requests)
        {
            Require(request.Answer != Answer.None, $"{request.Name} ends");
        }

        Require(_commit.Open.Count == 0, "every batch becomes final");
        foreach (var coordinator in _coordinators)
        {
            Require(coordinator.Waiting == 0, "no PACT waits for a number for ever");
        }

        for (var i = 0; i < _actors.Length; i++)
        {
            _actors[i].ForgetFinal(_commit.Final);
            Require(_actors[i].IsReplaceable, $"actor {Keys[i].Id} may leave memory in the end");
            Require(_actors[i].Version == _versions[i], $"actor {Keys[i].Id} has version {_versions[i]}, not {_actors[i].Version}");
        }
    }

    private void NoteStay(Frame frame, Visit visit)
    {
        var touches = Touches[frame.Actor];
        if (!touches.Contains(frame.Attempt))
        {
            touches.Add(frame.Attempt);
        }

        if (visit is ActScheduleEntry act && !_stays[frame.Actor].Contains(act))
        {
            _stays[frame.Actor].Add(act);
        }
    }

    private void CheckLocks(Frame frame)
    {
        var stays = _stays[frame.Actor];
        stays.RemoveAll(static stay => stay.IsOver);
        int shared = 0, exclusive = 0;
        foreach (var stay in stays)
        {
            shared += stay.Held == LockMode.Shared ? 1 : 0;
            exclusive += stay.Held == LockMode.Exclusive ? 1 : 0;
        }

        Require(exclusive == 0 || (exclusive == 1 && shared == 0), $"{frame.Script.Actor} has at most one exclusive lock, and then no other");
    }

    private void NoteDecision(in Message message)
    {
        if (message.Kind == MessageKind.PactDecided)
        {
            Require(_decided.Add(message.Tid), $"{Name(message.Tid)} is decided once");
        }
    }

    private void JudgeComponent(Component component)
    {
        var batch = component.Batch;
        var writers = new List<Attempt>();
        for (var i = component.FirstMember; i >= 0; i = batch.NextMember(i))
        {
            if (batch.StateOf(i) == MemberState.Committed)
            {
                var attempt = ((Request)batch.Tickets[i].Request).Attempt!;
                Require(attempt.Tid.Value == batch.Bid.Value + i && attempt.IsAlive && attempt.RootEnded, $"{attempt} commits as it ended");
                writers.Add(attempt);
            }
        }

        for (var slot = component.FirstSlot; slot >= 0; slot = batch.NextSlot(slot))
        {
            if (batch.ChangeOf(slot) is { } change)
            {
                JudgeChange(change, writers);
            }
        }

        CheckAllWritten(writers);
    }

    private void JudgeAct(ActOutcome act)
    {
        var attempt = ((Request)act.Request).Attempt!;
        Require(attempt.Tid == act.Tid, $"{attempt} is queued as its current attempt");
        Require(_decided.Add(act.Tid), $"{attempt} is decided once");
        var writers = new List<Attempt>();
        if (act.Committed)
        {
            Require(attempt.IsAlive, $"{attempt} commits alive");
            writers.Add(attempt);
        }

        foreach (var change in act.Changes)
        {
            JudgeChange(change, writers);
        }

        CheckAllWritten(writers);

        // H3: whoever wrote what it read is queued before it.
        foreach (var (actor, seen) in attempt.Reads)
        {
            Require(seen is null || seen.IsFinal, $"H3: {attempt} is queued behind what it read on {Keys[actor].Id}");
        }
    }

    /// <summary>L7, A5: the next version, and nothing but what the record's transactions wrote since the last one.</summary>
    private void JudgeChange(Change change, List<Attempt> writers)
    {
        var actor = IndexOf(change.Actor);
        Require(change.Version == _versions[actor] + 1, $"L7: {change.Actor.Id} goes from version {_versions[actor]} to {change.Version}");
        var state = (Appended)change.State;
        var added = 0;
        for (var at = state; !ReferenceEquals(at, _committed[actor]); at = at.Before)
        {
            Require(at is not null, $"the change of {change.Actor.Id} builds on its last final state");
            Require(writers.Contains(at!.Writer), $"the change of {change.Actor.Id} holds a write of {at.Writer}, which is not in the record");
            at.IsFinal = true;
            added++;
        }

        Require(added > 0, $"the change of {change.Actor.Id} changes something");
        _versions[actor]++;
        _committed[actor] = state;
    }

    private void CheckAllWritten(List<Attempt> writers)
    {
        foreach (var writer in writers)
        {
            foreach (var (actor, written) in writer.Writes)
            {
                Require(written.IsFinal, $"the write of {writer} on {Keys[actor].Id} is in its record");
            }
        }
    }
}

/// <summary>A promise of the protocol is broken.</summary>
internal sealed class InvariantException(string message) : Exception(message);
