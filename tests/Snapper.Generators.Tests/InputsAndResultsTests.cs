namespace Snapper.Generators.Tests;

public sealed class InputsAndResultsTests
{
    private const string Types = """
        public sealed record Fixed(int A, ImmutableArray<string> B);
        public sealed record Open(int A, List<string> B);
        """;

    [Theory]
    [InlineData("Task Do()", true, true)]
    [InlineData("Task<int?> Do(string? input)", true, true)]
    [InlineData("Task<decimal> Do(DayOfWeek input)", true, true)]
    [InlineData("Task<Fixed?> Do((int, Fixed) input)", true, true)]
    [InlineData("Task<ImmutableList<Fixed>> Do(Fixed input)", true, true)]
    [InlineData("Task<List<int>> Do(Fixed input)", true, false)]
    [InlineData("Task<IReadOnlyList<int>> Do()", true, false)]
    [InlineData("Task<ImmutableArray<Open>> Do(int input)", true, false)]
    [InlineData("Task<object> Do(Guid input)", true, false)]
    [InlineData("Task Do(Open input)", false, true)]
    [InlineData("Task<Fixed> Do(Fixed[] input)", false, true)]
    [InlineData("Task<Dictionary<string, int>> Do(ISet<int>? input)", false, false)]
    public void What_cannot_change_is_handed_over_as_it_is(string method, bool input, bool result)
    {
        var source = $"{Types}\npublic interface ISample : ITransactionalActor {{ {method}; }}";
        Assert.DoesNotContain(
            Compile.Sources("Sample", source).GetDiagnostics(),
            found => found.Severity == Microsoft.CodeAnalysis.DiagnosticSeverity.Error);

        var proxy = Compile.Generated(source, "ISample.Proxy.g.cs");

        Assert.Contains(
            $"InputIsImmutable = {(input ? "true" : "false")}, ResultIsImmutable = {(result ? "true" : "false")} }};",
            proxy,
            StringComparison.Ordinal);
    }
}
