using System.Text;
using Snapper.Fuzzing.Engine;

namespace Snapper.Simulation.Tests.Fuzzing;

/// <summary>Every kept input, and a short run of new ones, on every target.</summary>
public sealed class TargetTests
{
    /// <summary>Of so few inputs, drawn anew each time, all may have one outcome.</summary>
    private const int FewerMayBeAlike = 30;

    private static readonly TimeSpan ShortRunEndsAfter = TimeSpan.FromSeconds(5);

    public static TheoryData<string> Targets => [.. FuzzTargets.Names];

    [Theory]
    [MemberData(nameof(Targets))]
    public void Kept_inputs_and_a_few_new_ones_bring_out_nothing_but_clear_errors(string name)
    {
        using var target = FuzzTargets.Create(name);
        if (target.Lacks is { } lacks)
        {
            Assert.True(Environment.GetEnvironmentVariable("CI") != "true", $"{name}: {lacks}");
            return;
        }

        foreach (var (file, input) in Corpus.Of(name))
        {
            var failure = FuzzRun.One(target, input).Failure;
            Assert.True(failure is null, $"{name}/{file}: {failure}");
        }

        var seed = Environment.TickCount & int.MaxValue;
        var report = FuzzRun.Execute(target, [], new FuzzOptions(seed, target.ShortRun, ShortRunEndsAfter));

        Assert.True(
            report.Findings.Count == 0,
            $"seed {seed}; write each input to a file in verification/Snapper.Fuzzing/Corpus/{name} to keep it\n{string.Join('\n', report.Findings.Select(one => $"{one.What}\n{Text(one.Input)}"))}");
        Assert.True(report.Outcomes > 1 || report.Inputs < FewerMayBeAlike, $"{report.Inputs} inputs had {report.Outcomes} outcomes: the target tests nothing.");
    }

    private static string Text(byte[] input) => input.Any(one => one is < 9 or > 126) ? $"base64 {Convert.ToBase64String(input)}" : Encoding.ASCII.GetString(input);

    [Theory]
    [MemberData(nameof(Targets))]
    public void Kept_inputs_are_small_and_named(string name)
    {
        var kept = Corpus.Of(name);
        Assert.NotEmpty(kept);
        Assert.All(kept, one => Assert.InRange(one.Input.Length, 1, Corpus.FileBytesMax));
        Assert.All(kept, one => Assert.Matches("^[a-z0-9-]+\\.(txt|bin)$", one.Name));
    }
}
