using System.Text;
using Snapper.Fuzzing.Engine;
using Snapper.Terminal;

namespace Snapper.Simulation.Tests.Fuzzing;

/// <summary>The loop finds what is there to be found, shrinks it, and does the same again under the same seed.</summary>
public sealed class EngineTests
{
    [Fact]
    public void A_bug_behind_three_steps_is_found_and_shrunk_to_what_it_needs()
    {
        using var target = new StepsTarget();
        var report = FuzzRun.Execute(target, [], new FuzzOptions(1, 200_000, TimeSpan.FromMinutes(1)));

        var finding = Assert.Single(report.Findings);
        Assert.Equal("abc", Encoding.ASCII.GetString(finding.Input));
        Assert.Contains("the third step", finding.What, StringComparison.Ordinal);
    }

    [Fact]
    public void The_same_seed_tries_the_same_inputs()
    {
        static List<string> Tried(int seed)
        {
            using var target = new StepsTarget { Fails = false };
            FuzzRun.Execute(target, [], new FuzzOptions(seed, 500, TimeSpan.FromMinutes(1)));
            return target.Tried;
        }

        Assert.Equal(Tried(7), Tried(7));
        Assert.NotEqual(Tried(7), Tried(8));
    }

    [Fact]
    public void An_input_that_hangs_is_reported()
    {
        using var target = new HangingTarget();
        var report = FuzzRun.Execute(target, [], new FuzzOptions(1, 10, TimeSpan.FromMinutes(1)) { HangsAfter = TimeSpan.FromMilliseconds(300) });
        target.Go.Set();

        Assert.Contains("had not ended", Assert.Single(report.Findings).What, StringComparison.Ordinal);
    }

    [Fact]
    public void Outcomes_that_differ_in_numbers_and_quoted_words_alone_are_one() =>
        Assert.Equal(Signature.Of("Record 7 holds 'x' where 12 are left."), Signature.Of("Record 71 holds 'yy' where 3 are left."));

    [Theory]
    [InlineData("--fuzz", "nothing")]
    [InlineData("--fuzz", "--runs", "0")]
    [InlineData("--fuzz", "--input", "x")]
    [InlineData("--fuzz", "--nope")]
    [InlineData("--fuzz", "records", "--seed")]
    public async Task Wrong_arguments_are_a_usage_error(params string[] arguments) =>
        Assert.Equal(2, await CommandLines.Run(FuzzCommand.Of(CancellationToken.None), arguments, TextWriter.Null, TextWriter.Null));

    /// <summary>Fails once an input begins with a, b and c; each step is an outcome of its own, so that guidance leads there.</summary>
    private sealed class StepsTarget : FuzzTarget
    {
        public bool Fails { get; init; } = true;

        public List<string> Tried { get; } = [];

        public override string Name => "steps";

        public override string Attacks => "a text";

        public override byte[] Generate(Random random) => Encoding.ASCII.GetBytes(new string((char)random.Next('a', 'z' + 1), random.Next(3, 9)));

        public override byte[] Mutate(byte[] input, byte[] other, Random random)
        {
            var changed = (byte[])input.Clone();
            changed[random.Next(changed.Length)] = (byte)random.Next('a', 'z' + 1);
            return changed;
        }

        public override string Run(byte[] input)
        {
            Tried.Add(Encoding.ASCII.GetString(input));
            var steps = 0;
            while (steps < 3 && steps < input.Length && input[steps] == "abc"u8[steps])
            {
                steps++;
            }

            return steps == 3 && Fails ? throw new FuzzFailureException("Here is the third step.") : new string('x', steps);
        }
    }

    private sealed class HangingTarget : FuzzTarget
    {
        public ManualResetEventSlim Go { get; } = new();

        public override string Name => "hangs";

        public override string Attacks => "nothing";

        public override byte[] Generate(Random random) => [1];

        public override byte[] Mutate(byte[] input, byte[] other, Random random) => [1];

        public override string Run(byte[] input)
        {
            Go.Wait();
            return "";
        }
    }
}
