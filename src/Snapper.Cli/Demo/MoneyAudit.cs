using System.Diagnostics;
using System.Text.Json;
using System.Text.Json.Nodes;

namespace Snapper.Cli.Demo;

/// <summary>Counts the money with <c>Balance</c> transactions, exactly.</summary>
internal sealed class MoneyAudit(DemoSettings settings, BankClient bank)
{
    private const int PerRequest = 100;

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
            var answers = await bank.Submit([.. accounts.Select(Balance)], cancellation);
            var failed = 0;
            for (var i = 0; i < accounts.Length; i++)
            {
                if (answers[i] is { Outcome: "committed", Result: { } result })
                {
                    total += Sum(accounts[i], result);
                }
                else
                {
                    failed++;
                    open.Enqueue(accounts[i]);
                    if (Stopwatch.GetElapsedTime(started) > settings.ReadWithin) throw new BalanceUnreadableException($"the balance of {accounts[i]} cannot be read: {answers[i].Outcome} {answers[i].Reason}".TrimEnd());
                }
            }

            if (failed > 0) await Task.Delay(250, cancellation);
        }

        return total;
    }

    private static decimal Sum(string account, JsonElement balance)
    {
        decimal Amount(string name) =>
            balance.ValueKind == JsonValueKind.Object && balance.TryGetProperty(name, out var field) && field.ValueKind == JsonValueKind.Number && field.TryGetDecimal(out var amount)
                ? amount
                : throw new DemoFailedException($"the balance of {account} has no amount '{name}': {balance}");

        var (checking, savings, total) = (Amount("checking"), Amount("savings"), Amount("total"));
        return checking + savings == total ? total : throw new DemoFailedException($"the balance of {account} does not add up: {checking} + {savings} is not {total}");
    }

    private static JsonObject Balance(string account) => new()
    {
        ["actor"] = new JsonObject { ["type"] = "Account", ["id"] = account },
        ["method"] = "Balance",
        ["mode"] = "pact",
        ["access"] = new JsonObject { ["Account"] = new JsonObject { [account] = 1 } },
    };
}
