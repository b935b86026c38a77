using Snapper.Judging.Histories;
using Snapper.Judging.Serializability;
using Xunit;

namespace Snapper.Judging.Tests.Serializability;

public sealed class ExhaustiveTests
{
    /// <summary>
    /// The checker says yes exactly when some serial order explains the history. Small histories from a serial run get random changes, so
    /// that about half of them are wrong, in ways that nobody thought of.
    /// </summary>
    [Fact]
    public void The_verdict_is_that_of_trying_every_order()
    {
        var (right, wrong) = (0, 0);
        for (var seed = 0; seed < 30_000; seed++)
        {
            var random = new Random(seed);
            var transactions = Make(random);
            Disturb(transactions, random);
            var history = new History();
            transactions.ForEach(history.Add);

            var expected = ExhaustiveOracle.IsStrictlySerializable(transactions);
            var report = SerializabilityChecker.Check(history);

            Assert.True(expected == report.Passed, $"seed {seed}: trying every order says {expected}\n{report}\n{string.Join('\n', transactions.Select(Text))}");
            (right, wrong) = expected ? (right + 1, wrong) : (right, wrong + 1);
        }

        Assert.True(right > 3000 && wrong > 3000, $"The test is lopsided: {right} right, {wrong} wrong.");
    }

    private static List<ObservedTransaction> Make(Random random)
    {
        var lists = new Dictionary<string, List<long>> { ["x"] = [], ["y"] = [] };
        var transactions = new List<ObservedTransaction>();
        var value = 0L;
        for (var index = 0; index < 2 + random.Next(4); index++)
        {
            var operations = new List<MicroOperation>();
            var outcome = random.Next(8) switch { 0 or 7 => ObservedOutcome.Aborted, 1 => ObservedOutcome.Unknown, _ => ObservedOutcome.Committed };
            var readsCount = outcome == ObservedOutcome.Aborted && random.Next(2) == 0;
            for (var count = 1 + random.Next(3); count > 0; count--)
            {
                var key = random.Next(2) == 0 ? "x" : "y";
                if (random.Next(2) == 0)
                {
                    operations.Add(MicroOperation.Append(key, ++value));
                    if (outcome == ObservedOutcome.Committed || (outcome == ObservedOutcome.Unknown && random.Next(2) == 0))
                    {
                        lists[key].Add(value);
                    }
                }
                else
                {
                    operations.Add(random.Next(10) == 0 ? MicroOperation.UnseenRead(key) : MicroOperation.Read(
                        key, [.. lists[key], .. readsCount ? operations.Where(own => own.IsAppend && own.Key == key).Select(own => own.Value) : []]));
                }
            }

            transactions.Add(new ObservedTransaction
            {
                Id = $"t{index}",
                Invoked = 10 * index - random.Next(15),
                Completed = 10 * index + random.Next(15),
                Outcome = outcome,
                ReadsCount = readsCount,
                Parallel = random.Next(6) == 0,
                Operations = operations,
            });
        }

        return transactions;
    }

    private static void Disturb(List<ObservedTransaction> transactions, Random random)
    {
        for (var changes = random.Next(3); changes > 0; changes--)
        {
            var index = random.Next(transactions.Count);
            var transaction = transactions[index];
            var operations = transaction.Operations.ToArray();
            var at = random.Next(operations.Length);
            if (operations[at] is { IsAppend: false, List: { Count: > 0 } list } read)
            {
                operations[at] = MicroOperation.Read(read.Key, random.Next(4) == 0 ? [.. list.Reverse()] : [.. list.Take(random.Next(list.Count))]);
            }
            else
            {
                random.Shuffle(operations);
            }

            transactions[index] = transaction with { Operations = operations, Invoked = transaction.Invoked - random.Next(10) };
        }
    }

    private static string Text(ObservedTransaction transaction) =>
        $"{transaction.Id} {transaction.Invoked}..{transaction.Completed} {transaction.Outcome}{(transaction.ReadsCount ? " its reads count" : "")}{(transaction.Parallel ? " parallel" : "")}: {string.Join("; ", transaction.Operations)}";
}
