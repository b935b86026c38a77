using Snapper.Protocol.Commitment;
using Snapper.Protocol.Identity;
using Snapper.Protocol.Messages;

namespace Snapper.Runtime.Execution;

/// <summary>The turn bound (W4): user code may keep others waiting only so long.</summary>
public sealed partial class Executor
{
    // Long against any turn that only computes, short against the turn bound.

    private Action? _checkTurns; // one for all ticks

    /// <summary>Has the executor look at the attempts that have run for long; called some ten times a second while requests are under way.</summary>
    public void PostCheckTurns() => PostRun(_checkTurns ??= CheckTurns);

    private void CheckTurns()
    {
        var now = Worker.Time.GetTimestamp();
        for (var node = _runningAttempts.First; node is not null; node = node.Next)
        {
            var attempt = node.Value;
            var bound = Worker.TurnBoundOf(attempt.Request);
            if (Worker.Time.GetElapsedTime(attempt.BeganAt, now) < Worker.Options.TurnTick)
            {
                break; // younger ones follow
            }

            if (attempt.WaitingBranches > 0 || !attempt.IsAlive || (attempt.Origin is not null && Volatile.Read(ref attempt.ActiveCalls) == 0))
            {
                attempt.BlockingSince = 0; // who waits is not to blame
                continue;
            }

            if (attempt.BlockingSince != 0 && Worker.Time.GetElapsedTime(attempt.BlockingSeen, now) > 4 * Worker.Options.TurnTick)
            {
                attempt.BlockingSince = 0;
            }

            if (attempt.BlockingSince != 0 && Worker.Time.GetElapsedTime(attempt.BlockingSince, now) >= bound)
            {
                var root = attempt.Request.Asked;
                var text = $"User code of {root.Actor}.{root.Method} kept others waiting for more than {bound.TotalMilliseconds:0} ms.";
                RequestAbort(attempt, new AbortInfo(AbortReason.Timeout, text, root.Actor));
                continue;
            }

            Probe(attempt);
        }
    }

    private void Probe(Attempt attempt)
    {
        if (attempt.IsPact)
        {
            ProbeCommitOrder(attempt);
            foreach (var access in attempt.Request.Declared!)
            {
                ProbeActor(attempt, access.Actor);
            }

            return;
        }

        foreach (var actor in attempt.TakeParticipants())
        {
            ProbeActor(attempt, actor);
        }
    }

    private void ProbeActor(Attempt attempt, ActorKey actor)
    {
        var target = Worker.ExecutorOf(actor);
        target.PostRun(() =>
        {
            if (target.FindCell(actor)?.Schedule is { } machine && machine.HasWaitersBehind(attempt.Tid))
            {
                PostRun(() => NoteBlocking(attempt));
            }
        });
    }

    /// <summary>
    /// A component commits as a whole: a PACT that does not end holds up those that share an actor with it, directly or
    /// through others (D1).
    /// </summary>
    private void ProbeCommitOrder(Attempt attempt) =>
        Worker.PostToCommits(() =>
        {
            if (Worker.Commits.HasWaitersBehind(attempt.Tid, attempt.Bid))
            {
                PostRun(() => NoteBlocking(attempt));
            }
        });

    private void NoteBlocking(Attempt attempt)
    {
        var now = Worker.Time.GetTimestamp();
        attempt.BlockingSeen = now;
        if (attempt.BlockingSince == 0)
        {
            attempt.BlockingSince = now;
        }
    }
}
