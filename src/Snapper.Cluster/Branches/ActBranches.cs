using Snapper.Cluster.Wire;
using Snapper.Protocol;
using Snapper.Protocol.Commitment;
using Snapper.Protocol.Directory;
using Snapper.Protocol.Identity;
using Snapper.Protocol.Messages;
using Snapper.Protocol.Transactions;
using Snapper.Runtime.Door;
using Snapper.Runtime.Execution;
using Snapper.Storage.Log;
using Snapper.Storage.Log.Writing;

namespace Snapper.Cluster.Branches;

/// <summary>
/// ACTs over several workers: branches of those whose roots are elsewhere, and what the roots here hear of theirs (R, H2, H3, H6, W3). On the first executor alone, but for
/// what is said to other workers.
/// </summary>
internal sealed class ActBranches(IBranchNode node, Worker worker, Tombstones tombstones)
{
    /// <summary>Between two questions for what nobody could tell because a log cannot be read.</summary>
    private static readonly TimeSpan s_askedAgain = TimeSpan.FromSeconds(5);

    private readonly BranchMachine _machine = new(tombstones, node.First.Outputs);

    /// <summary>A call from another worker.</summary>
    public void OnCall(Incarnation from, CallMessage call)
    {
        worker.AdvanceActClock(call.Tid);
        if (tombstones.Contains(call.Tid))
        {
            return; // W3: it came too late
        }

        if (!worker.Acts.TryGetValue(call.Tid.Value, out var attempt))
        {
            if (call.Root == node.Self)
            {
                return; // ended
            }

            attempt = Begin(call);
        }

        attempt.AddCaller(from); // also of one that is refused: its root may hear of this worker through that one alone
        var state = node.Ownership.Look(call.Target).State;
        node.RequireNotIn(attempt, call.Target, state);
        if (state is not OwnershipState.Open && !attempt.Participates(call.Target))
        {
            // M3: it is being moved, or has moved; the caller's directory is old.
            node.First.RequestAbort(attempt, new AbortInfo(AbortReason.Migration, $"{call.Target} was called, and is being moved.", call.Target));
            return;
        }

        // A part that has been asked for its vote has no calls under way: its root joins them all. It aborts by itself else, and what comes is late.
        if (attempt.IsAlive && !attempt.IsPrepared && attempt.TryAddParticipant(call.Target))
        {
            node.Calls.Enter(attempt, from, call);
        }
    }

    /// <summary>A branch must go, or has failed by itself; its root is elsewhere.</summary>
    public void TellRoot(Attempt attempt, AbortInfo why) =>
        node.Send(attempt.Origin!.Root, new BranchFailedMessage(attempt.IsPact ? attempt.Origin.Global : attempt.Tid, RemoteCalls.FailureOf(why)));

    /// <summary>A branch of an ACT whose root is here has failed: its root ends it everywhere.</summary>
    public void OnBranchFailed(BranchFailedMessage failed)
    {
        var why = RemoteCalls.InfoOf(failed.Failure);
        EndAtRoot(failed.Tid, why);
        if (Retry.IsRepeated(why.Reason))
        {
            // H7: a vote that follows may complete the votes before the root's own executor says the same. Of a root that has not ended, the commit machine knows nothing.
            worker.SendToCommit(new Message { Kind = MessageKind.ActVoted, Tid = failed.Tid });
        }
    }

    /// <summary>The root has its result, and wants this worker's vote.</summary>
    public void OnPrepare(Incarnation root, ActPrepareMessage prepare)
    {
        var attempt = worker.Acts.GetValueOrDefault(prepare.Tid.Value);
        if (_machine.OnPrepare(prepare.Tid, attempt, prepare.Committed, root) is { } vote)
        {
            node.Send(root, new ActVotedMessage(prepare.Tid, vote, null, [], []));
        }
        else
        {
            attempt!.IsRecorded = prepare.IsRecorded;
            Carry(attempt, AttemptEffects.None);
        }
    }

    /// <summary>What the commit machine has to say to the worker of an ACT's root.</summary>
    public void TellRootWorker(in Message message)
    {
        if (message.Kind == MessageKind.ActVoted)
        {
            SendVote(message);
        }
        else if (worker.Acts.TryGetValue(message.Tid.Value, out var attempt) && attempt.Origin is { } origin)
        {
            node.Send(origin.Root, new ActBoundsMessage(message.Tid, message.Bid, new BatchId(message.Value)));
        }
    }

    /// <summary>Where an ACT whose root is here stands among the global batches on another worker (H6).</summary>
    public void OnBounds(ActBoundsMessage bounds)
    {
        if (worker.Acts.ContainsKey(bounds.Tid.Value))
        {
            worker.SendToCommit(new Message { Kind = MessageKind.ActBounds, Tid = bounds.Tid, Bid = bounds.Floor, Value = bounds.Ceil.Value });
        }
    }

    /// <summary>This worker's vote; its <c>ActPrepared</c> is durable.</summary>
    private void SendVote(in Message message)
    {
        var part = (ActOutcome)message.Body!;
        var unfit = part.Unfit is { } why ? RemoteCalls.FailureOf(why) : null;
        var visited = new List<Incarnation>();
        var attempt = Request.Of(part).Attempt!;
        foreach (var other in attempt.TakeVisited())
        {
            if (other != part.RootWorker)
            {
                visited.Add(other);
            }
        }

        node.Send(part.RootWorker, new ActVotedMessage(part.Tid, message.Flag, unfit, visited.ToArray(), attempt.IsRecorded ? attempt.Touched() : []));
        if (worker.SchedulingPolicy.VoterAsksAtOnce())
        {
            node.Send(part.RootWorker, new OutcomeQueryMessage(part.Tid.Value, part.RootWorker));
        }
    }

    /// <summary>A vote for an ACT whose root is here.</summary>
    public void OnVoted(ActVotedMessage voted)
    {
        var tellsMore = voted.Touched.Length + voted.Visited.Length > 0;
        if (tellsMore && worker.Acts.TryGetValue(voted.Tid.Value, out var attempt))
        {
            attempt.AddTouched(voted.Touched);
            foreach (var visited in voted.Visited)
            {
                attempt.TryAddVisited(visited); // their votes count from here on: their ends must be noticed, too
            }
        }

        var unfit = voted.Unfit is { } failure ? RemoteCalls.InfoOf(failure) : null;
        worker.SendToCommit(new Message { Kind = MessageKind.ActVoted, Tid = voted.Tid, Flag = voted.Yes, Body = new ActVote(unfit, voted.Visited) });
    }

    /// <summary>What the root tells another worker of an ACT. From any thread.</summary>
    public void TellParticipant(in Output output)
    {
        var outcome = (ActOutcome)output.Message.Body!;
        var to = outcome.Others[output.Index];
        if (output.Message.Kind == MessageKind.ActDecided)
        {
            node.Send(to, new ActDecidedMessage(outcome.Tid, output.Message.Flag));
        }
        else if (!node.Send(to, new ActPrepareMessage(outcome.Tid, output.Message.Flag, Request.Of(outcome).Asked.AccessMode != AccessMode.Strict)))
        {
            EndAtRoot(outcome.Tid, Lost(to)); // that life is over, and its part with it; it may have been before the root knew that it has one
        }
    }

    /// <summary>
    /// An ACT whose root is here must end, unless it is decided: on its root's executor, so that the reason is known there before the commit machine asks for the end. From any
    /// thread.
    /// </summary>
    public void EndAtRoot(TransactionId tid, AbortInfo why)
    {
        if (worker.Acts.TryGetValue(tid.Value, out var attempt) && attempt.Origin is null)
        {
            attempt.RootExecutor.PostRun(() => attempt.RootExecutor.EndForBranch(attempt, why));
        }
    }

    /// <summary>W2: the worker restarts, or is taken over, and the relay tries again; the caller hears nothing of it.</summary>
    private static AbortInfo Lost(Incarnation peer) => new(AbortReason.Migration, $"{peer} was lost while the transaction ran.");

    /// <summary>The root's worker has decided; or a later life of it says what an earlier one had decided.</summary>
    public void OnDecided(Incarnation from, ActDecidedMessage decided)
    {
        if (worker.Acts.TryGetValue(decided.Tid.Value, out var attempt))
        {
            Carry(attempt, _machine.OnDecided(attempt, decided.Committed));
        }
        else if (decided.Committed)
        {
            _ = node.Decisions.SayMarked(from, decided.Tid);
        }
    }

    /// <summary>An ACT is aborted by its root, or by a worker that has called it here.</summary>
    public void OnAbort(TransactionId tid)
    {
        var attempt = worker.Acts.GetValueOrDefault(tid.Value);
        if (attempt is { Origin: null })
        {
            throw new ProtocolViolationException($"ACT {tid} is aborted by another worker than its root's.");
        }

        var effects = _machine.OnAbort(tid, attempt);
        if (attempt is not null)
        {
            Carry(attempt, effects);
        }
    }

    /// <summary>The commit machine here ends a part.</summary>
    public void OnMessage(Attempt attempt, in Message message) =>
        Carry(attempt, _machine.OnMessage(attempt, message), TransactionMachine.CauseOf(attempt, message));

    private void Carry(Attempt attempt, AttemptEffects effects, AbortInfo? why = null) =>
        node.First.Carry(attempt.Request, attempt, effects, why);

    /// <summary>Aborts an ACT on the workers that it has visited from here. Its root's worker, which it may have called back, is told otherwise. From any thread.</summary>
    public void AbortElsewhere(Attempt attempt)
    {
        foreach (var visited in attempt.TakeVisited())
        {
            if (visited != attempt.Origin?.Root)
            {
                node.Send(visited, new ActAbortMessage(attempt.Tid));
            }
        }
    }

    /// <summary>The life of a worker is over: ACTs that need it end, unless they are decided.</summary>
    public void OnGone(Incarnation peer)
    {
        foreach (var attempt in worker.Acts.Values)
        {
            var called = attempt.Origin is not null && !attempt.IsPrepared && attempt.Callers?.Contains(peer) == true;
            if (!called && !attempt.HasVisited(peer) && attempt.Origin?.Root != peer)
            {
                continue;
            }

            if (attempt.Origin is null)
            {
                EndAtRoot(attempt.Tid, Lost(peer));
            }
            else if (attempt.Origin.Root != peer)
            {
                TellRoot(attempt, Lost(peer));
                if (called)
                {
                    OnAbort(attempt.Tid); // its root may not know that it was here: who had called it cannot tell any more
                }
            }
            else if (attempt.IsPrepared)
            {
                _ = AskElsewhere(attempt.Tid, peer);
            }
            else
            {
                OnAbort(attempt.Tid); // R1: its root had not decided anything that relies on this part
            }
        }
    }

    /// <summary>The root is gone, and this worker has voted: whoever recovers that stream knows (R2). Until then the part keeps its locks and places.</summary>
    private async Task AskElsewhere(TransactionId tid, Incarnation root)
    {
        try
        {
            while (worker.Acts.ContainsKey(tid.Value))
            {
                try
                {
                    var committed = await node.Doubts.OfAct(tid, root, worker.Stopping).ConfigureAwait(false);
                    node.Receive(node.Self, new ActDecidedMessage(tid, committed));
                    return;
                }
                catch (LogLostException lost) when (lost.Status == AppendStatus.Fenced)
                {
                    // Another recovers that stream, and will know.
                }
                catch (CorruptLogException damaged)
                {
                    // Nobody knows before that log is put right, which an operator does.
                    RuntimeLog.StaysInDoubt(worker.Logger, damaged, tid.Value, root.ToString(), damaged.Message);
                }

                await Background.Pause(s_askedAgain, worker.Time, worker.Stopping).ConfigureAwait(false);
            }
        }
        catch (OperationCanceledException) when (worker.Stopping.IsCancellationRequested)
        {
        }
        catch (Exception exception)
        {
            worker.Fail(exception);
        }
    }

    private Attempt Begin(CallMessage call)
    {
        var request = Request.StandIn(call.RootActor, declared: null);
        BranchAttempts.Learn(worker, request, call);
        var attempt = new Attempt(request, call.Tid, BatchId.None, call.Age, node.First, new DateTimeOffset(call.Facts.StartedAtTicks, TimeSpan.Zero))
        {
            Origin = new BranchOrigin(call.Root, TransactionId.None),
            BeganAt = worker.Time.GetTimestamp(),
        };
        request.Attempt = attempt;
        worker.Acts[call.Tid.Value] = attempt;
        node.First.BeginBranch(attempt);
        node.KeepTicking();
        return attempt;
    }
}
