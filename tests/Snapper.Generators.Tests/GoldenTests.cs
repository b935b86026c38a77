using System.Runtime.CompilerServices;

namespace Snapper.Generators.Tests;

public sealed class GoldenTests
{
    private const string Source = """
        namespace Sample.Shop;

        public interface ICart : ITransactionalActor
        {
            Task<int?> Add(string? item);
            Task Clear();
        }

        public sealed class Prices;

        public sealed record CartState(ImmutableList<string> Items);

        [TransactionalActor("Cart", TurnBoundMs = 250)]
        public sealed class Cart(Prices prices, IServiceProvider? more = null) : TransactionalActor<CartState>, ICart
        {
            protected override CartState InitialState() => new([]);
            [Declares] internal static void Add(Declaration declaration, string id, string? item) =>
                declaration.Actor<ICart>(item ?? id);
            [Declares("Clear")] public static void AllOf(Declaration declaration, string id) =>
                declaration.Actor(typeof(Cart).Name, id);
            [MayAbort] public Task<int?> Add(string? item) => Task.FromResult<int?>(prices.GetHashCode() + (more is null ? 0 : 1));
            [ReadOnlyMethod] Task ICart.Clear() => Task.CompletedTask;
        }
        """;

    // To write the files anew, for review as a diff: SNAPPER_UPDATE_GOLDEN=1 dotnet test.
    [Theory]
    [InlineData("Sample.Shop.ICart.Proxy")]
    [InlineData("Sample.Shop.Cart.Descriptor")]
    [InlineData("Actors")]
    public void The_generated_text_is_as_reviewed(string file)
    {
        var generated = Compile.Generated(Source, file + ".g.cs");
        if (Environment.GetEnvironmentVariable("SNAPPER_UPDATE_GOLDEN") == "1")
        {
            File.WriteAllText(Path.Combine(SourceFolder(), "Golden", file + ".txt"), generated);
            return;
        }

        var expected = File.ReadAllText(Path.Combine(AppContext.BaseDirectory, "Golden", file + ".txt"));
        Assert.Equal(expected, generated, ignoreLineEndingDifferences: true);
    }

    private static string SourceFolder([CallerFilePath] string path = "") => Path.GetDirectoryName(path)!;
}
