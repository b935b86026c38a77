using ArchUnitNET.Fluent.Slices;
using ArchUnitNET.Loader;
using Xunit;

namespace Snapper.Architecture.Tests;

/// <summary>
/// Namespaces of a product project refer to each other one way (DESIGN.md section 3).
/// </summary>
public sealed class NamespaceCycleTests
{
    /// <summary>
    /// Projects whose root namespace has what all others use, and their door, too; the list may only shrink.
    /// </summary>
    private static readonly string[] s_rootApart =
        ["Snapper.Actors", "Snapper.Client", "Snapper.Generators", "Snapper.Protocol"];

    /// <summary>The product's assemblies beside this test.</summary>
    public static TheoryData<string> Projects()
    {
        var names = Directory.GetFiles(AppContext.BaseDirectory, "Snapper.*.dll")
            .Select(Path.GetFileNameWithoutExtension)
            .Where(static name => !name!.EndsWith(".Tests", StringComparison.Ordinal)).Order(StringComparer.Ordinal);
        return new TheoryData<string>(names!);
    }

    [Theory]
    [MemberData(nameof(Projects))]
    public void Namespaces_of_a_project_have_no_cycle(string project)
    {
        var architecture = new ArchLoader().LoadAssembly(
            System.Reflection.Assembly.LoadFrom(Path.Combine(AppContext.BaseDirectory, project + ".dll"))).Build();
        var slices = project + (s_rootApart.Contains(project) ? ".(**)" : "(**)");
        var results = SliceRuleDefinition.Slices().Matching(slices).Should().BeFreeOfCycles()
            .Evaluate(architecture).Where(static result => !result.Passed)
            .Select(static result => result.Description).ToArray();
        Assert.True(results.Length == 0, string.Join('\n', results));
    }
}
