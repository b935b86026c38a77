using System.Text.RegularExpressions;
using Snapper.Simulation.Core;

namespace Snapper.Simulation.Tests.Core;

public sealed class SeededChanceTests
{
    /// <summary>Two that draw the same numbers are not two: what one chooses would go with what the other chooses in every run.</summary>
    [Theory]
    [InlineData(0)]
    [InlineData(1)]
    [InlineData(ulong.MaxValue)]
    public void Streams_of_one_seed_are_distinct(ulong seed)
    {
        var drawn = new Dictionary<ulong, string>();
        foreach (var concern in Enum.GetValues<ChanceOf>())
        {
            foreach (var number in Enumerable.Range(0, 200).Select(n => (uint)n).Append(uint.MaxValue))
            {
                var chance = SeededChance.For(seed, concern, number);
                for (var i = 0; i < 20; i++)
                {
                    var bits = chance.NextBits();
                    Assert.True(drawn.TryAdd(bits, $"{concern} {number}"), $"{concern} {number} draws what {drawn.GetValueOrDefault(bits)} draws.");
                }
            }
        }
    }

    [Fact]
    public void Concerns_have_different_numbers() => Assert.Equal(Enum.GetNames<ChanceOf>().Length, Enum.GetValues<ChanceOf>().Distinct().Count());

    /// <summary>Distinct names do not help where two use the same one: in the world of one worker, with what both worlds use, or in that of several.</summary>
    [Fact]
    public void Each_concern_is_drawn_from_at_one_place()
    {
        var several = $"{Path.DirectorySeparatorChar}Cluster{Path.DirectorySeparatorChar}";
        var uses = Directory.EnumerateFiles(Path.Combine(RepositoryFolder.Path, "verification", "Snapper.Simulation"), "*.cs", SearchOption.AllDirectories)
            .Where(file => Path.GetFileName(file) != "ChanceOf.cs" && !file.Contains($"{Path.DirectorySeparatorChar}obj{Path.DirectorySeparatorChar}", StringComparison.Ordinal))
            .SelectMany(file => Regex.Matches(File.ReadAllText(file), @"ChanceOf\.(\w+)(, \d+)?").Select(match => (IsOfSeveral: file.Contains(several, StringComparison.Ordinal), Name: match.Groups[1].Value, Number: match.Groups[2].Value)))
            .ToList();
        var ofOne = Names(isOfSeveral: false);
        var ofSeveral = Names(isOfSeveral: true);

        Assert.Equal(ofOne.Distinct(), ofOne);
        Assert.Equal(ofSeveral.Distinct(), ofSeveral);
        Assert.Equal(Enum.GetNames<ChanceOf>().Order(StringComparer.Ordinal), uses.Select(use => use.Name).Distinct().Order(StringComparer.Ordinal));

        List<string> Names(bool isOfSeveral) => [.. uses.Where(use => use.IsOfSeveral == isOfSeveral)
            .Select(use => use.Name + use.Number).Order(StringComparer.Ordinal)];
    }
}
