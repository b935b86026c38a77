using Snapper.Protocol.Commitment;
using Snapper.Protocol.Messages;
using Snapper.Protocol.Transactions;

namespace Snapper.Runtime.Execution;

/// <summary>What transactions over several workers need of an executor.</summary>
public sealed partial class Executor
{
    /// <summary>A branch of a transaction whose root is elsewhere has begun; on the first executor.</summary>
    public void BeginBranch(Attempt attempt)
    {
        attempt.Running = _runningAttempts.AddLast(attempt);
        attempt.Trace = Worker.Watch.Begin(attempt, before: null);
    }

    /// <summary>A branch is over; on the first executor.</summary>
    public void EndBranch(Attempt attempt) => End(attempt);

    /// <summary>
    /// A9: whole batches go, also PACTs that have not begun, or are just beginning here. Before its actor hears of the undo, so that from here on it either has an attempt that
    /// ends, or does not begin under this number.
    /// </summary>
    public void PostRemoved(Request request, Message removed) => PostRun(() =>
    {
        if (request.Attempt is { } attempt && attempt.Tid == removed.Tid)
        {
            OnRootMessage(attempt, removed);
        }
        else
        {
            TransactionMachine.OnRemovedBeforeStart(request, removed.Tid);
        }
    });

    /// <summary>Receives the messages of the machine of branches; of the first executor.</summary>
    public OutputBuffer Outputs => _outputs;

    /// <summary>An ACT whose root is here must end because of a branch elsewhere; on its root's executor.</summary>
    public void EndForBranch(Attempt attempt, AbortInfo why) => Carry(attempt.Request, attempt, _transactions.OnBranchFailed(attempt, why));

    /// <summary>A call to an actor of another worker.</summary>
    private Task CallElsewhere<TInput, TResult>(
        CallFrame caller, Snapper.Protocol.Identity.Incarnation to, Snapper.Protocol.Identity.ActorKey key, Snapper.Actors.Generated.ActorMethodKey method, TInput input)
    {
        if (Worker.Peers.IsFull(to))
        {
            throw AbortCall(caller, AbortReason.Overloaded, key, $"{caller.Where()} calls {key}: {to} takes less than it is sent.");
        }

        var attempt = caller.Attempt;
        if (!attempt.IsPact && !attempt.TryAddVisited(to))
        {
            throw new Snapper.Actors.TransactionDoomedException(attempt.AbortCause!.Reason, attempt.AbortCause.Message, attempt.AbortCause.Actor);
        }

        try
        {
            return Worker.Peers.Call<TInput, TResult>(caller, to, key, method, input);
        }
        catch (RemoteCallException exception)
        {
            throw AbortCall(caller, AbortReason.Application, key, $"{caller.Where()} calls {key}.{method.Name}: {exception.Message}");
        }
    }
}
