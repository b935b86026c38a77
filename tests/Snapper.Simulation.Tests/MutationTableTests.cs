using Snapper.Mutations;

namespace Snapper.Simulation.Tests;

/// <summary>The table of mutations fits the sources. The verification build would say so, too, minutes later.</summary>
public sealed class MutationTableTests
{
    private const string Source = """
        if (a)
        {
            // Says why.
            b(); // and this

            c();
        }

        b();
        """;

    private static readonly MutationTable s_table =
        new(Path.Combine(RepositoryFolder.Path, "verification", "Snapper.Mutations", "Table"));

    [Fact]
    public void Each_anchor_occurs_once_in_the_sources()
    {
        var files = s_table.Projects.SelectMany(project =>
            s_table.Rewrite(project, Sources(project))).ToArray();
        Assert.NotEmpty(files);
        Assert.All(files, static file => Assert.Matches(@"\b(Mutation|Transition|ClusterTransition)\.", file.Text));
    }

    [Fact]
    public void Each_mutation_is_listed_and_has_a_place() =>
        Assert.All(s_table.Names(), static group => Assert.NotEmpty(group.Value));

    [Fact]
    public void The_product_names_no_mutation_and_counts_no_transition() =>
        Assert.Equal([],
            Directory.EnumerateFiles(Path.Combine(RepositoryFolder.Path, "src"), "*.cs", SearchOption.AllDirectories)
        .Where(static path =>
            !path.Contains("/obj/", StringComparison.Ordinal)
            && File.ReadAllText(path) is var text
                && (text.Contains("Mutation.", StringComparison.Ordinal)
                    || text.Contains("Transitions.", StringComparison.Ordinal))));

    [Fact]
    public void Comments_blank_lines_and_indentation_belong_to_no_anchor() => Assert.Equal(
        "#line 1 \"S.cs\"\nif (a)\n{\n    // Says why.\n\n#line 5 \"T\"\n    if (!Mutation.M)\n    {\n        b();\n    }\n#line 5 \"S.cs\"\n\n    c();\n}\n\nb();",
        Rewritten("# Why.\n\nmutation M\n- b();\n+ if (!Mutation.M)\n+ {\n+     b();\n+ }\n  c();\n"));

    [Theory]
    [InlineData("mutation M\n- b();\n+ Mutation.M;",
        "T(2): error MUTATION: the anchor of mutation M occurs more than once in S.cs, at lines 4 and 9: 'b();'")]
    [InlineData("mutation M\n- d();\n+ Mutation.M;",
        "T(2): error MUTATION: the anchor of mutation M does not occur in S.cs: 'd();' is not there")]
    [InlineData("mutation M\n  c();\n- b();\n+ Mutation.M;",
        "T(2): error MUTATION: the anchor of mutation M does not occur in S.cs: the lines from 'c();' on do not follow each other")]
    [InlineData("mutation M\n- c();\n+ Mutation.M;\nmutation N\n- c();\n+ Mutation.N;",
        "T(5): error MUTATION: mutation N removes a line of S.cs that another one removes: let one block hold both")]
    [InlineData("mutation M\n+ Mutation.M;", "T(1): error MUTATION: mutation M has no anchor")]
    [InlineData("mutation M\n- c();\n+ Mutation.N;",
        "T(1): error MUTATION: the header names M, and the added lines ask for N")]
    [InlineData("- c();", "T(1): error MUTATION: no 'mutation NAME' or 'mark NAME' stands before this line")]
    public void What_does_not_fit_is_named(string table, string message) =>
        Assert.Equal(message, Assert.Throws<TableException>(() => Rewritten(table)).Message);

    private static string Sources(string project) =>
        new[] { "src", "verification" }.Select(folder => Path.Combine(RepositoryFolder.Path, folder, project))
            .First(Directory.Exists);

    private static string Rewritten(string table)
    {
        var text = new SourceText("S.cs", Source);
        foreach (var edit in Edit.Read("T", table))
        {
            text.Add("T", edit);
        }

        return text.ToString();
    }
}
