using Snapper.Client.Messages;
using Snapper.Protocol.Identity;
using Snapper.Protocol.Messages;

namespace Snapper.Client.Sending;

/// <summary>
/// Brings one transaction to an outcome: sends it, sends it again when that is sure to do no harm, asks by id when its
/// fate is unknown, until its timeout. Every sending carries the same id and the same bytes, so effects happen once.
/// </summary>
internal sealed class RetryingSender(Routes routes, SnapperClientOptions options, CancellationPool giveUps, CancellationToken closing)
{
    /// <summary>Brings a transaction to an outcome. Does not throw for outcomes.</summary>
    /// <exception cref="OperationCanceledException">The caller gave up; the transaction may still commit.</exception>
    /// <exception cref="ObjectDisposedException">The client was closed before the transaction was sent.</exception>
    /// <param name="root">Whom it goes to, if that helps (<see cref="Routes.KeyOf"/>).</param>
    /// <param name="id">The request's id.</param>
    /// <param name="body">The whole request.</param>
    /// <param name="timeout">For all of it, but the grace.</param>
    /// <param name="cancellation">Ends the wait.</param>
    public async Task<TransactionReply> Deliver(ActorKey? root, string id, byte[] body, TimeSpan timeout, CancellationToken cancellation)
    {
        var now = Environment.TickCount64;
        var wait = timeout + options.AnswerGrace;
        using var giveUp = giveUps.After(wait);
        using var byCaller = cancellation.UnsafeRegister(static one => ((CancellationTokenSource)one!).Cancel(), giveUp);
        var transaction = new PendingTransaction { Id = id, Body = body, WaitUntil = now + (long)wait.TotalMilliseconds };
        var backoff = new Backoff(options.MinBackoff, options.MaxBackoff, now + (long)timeout.TotalMilliseconds);
        var heard = new RetryState(id, options.RepeatsAborted);
        try
        {
            while (true)
            {
                var route = routes.Pick(root, Environment.TickCount64);
                var attempt = await SendOnce(route, transaction, giveUp.Token).ConfigureAwait(false);
                var isElsewhere = routes.Note(route, root, attempt);
                if (transaction.TurnedAway is { } why)
                {
                    heard.NoteTurnedAway(why);
                }

                if (heard.Note(attempt) is { } final)
                {
                    return final;
                }

                if (attempt.End == AttemptEnd.Abandoned)
                {
                    heard.Doubt ??= transaction.WasSent ? "no answer in time" : null;
                    return GiveUp(heard, id, cancellation);
                }

                // What one worker asks for does not bind those who did not.
                if (backoff.Next(isElsewhere ? null : heard.RetryAfter) is not { } pause)
                {
                    return GiveUp(heard, id, cancellation);
                }

                await Task.Delay(pause, giveUp.Token).ConfigureAwait(false);
                if (heard.Doubt is not null && await Resolve(root, id, heard, backoff, giveUp.Token).ConfigureAwait(false) is { } resolved)
                {
                    return resolved;
                }
            }
        }
        catch (OperationCanceledException) when (giveUp.IsCancellationRequested)
        {
            return GiveUp(heard, id, cancellation);
        }
    }

    private static async ValueTask<Attempt> SendOnce(Route route, PendingTransaction transaction, CancellationToken cancellation)
    {
        var attempt = transaction.Begin();
        using var abandoned = cancellation.UnsafeRegister(static state => ((PendingTransaction)state!).End(Attempt.Abandoned), transaction);
        route.Sender.Send(transaction);
        return await attempt.ConfigureAwait(false);
    }

    /// <summary>Asks by id until there is an outcome (returned), or until sending again is what decides (null).</summary>
    private async Task<TransactionReply?> Resolve(ActorKey? root, string id, RetryState heard, Backoff backoff, CancellationToken cancellation)
    {
        while (true)
        {
            var route = routes.Pick(root, Environment.TickCount64);
            try
            {
                var found = await route.Door.Ask(id, cancellation).ConfigureAwait(false);
                if (found is null)
                {
                    return null; // No decision: the request may still be under way. Sending it again decides (I2).
                }

                var final = heard.Note(Attempt.Answered(found));
                if (final is not null || heard.Doubt is null)
                {
                    return final; // Null: aborted, and may run again.
                }
            }
            catch (HttpRequestException e)
            {
                heard.Doubt = e.Message;
                routes.Note(route, root, Attempt.Lost(e.Message));
            }

            if (backoff.Next() is not { } pause)
            {
                return heard.InDoubt();
            }

            await Task.Delay(pause, cancellation).ConfigureAwait(false);
        }
    }

    private TransactionReply GiveUp(RetryState heard, string id, CancellationToken cancellation)
    {
        cancellation.ThrowIfCancellationRequested();
        if (heard.MayHaveRun)
        {
            return heard.InDoubt();
        }

        if (heard.Last is not null)
        {
            return heard.Last;
        }

        ObjectDisposedException.ThrowIf(closing.IsCancellationRequested, typeof(SnapperClient));
        var abort = new AbortDetails(AbortReason.Timeout, "timeout", "all requests of this client were busy until its timeout; it was not sent", true, null);
        return new TransactionReply { Id = id, Outcome = TransactionOutcome.Aborted, Abort = abort };
    }
}
