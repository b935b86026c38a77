using System.Collections.Concurrent;
using System.Globalization;
using Snapper.Cluster.Wire;
using Snapper.Protocol.Directory;
using Snapper.Protocol.Identity;
using Snapper.Protocol.Transactions;
using Snapper.Runtime.Door;
using Snapper.Runtime.Execution;
using Snapper.Runtime.Requests;

namespace Snapper.Cluster;

/// <summary>
/// The door of one worker of several: takes any request, and passes those on whose roots others own. A request that was passed on to a worker that died is asked again, by its
/// id, of whoever owns its root then: what was recorded is answered, what was not runs (I2, I3). Thread-safe.
/// </summary>
internal sealed partial class ForwardingTransactionService(Worker worker, ClusterNode node, string idPrefix) : ITransactionService
{
    private const int MaxHops = 3;
    private static readonly TimeSpan s_pause = TimeSpan.FromMilliseconds(20);
    private static readonly TimeSpan s_grace = TimeSpan.FromSeconds(1);

    private readonly ConcurrentDictionary<long, Passed> _passed = new();
    private long _lastHandle;
    private long _lastId;

    /// <summary>Requests that other workers run for this one's callers.</summary>
    public int Passing => _passed.Count;

    public Task<TransactionEnvelope> Submit(TransactionRequest request, CancellationToken cancellation) => Submit(request, hops: 0, isCallers: request.Id is not null, cancellation);

    /// <summary>Another worker passes a request on.</summary>
    public void OnSubmit(Incarnation from, SubmitMessage submitted)
    {
        if (submitted.Request.Timeout <= TimeSpan.Zero)
        {
            // Whoever still waits for it passes it on again; whoever does not was told that it is in doubt, and may have got its outcome elsewhere long ago (I2).
            node.Send(from, new SubmittedMessage(submitted.Handle, Refused(submitted.Request, RejectionKind.Unavailable, "It was on its way for longer than its timeout.")));
            return;
        }

        // It holds its input here, too, and so does one that waits for another of its id.
        var bytes = ByteBudget.OfRequest + submitted.Request.Input.Length;
        if (worker.Bytes.Closed is not null || !worker.Bytes.TryTake(bytes))
        {
            var full = $"{worker.Options.Name}, the owner of {submitted.Request.Actor}, has no memory for more now.";
            var refused = Refused(submitted.Request, RejectionKind.Overloaded, full);
            node.Send(from, new SubmittedMessage(submitted.Handle, refused));
            return;
        }

        var served = Serve(
            from, submitted.Handle,
            (node.TakesTooLittle(from) ? Task.FromResult(Overloaded(submitted.Request, from)) : Submit(submitted.Request, submitted.Hops + 1, isCallers: false, CancellationToken.None))!);
        _ = GiveBack(bytes, served);
    }

    /// <summary>Another worker looks for an id.</summary>
    public void OnFind(Incarnation from, FindOutcomeMessage asked) => _ = Serve(from, asked.Handle, FindHere(asked.Id, CancellationToken.None));

    /// <summary>What became of a request that was passed on.</summary>
    public void OnSubmitted(SubmittedMessage submitted)
    {
        if (_passed.TryRemove(submitted.Handle, out var passed))
        {
            passed.Answer.TrySet(new Reply(true, submitted.Envelope));
        }
    }

    /// <summary>The life of a worker is over: what it was given is asked again.</summary>
    public void OnGone(Incarnation peer)
    {
        foreach (var (handle, passed) in _passed)
        {
            if (passed.To == peer && _passed.TryRemove(handle, out _))
            {
                passed.Answer.TryFail(new PeerGoneException());
            }
        }
    }

    /// <summary>The root of a request that waits here is frozen: it is looked at again; or it has moved: whoever owns it runs the request (M3, M7).</summary>
    public void NotHere(Request request, OwnershipState state, Executor executor)
    {
        if (state == OwnershipState.NotOwned)
        {
            executor.PostRun(() => Leave(request));
        }
        else
        {
            worker.After(TimeSpan.FromMilliseconds(5), executor, request);
        }
    }

    /// <summary>
    /// On the root's executor, as its deadline is: from here on its outcome is another's to say, and no deadline may say here that nothing was executed. Its id is free here:
    /// the root may come back, and the request with it.
    /// </summary>
    private void Leave(Request request)
    {
        if (!request.IsAnswered)
        {
            request.Phase = TransactionPhase.Ended;
            worker.RequestManager.Release(request);
            _ = PassOn(request);
        }
    }

    private async Task PassOn(Request request)
    {
        var left = TimeSpan.FromSeconds((request.Deadline - worker.Time.GetTimestamp()) / (double)worker.Time.TimestampFrequency);
        var asked = request.Asked with { Id = request.Id, Timeout = left > TimeSpan.Zero ? left : TimeSpan.FromMilliseconds(1) };
        TransactionEnvelope answer;
        try
        {
            answer = await Submit(asked, hops: 0, request.HasCallerKey, CancellationToken.None).ConfigureAwait(false);
        }
        catch (OperationCanceledException)
        {
            answer = InDoubt(asked);
        }

        worker.RequestManager.AnswerFromElsewhere(request, answer);
    }

    /// <summary>The worker is over: what became of requests that others run for it, those know; they are asked by id.</summary>
    public void GiveUpAll()
    {
        foreach (var (handle, passed) in _passed)
        {
            if (_passed.TryRemove(handle, out _))
            {
                passed.Answer.TrySet(default);
            }
        }
    }

    /// <param name="request">The request.</param>
    /// <param name="hops">How often it was passed on.</param>
    /// <param name="isCallers">Its id is its caller's, who may have sent it before: it was not executed only if its owner has looked.</param>
    /// <param name="cancellation">Ends the wait.</param>
    private async Task<TransactionEnvelope> Submit(TransactionRequest request, int hops, bool isCallers, CancellationToken cancellation)
    {
        var began = worker.Time.GetTimestamp();
        var asked = request;
        var isNew = hops == 0 && !isCallers; // its id was made here, for this sending
        var mayHaveRun = false;
        for (var isFirst = true; ; isFirst = false)
        {
            var left = request.Timeout - worker.Time.GetElapsedTime(began);
            var state = node.Ownership.Look(request.Actor).State;
            if (state is not OwnershipState.NotOwned && (isFirst || left > TimeSpan.Zero))
            {
                asked = isFirst ? asked : asked with { Timeout = left }; // what others took of its time is gone
                node.Balancer?.Note(asked);
                var own = await worker.RequestManager.Submit(asked, cancellation).ConfigureAwait(false);
                if (own.Rejection is null)
                {
                    own.Worker ??= worker.Options.Name; // else it was passed on after all, and says where to
                }

                return Sure(own, isNew, mayHaveRun);
            }

            if (worker.Unavailability is { } why)
            {
                return Sure(Refused(asked, RejectionKind.Unavailable, why), isNew, mayHaveRun);
            }

            if (left <= TimeSpan.Zero || hops > MaxHops)
            {
                return Sure(Refused(asked, RejectionKind.Unavailable, $"{request.Actor} has no owner that answers now."), isNew, mayHaveRun);
            }

            // What is passed on always has an id, the caller's or one made here, and keeps it: workers ask each other again (I4).
            asked = asked with { Id = asked.Id ?? NewId(), Timeout = left };
            var owner = node.Directory.Resolve(request.Actor);
            if (!owner.IsNone && owner != node.Self && node.Gate.Hub.Known(owner.Worker) == owner)
            {
                if (node.TakesTooLittle(owner))
                {
                    return Sure(Overloaded(asked, owner), isNew, mayHaveRun);
                }

                try
                {
                    var answer = await Ask(owner, handle => new SubmitMessage(handle, hops, asked), left + s_grace, cancellation).ConfigureAwait(false);
                    if (answer.Envelope is not { } envelope)
                    {
                        return InDoubt(asked);
                    }

                    if (envelope.Rejection is not { Kind: RejectionKind.Unavailable })
                    {
                        return Sure(envelope, isNew, mayHaveRun);
                    }
                }
                catch (PeerGoneException)
                {
                    mayHaveRun = true; // whoever owns the root next finds its id, or runs it (I4)
                }
            }

            await Background.Pause(s_pause, worker.Time, cancellation).ConfigureAwait(false); // frozen, or about to be taken over
        }
    }

    /// <returns>Not there: it has not answered in time, or this worker is over.</returns>
    private async Task<Reply> Ask(Incarnation to, Func<long, WireMessage> message, TimeSpan wait, CancellationToken cancellation)
    {
        var handle = Interlocked.Increment(ref _lastHandle);
        var passed = new Passed(to, worker.Background.Promise<Reply>());
        _passed[handle] = passed;
        if (worker.IsOver)
        {
            passed.Answer.TrySet(default); // the worker ended meanwhile, and has given up those that it knew of
        }

        if (!node.Send(to, message(handle)))
        {
            _passed.TryRemove(handle, out _);
            throw new PeerGoneException();
        }

        try
        {
            return await passed.Answer.Task.WaitAsync(wait, worker.Time, cancellation).ConfigureAwait(false);
        }
        catch (TimeoutException)
        {
            return default;
        }
        finally
        {
            _passed.TryRemove(handle, out _);
        }
    }

    private async Task Serve(Incarnation from, long handle, Task<TransactionEnvelope?> answer) => node.Send(from, new SubmittedMessage(handle, await answer.ConfigureAwait(false)));

    private async Task GiveBack(long bytes, Task served)
    {
        try
        {
            await served.ConfigureAwait(false);
        }
        finally
        {
            worker.Bytes.Give(bytes);
        }
    }

    private string NewId() => string.Create(CultureInfo.InvariantCulture, $"{idPrefix}p{Interlocked.Increment(ref _lastId)}");

    /// <summary>
    /// "Rejected" says that nothing was executed. Of a request that a worker that is gone had, only a worker that has read its log knows that (I4). A refusal without a look
    /// at the id is in doubt (see <see cref="IRequestManager"/>), unless the id is new. One that may have run carries no
    /// rejection: the worker that made its id and passed it on here does not know of the one that died.
    /// </summary>
    private static TransactionEnvelope Sure(TransactionEnvelope answer, bool isNew, bool mayHaveRun) => answer switch
    {
        { Rejection: { } why } when mayHaveRun =>
            new() { Id = answer.Id, Outcome = Outcome.InDoubt, Mode = answer.Mode, Doubt = why.Detail },
        { Outcome: Outcome.InDoubt, Rejection: { } why } when isNew =>
            new() { Id = answer.Id, Outcome = Outcome.Rejected, Mode = answer.Mode, Rejection = why },
        _ => answer,
    };

    /// <summary>It was not let in here, and nothing was looked up.</summary>
    private static TransactionEnvelope Refused(TransactionRequest asked, RejectionKind kind, string why) => new()
    {
        Id = asked.Id ?? string.Empty,
        Outcome = Outcome.InDoubt,
        Mode = asked.Mode,
        Doubt = why,
        Rejection = new Rejection(kind, why, Admission.ShortRetry),
    };

    private static TransactionEnvelope Overloaded(TransactionRequest asked, Incarnation slow) =>
        Refused(asked, RejectionKind.Overloaded, $"{asked.Actor} is used by way of {Incarnation.NameOf(slow.Worker)}, which takes less than it is sent.");

    private static TransactionEnvelope InDoubt(TransactionRequest asked) => new()
    {
        Id = asked.Id ?? string.Empty,
        Outcome = Outcome.InDoubt,
        Mode = asked.Mode,
    };

    private sealed record Passed(Incarnation To, Promise<Reply> Answer);

    /// <param name="IsThere">It has answered.</param>
    /// <param name="Envelope">What it said; null: it knows nothing, or has not answered.</param>
    private readonly record struct Reply(bool IsThere, TransactionEnvelope? Envelope);

    private sealed class PeerGoneException : Exception;
}
