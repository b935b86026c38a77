using System.Collections.Immutable;
using System.Diagnostics.CodeAnalysis;
using Microsoft.CodeAnalysis;
using Microsoft.CodeAnalysis.CSharp;
using Microsoft.CodeAnalysis.Diagnostics;
using Microsoft.CodeAnalysis.Text;

namespace Snapper.Generators.Tests;

/// <summary>
/// What callers and stored states rely on is compared with <c>snapper.contracts.txt</c>, and written anew.
/// </summary>
public sealed class BaselineTests
{
    private const string Shop = """
        using System.Text.Json.Serialization;
        namespace Shop;

        public enum Size { Small, Large = 5 }
        public sealed record Line(string Article, int Count, Size? Size = null);
        public sealed record Order(string Customer, ImmutableArray<Line> Lines, string? Note = null);
        public sealed record Receipt(decimal Total) { public bool IsFree => Total == 0; }
        public sealed record Cart(ImmutableDictionary<string, Line> Lines, DateTimeOffset Since, int Limit = 3);

        public interface ICart : ITransactionalActor
        {
            Task<Receipt> Place(Order order);
            Task Clear();
            Task<Cart?> Read();
        }

        [TransactionalActor("Cart")]
        public sealed class CartActor : TransactionalActor<Cart>, ICart
        {
            protected override Cart InitialState() => throw new NotSupportedException();
            [Declares] internal static void Place(Declaration declaration, string id, Order order) { }
            public Task<Receipt> Place(Order order) => throw Abort("sold_out", new { order.Customer });
            public Task Clear() => Task.CompletedTask;
            [ReadOnlyMethod] public async Task<Cart?> Read() => await State.Get();
        }
        """;

    private const string OfShop = """

        actor Cart
          contract Shop.ICart
          method Clear()
          method Place(Shop.Order) -> Shop.Receipt [declares]
          method Read() -> Shop.Cart? [read-only]
          state 1: Shop.Cart
          abort sold_out

        type Shop.Cart
          limit?: int
          lines: {string: Shop.Line}
          since: System.DateTimeOffset

        type Shop.Line
          article: string
          count: int
          size?: Shop.Size?

        type Shop.Order
          customer: string
          lines: Shop.Line[]
          note?: string?

        type Shop.Receipt
          isFree: bool computed
          total: decimal

        enum Shop.Size
          Large: 5
          Small: 0

        """;

    private const string CartRecord = "public sealed record Cart(";

    private static readonly Lazy<string> s_shop = new(static () => Written(Shop));

    [Fact]
    public async Task A_build_that_accepts_writes_what_callers_and_states_rely_on()
    {
        var written = Written(Shop);
        Assert.Equal(OfShop.ReplaceLineEndings("\n"), BodyOf(written));
        Assert.Empty(await Found(Shop, written));
        Assert.Empty(await Found(Shop, written.ReplaceLineEndings("\r\n")));
    }

    [Fact]
    public async Task Without_the_file_nothing_is_compared_and_nothing_written()
    {
        Assert.Empty(await Found(Shop, baseline: null));
        Assert.Null(Generated(Shop, hasFile: false, "true"));
        Assert.Null(Generated(Shop, hasFile: true, ""));
        Assert.Null(Generated(Shop, hasFile: true, "false"));
    }

    [Fact]
    public async Task An_empty_file_has_none_of_the_actor_types() =>
        Assert.Equal(["SNAP302 'Cart': the actor type is new"], await Found(Shop, ""));

    [Theory]

    // Callers of before send what is not taken, or read what is not there.
    [InlineData(
        "Task Clear", "Task Empty", "SNAP301 'Cart': it has no method 'Clear' any more",
        "SNAP302 'Cart.Empty': the method is new")]
    [InlineData(
        "Count, Size?", "Number, Size?", "SNAP301 'Cart.Place': the input.lines[].count was removed",
        "SNAP301 'Cart.Place': the input.lines[].number is new and may not be left out",
        "SNAP301 'Cart.Read': the result.lines{}.count was removed",
        "SNAP302 'Cart.Read': the result.lines{}.number is new", "SNAP303 'Cart': the state.lines{}.count was removed",
        "SNAP303 'Cart': the state.lines{}.number is new and may not be left out")]
    [InlineData("string? Note = null", "string? Note", "SNAP301 'Cart.Place': the input.note may be left out no more")]
    [InlineData(
        "string? Note = null", "string Note = \"\"", "SNAP301 'Cart.Place': the input.note may be null no more")]
    [InlineData(", string? Note = null", "", "SNAP301 'Cart.Place': the input.note was removed")]
    [InlineData(
        "decimal Total", "double Total", "SNAP301 'Cart.Place': the result.total was 'decimal' and is 'double'")]
    [InlineData(
        "Receipt(decimal Total)", "Receipt(decimal? Total)",
        "SNAP301 'Cart.Place': the result.total may be null now")]
    [InlineData("public bool IsFree => Total == 0;", "", "SNAP301 'Cart.Place': the result.isFree was removed")]
    [InlineData(
        "ImmutableArray<Line> Lines", "Line Lines",
        "SNAP301 'Cart.Place': the input.lines was 'Shop.Line[]' and is 'Shop.Line'")]
    [InlineData("[ReadOnlyMethod]", "", "SNAP301 'Cart.Read': it has [ReadOnlyMethod] no more")]
    [InlineData("[Declares]", "", "SNAP301 'Cart.Place': it has a [Declares] function no more")]
    [InlineData("\"sold_out\"", "\"out_of_stock\"", "SNAP301 'Cart': it has no abort code 'sold_out' any more",
        "SNAP302 'Cart': the abort code 'out_of_stock' is new")]
    [InlineData(
        "[TransactionalActor(\"Cart\")]", "[TransactionalActor(\"Basket\")]",
        "SNAP301 'Cart': there is no such actor type any more", "SNAP302 'Basket': the actor type is new")]
    [InlineData("[TransactionalActor(\"Cart\")]", "[TransactionalActor(\"Cart\"), PartitionKey]",
        "SNAP301 'Cart': the partition key ended at none and ends at '/', where workers keep it for good")]
    [InlineData(
        "Large = 5", "Large = 6", "SNAP301 'Cart.Place': the input.lines[].size's member 'Large' was 5 and is 6",
        "SNAP301 'Cart.Read': the result.lines{}.size's member 'Large' was 5 and is 6",
        "SNAP303 'Cart': the state.lines{}.size's member 'Large' was 5 and is 6")]

    // A stored state that is not read as before, under the same version.
    [InlineData("int Limit = 3", "int Limit", "SNAP303 'Cart': the state.limit may be left out no more")]
    [InlineData(
        "int Limit = 3", "int Most = 3", "SNAP301 'Cart.Read': the result.limit was removed",
        "SNAP302 'Cart': the state.limit was removed", "SNAP302 'Cart.Read': the result.most is new",
        "SNAP303 'Cart': the state.most is new where another was removed, whose values it does not have")]
    [InlineData(
        "DateTimeOffset Since", "[property: JsonPropertyName(\"from\")] DateTimeOffset Since",
        "SNAP301 'Cart.Read': the result.since was removed", "SNAP302 'Cart.Read': the result.from is new",
        "SNAP303 'Cart': the state.from is new and may not be left out", "SNAP303 'Cart': the state.since was removed")]

    // What callers and states of before get on with.
    [InlineData(
        "int Limit = 3", "int Limit = 3, bool IsGift = false", "SNAP302 'Cart': the state.isGift is new",
        "SNAP302 'Cart.Read': the result.isGift is new")]
    [InlineData(
        "string? Note = null", "string? Note = null, string? Code = null",
        "SNAP302 'Cart.Place': the input.code is new")]
    [InlineData(
        "Receipt(decimal Total)", "Receipt(decimal Total, string Text)",
        "SNAP302 'Cart.Place': the result.text is new")]
    [InlineData("Task<Cart?> Read", "Task<Cart> Read", "SNAP302 'Cart.Read': the result may be null no more")]
    [InlineData(
        "Task Clear();", "Task Clear(); Task More() => Task.CompletedTask;",
        "SNAP302 'Cart.More': the method is new")]
    [InlineData("Receipt", "Bill", "SNAP302 'snapper.contracts.txt': C# types have other names, or stand elsewhere")]

    // What stands elsewhere in the source, or is said in other words, is the same.
    [InlineData(
        "DateTimeOffset Since, int Limit = 3", "DateTimeOffset Since = default, int Limit = 4",
        "SNAP302 'Cart': the state.since may be left out now")]
    [InlineData("Article, int Count", "Article, [property: JsonPropertyName(\"count\")] int Number")]
    [InlineData("ImmutableArray<Line> Lines", "IReadOnlyList<Line> Lines")]
    [InlineData("ImmutableDictionary<string, Line>", "Dictionary<string, Line>")]
    [InlineData("[ReadOnlyMethod]", "[MayAbort, ReadOnlyMethod]")]
    public async Task What_differs_is_an_error(string before, string after, params string[] expected)
    {
        Assert.Contains(before, Shop, StringComparison.Ordinal);
        var changed = Shop.Replace(before, after, StringComparison.Ordinal);
        var sources = Sources(changed);
        Assert.Equal(expected, await Found(sources, s_shop.Value));
        Assert.Empty(await Found(sources, s_shop.Value, "states"));
        Assert.Empty(await Found(sources, Written(sources)));

        // What is accepted with the rest of a build is not the form of a state.
        Assert.Equal(
            expected.Where(static one => one.StartsWith("SNAP303", StringComparison.Ordinal)),
            await Found(sources, s_shop.Value, "true"));
    }

    [Theory]
    [InlineData("[StateVersion(2)]", "SNAP302 'Cart': the state's version was 1 and is 2")]
    [InlineData(
        "[StateVersion(1)]", "SNAP301 'Cart.Read': the result.limit was removed",
        "SNAP302 'Cart': the state.limit was removed")]
    public async Task A_state_of_a_higher_version_may_have_any_form(string mark, params string[] expected)
    {
        var changed = Shop.Replace(CartRecord, mark + CartRecord, StringComparison.Ordinal)
            .Replace(", int Limit = 3", "", StringComparison.Ordinal);
        Assert.Equal(
            expected.Append("SNAP301 'Cart.Read': the result.limit was removed").Distinct()
                .Order(StringComparer.Ordinal),
            await Found(changed, s_shop.Value));
        Assert.Empty(await Found(changed, Written(changed)));
    }

    [Fact]
    public async Task A_version_that_falls_is_an_error()
    {
        const string Mark = "[StateVersion(4, Oldest = 2)]";
        var second = Shop.Replace(CartRecord, Mark + CartRecord, StringComparison.Ordinal);
        Assert.Contains("  state 4 from 2: Shop.Cart\n", Written(second), StringComparison.Ordinal);
        Assert.Equal(["SNAP303 'Cart': the state's version was 4 and is 1"], await Found(Shop, Written(second)));
        Assert.Equal(
            ["SNAP302 'Cart': the oldest version of the state was 2 and is 3"],
            await Found(second.Replace("Oldest = 2", "Oldest = 3", StringComparison.Ordinal), Written(second)));
    }

    [Theory]
    [InlineData("method Clear", "SNAP304 4")]
    [InlineData("nonsense", "SNAP304 4")]
    [InlineData("state x: Shop.Cart", "SNAP304 4")]
    public async Task A_line_without_meaning_is_named(string line, string expected)
    {
        var found = Assert.Single(await Found(Shop, "# Merged\n\nactor Cart\n" + line + "\n"));
        Assert.StartsWith(expected, found, StringComparison.Ordinal);
    }

    [Fact]
    public async Task Every_kind_of_type_is_written_and_read_again()
    {
        const string Source = """
            using System.Text.Json.Serialization;
            [JsonConverter(typeof(JsonStringEnumConverter<Color>))]
            public enum Color { Red, [JsonStringEnumMemberName("dark blue")] Blue }
            [JsonDerivedType(typeof(Dot), "dot")]
            public abstract class Shape { public required string Name { get; init; } public int Weight { get; set; } }
            public sealed class Dot : Shape
            {
                [JsonIgnore] public int Hidden { get; set; }
                [JsonInclude] public byte[] Bytes = [];
                public Shape? Next { get; set; }
            }
            public sealed record Page<T>(
                T[] Items, [property: JsonConverter(typeof(JsonStringEnumConverter))] DayOfWeek Day);
            public sealed record S(Color Color, Page<Shape?> URLPage, System.Text.Json.JsonElement Any, Guid Id);
            public interface ISample : ITransactionalActor { Task Do(); }
            [TransactionalActor("Sample")]
            public sealed class Sample : TransactionalActor<S>, ISample
            {
                protected override S InitialState() => throw new NotSupportedException();
                public Task Do() => Task.CompletedTask;
            }
            """;
        const string Converted = "[JsonConverter(typeof(JsonConverter<Shape>))]";
        var written = Written(Source);
        Assert.Equal(
            """
            actor Sample
              contract ISample
              method Do()
              state 1: S

            enum Color by System.Text.Json.Serialization.JsonStringEnumConverter<Color>
              Red: 0
              dark blue: 1

            type Dot
              bytes?: bytes
              name: string
              next?: Shape?
              weight?: int

            type Page<Shape>
              day: System.DayOfWeek by System.Text.Json.Serialization.JsonStringEnumConverter
              items: Shape?[]

            type S
              any: json
              color: Color
              id: System.Guid
              urlPage: Page<Shape>

            type Shape
              case dot: Dot
              name: string
              weight?: int

            """.ReplaceLineEndings("\n"),
            BodyOf(written)[1..]);
        Assert.Empty(await Found(Source, written));
        Assert.Equal(
            ["SNAP303 'Sample': the state.urlPage.items[] was 'Shape' and is 'Shape' of another kind"],
            await Found(Source.Replace("[JsonDerived", Converted + "[JsonDerived", StringComparison.Ordinal), written));
    }

    [Theory]
    [InlineData("samples/Orders/Shop", "samples/Orders/Contract", "samples/Orders/Shop/Actors")]
    [InlineData(
        "src/Snapper.Templates/content/snapper-app/SnapperApp",
        "src/Snapper.Templates/content/snapper-app/SnapperApp")]
    public async Task Samples_and_templates_have_theirs(string project, params string[] folders)
    {
        var root = AppContext.BaseDirectory;
        while (!System.IO.File.Exists(Path.Combine(root, "Snapper.Dapr.sln")))
        {
            root = Path.GetDirectoryName(root)!;
        }

        const string Implicit = "global using System.IO; global using System.Linq; global using System.Threading;";
        var files = folders.SelectMany(folder => Directory.GetFiles(Path.Combine(root, folder), "*.cs"))
            .Where(static file => Path.GetFileName(file) != "Program.cs").Select(System.IO.File.ReadAllText);
        var sources = Compile.Sources("Sample", [Implicit, .. files]);
        var baseline = await System.IO.File.ReadAllTextAsync(Path.Combine(root, project, "snapper.contracts.txt"));
        Assert.Empty(await Found(Checked(sources), baseline));
        Assert.Equal(Written(sources), baseline);
    }

    // What a build that accepts writes.
    private static string Written(string source) => Written(Compile.Sources("Sample", source));

    private static string Written(Compilation sources)
    {
        var lines = Generated(sources, hasFile: true, "true")!.TrimEnd('\n').Split('\n');
        Assert.All(lines, static line => Assert.StartsWith("// ", line, StringComparison.Ordinal));
        return string.Concat(lines.Select(static line => line[3..] + "\n"));
    }

    private static string? Generated(string source, bool hasFile, string accept) =>
        Generated(Compile.Sources("Sample", source), hasFile, accept);

    private static string? Generated(Compilation sources, bool hasFile, string accept)
    {
        var driver = CSharpGeneratorDriver.Create(
            [new BaselineGenerator().AsSourceGenerator()],
            hasFile ? [new File("/shop/snapper.contracts.txt", "")] : [new File("/shop/other.txt", "")],
            CSharpParseOptions.Default.WithLanguageVersion(LanguageVersion.Latest), new Options(accept));
        var result = driver.RunGenerators(sources).GetRunResult().Results.Single();
        Assert.Null(result.Exception);
        return result.GeneratedSources.Select(static one => one.SourceText.ToString()).SingleOrDefault();
    }

    private static Compilation Sources(string source) => Checked(Compile.Sources("Sample", source));

    private static Compilation Checked(Compilation sources)
    {
        Assert.DoesNotContain(sources.GetDiagnostics(), static one => one.Severity == DiagnosticSeverity.Error);
        return sources;
    }

    private static Task<string[]> Found(string source, string? baseline) => Found(Sources(source), baseline);

    private static async Task<string[]> Found(Compilation sources, string? baseline, string accept = "")
    {
        var options = new AnalyzerOptions(
            baseline is null ? [] : [new File("/shop/snapper.contracts.txt", baseline)], new Options(accept));
        var found = await sources.WithAnalyzers([new BaselineAnalyzer()], options).GetAnalyzerDiagnosticsAsync();
        Assert.All(found, static one => Assert.Equal(DiagnosticSeverity.Error, one.Severity));
        return
        [
            .. found.Select(static one => one.Id == "SNAP304" ? $"{one.Id} {LineOf(one)}" : Words(one))
                .Order(StringComparer.Ordinal),
        ];
    }

    private static int LineOf(Diagnostic one) => one.Location.GetLineSpan().StartLinePosition.Line + 1;

    // Without the comment at its begin.
    private static string BodyOf(string file) => file[(file.IndexOf("\n\n", StringComparison.Ordinal) + 1)..];

    // Of the message, whom it is about and what is said.
    private static string Words(Diagnostic one)
    {
        var text = one.GetMessage(null).Split("; ")[0];
        var (name, said) = (text.Split('\'')[1], text[(text.IndexOf(": ", StringComparison.Ordinal) + 2)..]);
        return $"{one.Id} '{name}': {said.Split(". Where")[0]}";
    }

    private sealed class File(string path, string text) : AdditionalText
    {
        public override string Path => path;

        public override SourceText GetText(CancellationToken cancellationToken = default) => SourceText.From(text);
    }

    private sealed class Options(string accept) : AnalyzerConfigOptionsProvider
    {
        public override AnalyzerConfigOptions GlobalOptions { get; } = new Values(accept);

        public override AnalyzerConfigOptions GetOptions(SyntaxTree tree) => GlobalOptions;

        public override AnalyzerConfigOptions GetOptions(AdditionalText textFile) => GlobalOptions;

        private sealed class Values(string accept) : AnalyzerConfigOptions
        {
            public override bool TryGetValue(string key, [NotNullWhen(true)] out string? value)
            {
                value = key == BaselineGenerator.Property ? accept : null;
                return value is not null;
            }
        }
    }
}
