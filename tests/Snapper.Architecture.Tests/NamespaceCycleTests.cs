using ArchUnitNET.Fluent.Slices;
using ArchUnitNET.Loader;
using Xunit;

namespace Snapper.Architecture.Tests;

/// <summary>
/// Namespaces of a product project refer to each other one way (DESIGN.md section 3). The project's root
/// namespace is its door and may refer to all of them.
/// </summary>
public sealed class NamespaceCycleTests
{
    /// <summary>
    /// Projects that have cycles; the list may only shrink. (What is Snapper.Cluster was a part of Snapper.Runtime.)
    /// </summary>
    private static readonly string[] s_open = ["Snapper.Cluster", "Snapper.Runtime"];

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
        var results = SliceRuleDefinition.Slices().Matching(project + ".(**)").Should().BeFreeOfCycles()
            .Evaluate(architecture).Where(static result => !result.Passed)
            .Select(static result => result.Description).ToArray();
        if (s_open.Contains(project))
        {
            Assert.True(results.Length > 0, $"{project} has no cycle any more: take it out of the list.");
            return;
        }

        Assert.True(results.Length == 0, string.Join('\n', results));
    }
}
