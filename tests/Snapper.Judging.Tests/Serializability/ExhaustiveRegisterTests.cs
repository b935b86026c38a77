using Snapper.Judging.Histories;
using Snapper.Judging.Serializability;
using Xunit;

namespace Snapper.Judging.Tests.Serializability;

public sealed class ExhaustiveRegisterTests
{
    /// <summary>As <see cref="ExhaustiveTests"/>, over registers with versions. Every read tells its value: without it an in-doubt writer may be one of several, and nothing is told.</summary>
    [Fact]
    public void The_verdict_on_registers_is_that_of_trying_every_order()
    {
        var (right, wrong) = (0, 0);
        for (var seed = 0; seed < 30_000; seed++)
        {
            var random = new Random(seed);
            var transactions = SerialRegisters.Make(random, 2 + random.Next(4), random.Next(3) == 0 ? 3 : 1);
            Disturb(transactions, random);

            var expected = ExhaustiveOracle.IsStrictlySerializable(transactions);
            var report = SerializabilityChecker.Check(TextbookHistory.ToHistory(transactions));

            Assert.True(expected == report.Passed, $"seed {seed}: trying every order says {expected}\n{report}\n{string.Join('\n', transactions.Select(Text))}");
            (right, wrong) = expected ? (right + 1, wrong) : (right, wrong + 1);
        }

        Assert.True(right > 3000 && wrong > 3000, $"The test is lopsided: {right} right, {wrong} wrong.");
    }

    [Fact]
    public void Overlapping_but_serial_histories_of_registers_pass()
    {
        for (var seed = 0; seed < 100; seed++)
        {
            var report = SerializabilityChecker.Check(TextbookHistory.ToHistory(SerialRegisters.Make(new Random(seed), 300, 1 + seed % 5)));

            Assert.True(report.Passed, $"seed {seed}: {report}");
            Assert.True(report.Statistics.Reads > 100, $"seed {seed}: only {report.Statistics.Reads} reads, so the check proves nothing.");
        }
    }

    private static void Disturb(List<ObservedTransaction> transactions, Random random)
    {
        for (var changes = random.Next(3); changes > 0; changes--)
        {
            var index = random.Next(transactions.Count);
            var operations = transactions[index].Operations.ToArray();
            var at = random.Next(operations.Length);
            var (key, version, value) = (operations[at].Key, operations[at].Version, operations[at].Value);
            var donors = transactions.SelectMany(transaction => transaction.Operations).Where(other => other.Key == key && other.Version is not null).ToArray();
            var donor = donors.Length == 0 ? operations[at] : donors[random.Next(donors.Length)];
            if (operations[at].Kind == MicroOperationKind.ReadRegister && version is not null)
            {
                operations[at] = random.Next(4) switch
                {
                    0 => MicroOperation.ReadVersion(key, Math.Max(0, version.Value + random.Next(3) - 1), value),
                    1 => MicroOperation.ReadVersion(key, version, value + random.Next(2)),
                    _ => MicroOperation.ReadVersion(key, donor.Version, donor.Value),
                };
            }
            else if (operations[at].Kind == MicroOperationKind.Write && version is not null)
            {
                operations[at] = MicroOperation.Write(key, Math.Max(1, random.Next(2) == 0 ? donor.Version!.Value : version.Value + random.Next(3) - 1), value);
            }

            transactions[index] = transactions[index] with { Operations = operations, Invoked = transactions[index].Invoked - random.Next(10) };
        }
    }

    private static string Text(ObservedTransaction transaction) =>
        $"{transaction.Id} {transaction.Invoked}..{transaction.Completed} {transaction.Outcome}{(transaction.Parallel ? " parallel" : "")}: {string.Join("; ", transaction.Operations)}";
}
