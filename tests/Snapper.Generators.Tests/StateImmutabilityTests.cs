namespace Snapper.Generators.Tests;

public sealed class StateImmutabilityTests
{
    [Theory]
    [InlineData("public sealed record S(int A, string? B, decimal C, DateTimeOffset D, Guid? E, DayOfWeek F, TimeSpan G, Uri? H);")]
    [InlineData("public sealed record S { public required int A { get; init; } }")]
    [InlineData("public sealed class S { public S(int a) { A = a; } public int A { get; } private readonly long _b = 3; public static int C; }")]
    [InlineData("public sealed record S(ImmutableList<T> Items, ImmutableDictionary<string, ImmutableArray<int>> Map); public sealed record T(int A);")]
    [InlineData("public sealed record S(int A, S? Next);")]
    [InlineData("public sealed record S(T Value, (int A, string B) Pair); public readonly record struct T(int A);")]
    [InlineData("public abstract record Base(int A); public sealed record S(int A, int B) : Base(A);")]
    [InlineData("public sealed record S(int A) { public int Twice => A * 2; }")]
    public void A_state_that_cannot_change_is_shared(string state) => Assert.True(IsImmutable(state));

    [Theory]
    [InlineData("public sealed record S { public int A { get; set; } }")]
    [InlineData("public record S(int A);")]
    [InlineData("public sealed record S(int[] A);")]
    [InlineData("public sealed record S(List<int> A);")]
    [InlineData("public sealed record S(IReadOnlyList<int> A);")]
    [InlineData("public sealed record S(object A);")]
    [InlineData("public sealed record S(ImmutableList<T> Items); public sealed class T { public int A; }")]
    [InlineData("public sealed record S(int A) { private int _hits; public int Hits() => ++_hits; }")]
    [InlineData("public sealed class S(int a) { public int Next() => ++a; }")]
    [InlineData("public abstract class Base { public int A { get; set; } } public sealed class S : Base;")]
    [InlineData("public sealed record S(T Value); public record struct T(int A);")]
    [InlineData("public sealed record S(System.Text.StringBuilder A);")]
    public void A_state_that_may_change_is_copied(string state) => Assert.False(IsImmutable(state));

    private static bool IsImmutable(string state)
    {
        var text = Compile.DescriptorOf(state);
        var proven = text.Contains("StateIsImmutable: true", StringComparison.Ordinal);
        Assert.NotEqual(proven, text.Contains("StateIsImmutable: false", StringComparison.Ordinal));
        return proven;
    }
}
