using System.Globalization;
using System.Text;
using System.Text.Json;
using Snapper.Protocol.Identity;
using Snapper.Runtime.Door;
using Snapper.Simulation.Core;
using Snapper.Simulation.Running;
using Snapper.Judging.Bank;
using Snapper.Judging.Histories;

namespace Snapper.Simulation.Workloads;

/// <summary>SmallBank, the built-in actor type; judged by where the money is at the end.</summary>
internal sealed class BankWorkload(Scenario scenario) : IWorkload
{
    private static readonly AccountBalance s_initial = new(10_000, 10_000);

    private readonly List<BankOperation> _operations = [];
    private readonly Dictionary<string, AccountBalance> _final = new(StringComparer.Ordinal);
    private readonly SeededChance[] _chances = SeededChance.OfClients(scenario.Seed, ChanceOf.Bank, scenario.Clients);

    public PlannedTransaction Next(int client, int number)
    {
        var chance = _chances[client];
        var plan = Draw(chance, client, number);
        DeclaredAccess[]? access = null;
        if (chance.Percent(scenario.PactPercent))
        {
            var calls = new Dictionary<string, int>(StringComparer.Ordinal) { [plan.Account] = 1 };
            foreach (var to in plan.To)
            {
                calls[to] = calls.GetValueOrDefault(to) + 1;
            }

            access = calls.Select(c => new DeclaredAccess(Key(c.Key), c.Value)).ToArray();
        }

        var request = new TransactionRequest
        {
            Actor = Key(plan.Account),
            Method = plan.Method.ToString(),
            Input = Input(plan),
            Mode = access is null ? TransactionMode.Act : TransactionMode.Pact,
            Access = access,
            Id = chance.Percent(scenario.KeyedPercent) ? plan.Id : null,
            Timeout = PlannedTransaction.DrawTimeout(chance),
        };
        return new PlannedTransaction(client, number, request, plan);
    }

    public void Observe(PlannedTransaction transaction, ObservedOutcome verdict, TransactionEnvelope? envelope, long invoked, long completed)
    {
        if (transaction.Client == scenario.Clients)
        {
            NoteFinal(transaction, verdict, envelope);
            return;
        }

        _operations.Add((BankOperation)transaction.Plan with
        {
            Outcome = verdict,
            Result = verdict == ObservedOutcome.Committed ? Result(envelope!) : null,
        });
    }

    public IEnumerable<PlannedTransaction> Last()
    {
        for (var i = 0; i < Accounts; i++)
        {
            yield return new PlannedTransaction(scenario.Clients, i, new TransactionRequest
            {
                Actor = Key(Name(i)),
                Method = "Balance",
                Mode = TransactionMode.Pact,
                Access = [new DeclaredAccess(Key(Name(i)), 1)],
                Timeout = TimeSpan.FromSeconds(5),
            }, Name(i));
        }
    }

    public IEnumerable<string> Judge()
    {
        var report = BankChecker.Check(_operations, s_initial, _final);
        return report.Passed ? [] : [report.ToString()];
    }

    public bool Shows(TransactionEnvelope look, string state)
    {
        using var seen = JsonDocument.Parse(look.Result);
        using var kept = JsonDocument.Parse(state);
        return seen.RootElement.GetProperty("checking").GetDecimal() == kept.RootElement.GetProperty("checking").GetDecimal()
            && seen.RootElement.GetProperty("savings").GetDecimal() == kept.RootElement.GetProperty("savings").GetDecimal();
    }

    private int Accounts => Math.Max(2, scenario.Actors);

    private void NoteFinal(PlannedTransaction transaction, ObservedOutcome verdict, TransactionEnvelope? envelope)
    {
        if (verdict == ObservedOutcome.Committed)
        {
            using var json = JsonDocument.Parse(envelope!.Result);
            _final[(string)transaction.Plan] = new AccountBalance(
                json.RootElement.GetProperty("checking").GetDecimal(), json.RootElement.GetProperty("savings").GetDecimal());
        }
    }

    private BankOperation Draw(SeededChance chance, int client, int number)
    {
        var method = chance.Next(10) switch
        {
            0 => BankMethod.Balance,
            1 => BankMethod.DepositChecking,
            2 => BankMethod.TransactSavings,
            3 => BankMethod.WriteCheck,
            4 => BankMethod.Amalgamate,
            5 => BankMethod.SendPayment,
            6 => BankMethod.Transfer,
            _ => BankMethod.MultiTransfer,
        };
        var account = Name(chance.Next(Accounts));
        string[] to = [];
        switch (method)
        {
            case BankMethod.Amalgamate or BankMethod.SendPayment or BankMethod.Transfer:
                to = [Name(chance.Next(Accounts))];
                break;
            case BankMethod.MultiTransfer:
                to = new string[chance.Between(1, 4)];
                for (var i = 0; i < to.Length; i++)
                {
                    to[i] = Name(chance.Next(Accounts));
                }

                break;
        }

        return new BankOperation
        {
            Id = string.Create(CultureInfo.InvariantCulture, $"b{client}-{number}"),
            Method = method,
            Account = account,
            To = to,
            Amount = method is BankMethod.Balance or BankMethod.Amalgamate ? 0 : chance.Percent(scenario.AbortPercent) ? 50_000 : chance.Between(1, 900),
            Outcome = ObservedOutcome.Unknown,
        };
    }

    private static byte[] Input(BankOperation plan)
    {
        var amount = plan.Amount.ToString(CultureInfo.InvariantCulture);
        return Encoding.UTF8.GetBytes(plan.Method switch
        {
            BankMethod.Balance => "null",
            BankMethod.Amalgamate => $"{{\"to\":\"{plan.To[0]}\"}}",
            BankMethod.SendPayment or BankMethod.Transfer => $"{{\"to\":\"{plan.To[0]}\",\"amount\":{amount}}}",
            BankMethod.MultiTransfer => $"{{\"to\":[\"{string.Join("\",\"", plan.To)}\"],\"amount\":{amount}}}",
            _ => $"{{\"amount\":{amount}}}",
        });
    }

    private static decimal Result(TransactionEnvelope envelope)
    {
        using var json = JsonDocument.Parse(envelope.Result);
        return json.RootElement.ValueKind == JsonValueKind.Object
            ? json.RootElement.GetProperty("total").GetDecimal()
            : json.RootElement.GetDecimal();
    }

    private static string Name(int number) => string.Create(CultureInfo.InvariantCulture, $"b{number}");

    private static ActorKey Key(string account) => new("Account", account);
}
