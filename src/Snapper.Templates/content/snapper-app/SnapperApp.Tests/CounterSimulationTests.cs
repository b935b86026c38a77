using Snapper.Actors.Generated;
using Snapper.Runtime.Door;
using Snapper.Simulation.Core;
using Snapper.Simulation.OwnActors;
using Xunit;

namespace SnapperApp.Tests;

/// <summary>Runs the counters in simulated worlds, in which workers crash, logs fail and requests are lost.</summary>
public sealed class CounterSimulationTests
{
    [Fact]
    public void No_move_is_done_by_half() => ActorSimulator.Check(() => new Moves(), seeds: 50);

    private sealed class Moves : ActorWorkload
    {
        private const int Counters = 3;

        public override IReadOnlyList<ActorTypeDescriptor> ActorTypes => TypesOf(typeof(Counter).Assembly);

        public override TransactionRequest Next(SeededChance chance, int client, int number)
        {
            var (from, to) = ($"c{chance.Next(Counters)}", $"c{chance.Next(Counters)}");
            return chance.Percent(40) ? Act("Counter", from, "Add", 10)
                : chance.Percent(50) ? Act("Counter", from, "MoveTo", new Move(to, 3))
                : Pact("Counter", from, "MoveTo", new Move(to, 3), Calls("Counter", to));
        }

        public override IEnumerable<TransactionRequest> Last() =>
            Enumerable.Range(0, Counters).Select(i => Act("Counter", $"c{i}", "Read"));

        public override IEnumerable<string> Judge(ActorRun run)
        {
            var sum = run.Last.Sum(look => look.Result<int>());
            if (sum % 10 != 0)
            {
                yield return $"{sum} in all, where each Add was 10: a MoveTo was done by half.";
            }
        }
    }
}
