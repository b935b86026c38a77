using Snapper.Client.Messages;
using Snapper.Scenarios.Targets;

namespace Snapper.Scenarios.Workloads;

/// <summary>What became of transactions that got no answer.</summary>
internal static class Outcomes
{
    private static readonly TimeSpan s_within = TimeSpan.FromSeconds(15);

    /// <summary>Asks until it is decided.</summary>
    /// <returns>Committed, or aborted for good; null: neither is known, so it may have committed.</returns>
    public static async Task<TransactionReply?> Ask(ILoadTarget target, string id, CancellationToken cancellation)
    {
        var until = Environment.TickCount64 + (long)s_within.TotalMilliseconds;
        while (Environment.TickCount64 < until)
        {
            try
            {
                var reply = await target.Find(id, cancellation).ConfigureAwait(false);
                switch (reply)
                {
                    case null:
                        return null; // no decision: it may have been forgotten
                    case { Outcome: TransactionOutcome.Committed } or { Outcome: TransactionOutcome.Aborted, Abort.IsRetryable: false }:
                        return reply;
                    case { Outcome: TransactionOutcome.Aborted }:
                        return null; // a copy of it may still run
                }
            }
            catch (HttpRequestException)
            {
                // Whoever knows it may just be starting; at the deadline it stays unknown, which the checks allow for.
            }

            await Task.Delay(100, cancellation).ConfigureAwait(false);
        }

        return null;
    }

    /// <summary>An outcome in words.</summary>
    public static string Describe(TransactionReply reply) => reply switch
    {
        { Abort: { } abort } => $"aborted ({abort.ReasonName}): {abort.Message}",
        { Rejection: { } rejection } => $"refused ({rejection.Status}): {rejection.Detail}",
        { Doubt: { } doubt } => $"in doubt: {doubt}",
        _ => reply.Outcome.ToString(),
    };
}
