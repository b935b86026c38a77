using System.Collections.Concurrent;
using System.Diagnostics;
using Snapper.Live.Harness;
using Snapper.Judging.Bank;
using Snapper.Judging.Histories;

namespace Snapper.Live.Load;

/// <summary>Concurrent clients that move money between a few accounts, and a list of what became of each transaction.</summary>
internal sealed class BankLoad(SnapperClient client, LoadOptions options, string name)
{
    private static readonly AccountBalance Initial = new(10_000, 10_000);

    private readonly Submitter _submitter = new(client, options.Patience, options.Impatience);
    private readonly string[] _accounts = [.. Enumerable.Range(0, options.HotKeys).Select(index => $"{name}.{index}")];
    private int _sent;
    private int _ids;

    public ConcurrentQueue<BankOperation> Operations { get; } = new();

    public ConcurrentDictionary<string, int> Outcomes { get; } = new();

    /// <summary>Ids of acknowledged commits with their results and when they were acknowledged, for asking again later.</summary>
    public ConcurrentDictionary<string, (string Result, long At)> Committed { get; } = new();

    /// <summary>Commits that a loss has taken, once judged.</summary>
    public int Lost { get; private set; }

    public Submitter Submitter => _submitter;

    public IReadOnlyList<string> AccountNames => _accounts;

    public Task Run(CancellationToken stop = default) => Task.WhenAll(Enumerable.Range(0, options.Clients).Select(process => Task.Run(() => RunClient(process, stop), CancellationToken.None)));

    /// <summary>Asks for all balances when all is quiet, and judges the money.</summary>
    /// <param name="loss">What need not be there; null: all must be.</param>
    public async Task<BankReport> Judge(Loss? loss = null)
    {
        var final = new Dictionary<string, AccountBalance>();
        foreach (var account in _accounts)
        {
            var transaction = Accounts.Balance(account).Act() with { RequestId = $"final-{account}" };
            var decision = await _submitter.Run(transaction, Door.Direct, 0);
            if (decision.Outcome != ObservedOutcome.Committed)
            {
                throw new InvalidOperationException($"The balance of {account} cannot be read: {decision.Answer}");
            }

            var result = decision.Answer.Result;
            final[account] = new AccountBalance(result.GetProperty("checking").GetDecimal(), result.GetProperty("savings").GetDecimal());
        }

        var operations = new List<BankOperation>();
        foreach (var operation in Operations)
        {
            var fate = operation.Outcome == ObservedOutcome.Committed && Committed[operation.Id] is var told && loss?.Covers(told.At) == true
                ? await Acknowledged.FateOf(client, operation.Id, told.Result) : Fate.AsTold;
            if (fate == Fate.Gone)
            {
                Lost++;
            }
            else
            {
                operations.Add(fate == Fate.AsTold ? operation : operation with { Outcome = ObservedOutcome.Unknown, Result = null });
            }
        }

        return BankChecker.Check(operations, Initial, final);
    }

    public string Describe(BankReport? report = null) =>
        $"seed {options.Seed}: {string.Join(", ", Outcomes.OrderBy(pair => pair.Key).Select(pair => $"{pair.Value} {pair.Key}"))}; " +
        $"{_submitter.Repeats} repeats, {_submitter.Lookups} lookups\n{report}";

    private async Task RunClient(int process, CancellationToken stop)
    {
        var random = new Random(unchecked((options.Seed * 397) ^ (process * 7919) ^ 1));
        while (!stop.IsCancellationRequested && Interlocked.Increment(ref _sent) <= (options.Transactions ?? int.MaxValue))
        {
            await options.Think(random);
            var (transaction, operation) = Next(random, process);
            var decision = await _submitter.Run(transaction, options.Doors[random.Next(options.Doors.Count)], random.Next(2));
            Outcomes.AddOrUpdate(decision.Label, 1, (_, count) => count + 1);
            if (decision.Outcome == ObservedOutcome.Committed)
            {
                Committed[operation.Id] = (decision.Answer.Result.GetRawText(), Stopwatch.GetTimestamp());
                operation = operation with { Result = operation.Method == BankMethod.Balance ? decision.Answer.Result.GetProperty("total").GetDecimal() : decision.Answer.Result.GetDecimal() };
            }

            Operations.Enqueue(operation with { Outcome = decision.Outcome });
        }
    }

    private (Transaction Transaction, BankOperation Operation) Next(Random random, int process)
    {
        var account = Choose(random);
        var to = Enumerable.Range(0, 3).Select(_ => Choose(random)).ToArray();
        decimal amount = random.Next(10) == 0 ? 9_000 : random.Next(100);
        var method = random.Next(10) switch
        {
            0 => BankMethod.Balance,
            1 => BankMethod.DepositChecking,
            2 => BankMethod.TransactSavings,
            3 => BankMethod.WriteCheck,
            4 => BankMethod.Amalgamate,
            5 => BankMethod.SendPayment,
            6 or 7 => BankMethod.Transfer,
            _ => BankMethod.MultiTransfer,
        };
        (Transaction Transaction, string[] To) planned = method switch
        {
            BankMethod.Balance => (Accounts.Balance(account), []),
            BankMethod.Amalgamate => (Accounts.Amalgamate(account, to[0]), to[..1]),
            BankMethod.SendPayment or BankMethod.Transfer => (Accounts.Transfer(account, to[0], amount, method.ToString()), to[..1]),
            BankMethod.MultiTransfer => (Accounts.MultiTransfer(account, to, amount), to),
            _ => (Accounts.Amount(method.ToString(), account, amount), []),
        };
        var pact = random.NextDouble() < options.PactShare;
        var id = $"{name}-{process}-{Interlocked.Increment(ref _ids)}";
        return (
            (pact ? planned.Transaction.Pact(planned.To) : planned.Transaction.Act()) with { RequestId = id },
            new BankOperation
            {
                Id = id,
                Method = method,
                Account = account,
                To = planned.To,
                Amount = method is BankMethod.Balance or BankMethod.Amalgamate ? 0 : amount,
                Outcome = ObservedOutcome.Unknown,
            });
    }

    private string Choose(Random random) => _accounts[random.Next(_accounts.Length)];
}
