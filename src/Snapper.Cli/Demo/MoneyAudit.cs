using System.Diagnostics;
using System.Text.Json;
using Snapper.Client.Messages;
using Snapper.Protocol.Identity;

namespace Snapper.Cli.Demo;

/// <summary>Counts the money with <c>Balance</c> transactions, exactly.</summary>
internal sealed class MoneyAudit(DemoSettings settings, Bank bank)
{
    private const int PerRequest = 100;

    private sealed record Amounts(decimal? Checking, decimal? Savings, decimal? Total);

    /// <summary>The sum over all accounts. Meaningful while nothing else moves money between them and others.</summary>
    /// <exception cref="BalanceUnreadableException">A balance cannot be read now.</exception>
    /// <exception cref="DemoFailedException">An answer outside the contract.</exception>
    public async Task<decimal> Total(CancellationToken cancellation)
    {
        var total = 0m;
        var open = new Queue<string>(Enumerable.Range(0, settings.Accounts).Select(DemoSettings.Account));
        var started = Stopwatch.GetTimestamp();
        while (open.Count > 0)
        {
            var accounts = Enumerable.Range(0, Math.Min(PerRequest, open.Count)).Select(_ => open.Dequeue()).ToArray();
            var replies = await Task.WhenAll(accounts.Select(account => bank.Submit(Balance(account), PerRequest, cancellation)));
            var failed = 0;
            foreach (var (account, reply) in accounts.Zip(replies))
            {
                if (reply.Outcome == TransactionOutcome.Committed)
                {
                    total += Sum(account, reply);
                    continue;
                }

                failed++;
                open.Enqueue(account);
                if (Stopwatch.GetElapsedTime(started) > settings.ReadWithin)
                {
                    throw new BalanceUnreadableException($"the balance of {account} cannot be read: {PhaseTally.Words(reply)}");
                }
            }

            if (failed > 0) await Task.Delay(250, cancellation);
        }

        return total;
    }

    private static decimal Sum(string account, TransactionReply reply)
    {
        try
        {
            if (reply.ResultAs<Amounts>() is not { Checking: { } checking, Savings: { } savings, Total: { } total })
            {
                throw new DemoFailedException($"the balance of {account} lacks an amount");
            }

            return checking + savings == total ? total
                : throw new DemoFailedException($"the balance of {account} does not add up: {checking} + {savings} is not {total}");
        }
        catch (JsonException nonsense)
        {
            throw new DemoFailedException($"the balance of {account} is none: {nonsense.Message}");
        }
    }

    private TransactionRequestMessage Balance(string account) => new()
    {
        Actor = new ActorKey("Account", account),
        Method = "Balance",
        Mode = TransactionMode.Pact,
        Access = [new ActorCalls("Account", account, 1)],
        Timeout = settings.ReadWithin,
    };
}
