using System.Collections.Concurrent;
using Snapper.Actors;
using Snapper.Actors.Generated;
using Snapper.Cluster.Wire;
using Snapper.Protocol.Commitment;
using Snapper.Protocol.Identity;
using Snapper.Protocol.Messages;
using Snapper.Runtime.Execution;

namespace Snapper.Cluster.Branches;

/// <summary>Calls of actors to actors of other workers, in both directions.</summary>
internal sealed class RemoteCalls(IBranchNode node, Worker worker)
{
    private readonly ConcurrentDictionary<long, RemoteCall> _calls = new();
    private long _lastId;

    /// <summary>Calls of this worker whose results have not come.</summary>
    public int Count => _calls.Count;

    /// <summary>Sends a call; on the caller's executor.</summary>
    /// <param name="caller">The call whose method makes it; of a living attempt.</param>
    /// <param name="to">The worker that owns the actor.</param>
    /// <param name="target">The actor; its type is known.</param>
    /// <param name="method">Its method.</param>
    /// <param name="input">The input.</param>
    /// <exception cref="RemoteCallException">It cannot be sent; the message says why.</exception>
    public Task Start<TInput, TResult>(CallFrame caller, Incarnation to, ActorKey target, ActorMethodKey method, TInput input)
    {
        if (worker.TypeOf(target).Find(method.Name) is not RootMethod<TInput, TResult> typed)
        {
            throw new RemoteCallException($"{target.Type} has no method {method.Name} with this input and result.");
        }

        if (typed.TryEncodeInput(input, out var json) is { } why)
        {
            throw new RemoteCallException(why);
        }

        if (json.Length > worker.MaxResultBytes)
        {
            throw new RemoteCallException($"the input has {json.Length} bytes; the limit is {worker.MaxResultBytes}.");
        }

        var attempt = caller.Attempt;
        var call = new RemoteCall<TInput, TResult>(caller, Interlocked.Increment(ref _lastId), to, target, typed);
        _calls[call.Id] = call; // first: whoever ends the attempt from another executor drops the calls that it has added
        if (!attempt.TryAddCall(call))
        {
            _calls.TryRemove(call.Id, out _);
            throw new TransactionDoomedException(attempt.AbortCause!.Reason, attempt.AbortCause.Message, attempt.AbortCause.Actor);
        }

        caller.ChildStarted();
        attempt.BranchWaits();
        var request = attempt.Request;
        var facts = new BranchFacts(request.Id, attempt.StartedAt.UtcTicks, request.Asked.Caller, request.Asked.TraceParent, request.Asked.TraceState);
        var sent = node.Send(to, new CallMessage(
            attempt.Global?.Tid ?? attempt.Tid, attempt.Age, attempt.Origin?.Root ?? node.Self, request.Asked.Actor, request.Asked.Method, facts, call.Id, ChainOf(caller),
            caller.Depth + 1, target, method.Name, json));
        if (!sent && !attempt.IsPact)
        {
            // Its actors are being taken over. (Of a PACT the master knows, and undoes its batch.)
            node.First.RequestAbort(attempt, new AbortInfo(AbortReason.Migration, $"{target} was called, but {to} is gone.", target));
        }

        return call.Promise;
    }

    /// <summary>Its calls are answered to nobody any more.</summary>
    public void Forget(Attempt attempt)
    {
        foreach (var call in attempt.TakeCalls())
        {
            _calls.TryRemove(call.Id, out _);
        }
    }

    /// <summary>A result has come; on the first executor.</summary>
    public void OnResult(Incarnation from, ResultMessage result)
    {
        if (_calls.TryGetValue(result.Id, out var call) && call.To == from && _calls.TryRemove(result.Id, out _))
        {
            call.Caller.Cell!.Executor.Post(WorkItem.RemoteResult(call, result));
        }
    }

    /// <summary>Runs a call that has come; on the first executor.</summary>
    public void Enter(Attempt attempt, Incarnation from, CallMessage call)
    {
        if (worker.FindType(call.Target.Type)?.Find(call.Method) is not { } method)
        {
            Refuse(attempt, from, call, $"{call.Target} was called, but there is no {call.Target.Type}.{call.Method} here.");
            return;
        }

        if (method.TryParseInput(call.Input, call.Target, out var input) is { } unfit)
        {
            Refuse(attempt, from, call, unfit);
            return;
        }

        var chain = new CallRef[call.Chain.Length + 1];
        call.Chain.CopyTo(chain, 0);
        chain[^1] = new CallRef(from.Worker, call.Id);
        var frame = method.CreateRemote(attempt, call.Target, new RemoteCaller(from, call.Id, chain, Above(call.Chain), call.Depth), input);
        Interlocked.Increment(ref attempt.ActiveCalls);
        frame.StartWaiting();
        worker.SendToActor(new Message { Kind = MessageKind.Call, Actor = call.Target, Body = frame });
    }

    /// <summary>A call is not begun here: its result would go to a worker that takes less than it is sent. Of its transaction nothing has begun by it; its root ends it.</summary>
    public void TurnAway(Incarnation from, CallMessage call)
    {
        var why = new AbortInfo(AbortReason.Overloaded, $"{call.Target} was called, and the caller's worker takes less than it is sent.", call.Target);
        node.Send(from, new ResultMessage(call.Id, FailureOf(why), [], [], []));
    }

    /// <summary>A call that has come from elsewhere has ended, with all calls under it; on its executor.</summary>
    public void SendResult(CallFrame frame)
    {
        if (frame.TryEncodeResult(worker.MaxResultBytes, out var result) is { } problem)
        {
            var why = new AbortInfo(AbortReason.Application, problem, frame.Target);
            node.First.RequestAbort(frame.Attempt, why);
            SendFailure(frame, why);
            return;
        }

        Interlocked.Decrement(ref frame.Attempt.ActiveCalls);
        var remote = frame.Remote!;
        node.Send(remote.Worker, new ResultMessage(remote.Id, null, result, frame.CallsUnder ?? [], frame.Attempt.TakeVisited()));
    }

    /// <summary>As <see cref="SendResult"/>, of one that has failed; its attempt is doomed.</summary>
    public void SendFailure(CallFrame frame, AbortInfo why)
    {
        Interlocked.Decrement(ref frame.Attempt.ActiveCalls);
        var remote = frame.Remote!;
        node.Send(remote.Worker, new ResultMessage(remote.Id, FailureOf(why), [], [], frame.Attempt.TakeVisited()));
    }

    public static BranchFailure FailureOf(AbortInfo why) => new(why.Reason, why.Text, why.Actor, why.Blocker);

    public static AbortInfo InfoOf(BranchFailure failure) =>
        AbortInfo.Of(failure.Reason, failure.Message, failure.Actor, failure.Blocker);

    private void Refuse(Attempt attempt, Incarnation from, CallMessage call, string text)
    {
        var why = new AbortInfo(AbortReason.Application, text, call.Target);
        node.First.RequestAbort(attempt, why);
        node.Send(from, new ResultMessage(call.Id, FailureOf(why), [], [], attempt.TakeVisited()));
    }

    private static CallRef[] ChainOf(CallFrame frame)
    {
        for (var above = frame; above is not null; above = above.CallerFrame)
        {
            if (above.Remote is { } remote)
            {
                return remote.Chain;
            }
        }

        return [];
    }

    /// <summary>A call back into an actor that waits further up is let in (A2): it stands below the call that left this worker last.</summary>
    private CallFrame? Above(CallRef[] chain)
    {
        for (var i = chain.Length - 1; i >= 0; i--)
        {
            if (chain[i].Worker == node.Self.Worker)
            {
                return _calls.TryGetValue(chain[i].Id, out var call) ? call.Caller : null;
            }
        }

        return null;
    }
}
