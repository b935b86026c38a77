using Snapper.Judging.Histories;

namespace Snapper.Judging.Tests.Serializability;

/// <summary>
/// Makes histories of a correct system of registers: transactions that overlap but took effect one after the other. In-doubt ones know the value that they wrote,
/// not the version.
/// </summary>
internal static class SerialRegisters
{
    /// <param name="random">Decides everything.</param>
    /// <param name="count">Transactions.</param>
    /// <param name="gap">Versions rise by 1 up to this.</param>
    public static List<ObservedTransaction> Make(Random random, int count, int gap)
    {
        var registers = new Dictionary<string, (long Version, long? Value)>();
        var transactions = new List<ObservedTransaction>();
        var value = 0L;
        for (var index = 0; index < count; index++)
        {
            var outcome = random.Next(8) switch { 0 => ObservedOutcome.Aborted, 1 => ObservedOutcome.Unknown, _ => ObservedOutcome.Committed };
            var happens = outcome == ObservedOutcome.Committed || (outcome == ObservedOutcome.Unknown && random.Next(2) == 0);
            var operations = new List<MicroOperation>();
            var written = new Dictionary<string, (long Version, long? Value)>();
            for (var left = 1 + random.Next(3); left > 0; left--)
            {
                var key = random.Next(2) == 0 ? "x" : "y";
                if (random.Next(2) == 0 && !written.ContainsKey(key))
                {
                    var version = registers.GetValueOrDefault(key).Version + 1 + random.Next(gap);
                    written[key] = (version, ++value);
                    operations.Add(MicroOperation.Write(key, outcome == ObservedOutcome.Committed ? version : null, value));
                }
                else if (written.TryGetValue(key, out var own))
                {
                    operations.Add(MicroOperation.ReadVersion(key, random.Next(2) == 0 ? own.Version : null, own.Value));
                }
                else
                {
                    var seen = registers.GetValueOrDefault(key);
                    operations.Add(random.Next(10) == 0 ? MicroOperation.UnseenRead(key) : MicroOperation.ReadVersion(key, seen.Version, seen.Value ?? 0));
                }
            }

            foreach (var (key, made) in written)
            {
                registers[key] = happens ? made : registers.GetValueOrDefault(key);
            }

            transactions.Add(new ObservedTransaction
            {
                Id = $"t{index}",
                Invoked = 10 * index - random.Next(15),
                Completed = 10 * index + random.Next(15),
                Outcome = outcome,
                Operations = operations,
            });
        }

        return transactions;
    }
}
