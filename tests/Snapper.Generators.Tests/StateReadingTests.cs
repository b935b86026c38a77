namespace Snapper.Generators.Tests;

public sealed class StateReadingTests
{
    [Theory]
    [InlineData("public sealed record S(int A, string? B, decimal C, DateTimeOffset D, Guid? E, DayOfWeek F);")]
    [InlineData("public sealed record S(ImmutableList<T> A, ImmutableArray<int> B); public sealed record T(int A);")]
    [InlineData("public sealed record S(int A) { public int Twice => A * 2; public static int B = 3; }")]
    [InlineData("public sealed record S(ImmutableSortedSet<string> A, ImmutableHashSet<Guid?> B);")]
    public void What_is_its_parameters_alone_reads_as_it_is_written(string state) => Assert.True(IsProven(state));

    [Theory]
    [InlineData("public sealed record S(int A) { public int A { get; init; } = A > 0 ? A : throw new Exception(); }")]
    [InlineData("public sealed record S(int A) { private readonly int _a = A > 0 ? A : throw new Exception(); }")]
    [InlineData("public sealed record S(int A) { public S() : this(1) { } }")]
    [InlineData("public sealed record S(int A, S? Next);")]
    [InlineData("public sealed record S(object A);")]
    [InlineData("public sealed record S(DateTime A);")]
    [InlineData("public record S(int A);")]
    [InlineData("public abstract record Base(int A); public sealed record S(int A, int B) : Base(A);")]
    [InlineData("public sealed record S([property: System.Text.Json.Serialization.JsonIgnore] int A);")]
    [InlineData("public sealed record S(ImmutableDictionary<string, int> A);")]
    [InlineData("public sealed record S(T A); public abstract record T;")]
    [InlineData("public sealed class S { public int A { get; set; } }")]
    [InlineData("public sealed record S(int A) { public int B { get => A; init => throw new Exception(); } }")]
    [InlineData("public sealed record S(int A) { public int A { get => 1; init => throw new Exception(); } }")]
    [InlineData("public sealed record S(ImmutableSortedSet<T> A); public sealed record T(int A);")]
    [InlineData("public sealed record S(ImmutableHashSet<T> A); public sealed record T(int A);")]
    [InlineData("public sealed record S(ImmutableSortedSet<ImmutableList<int>> A);")]
    [InlineData("public sealed record S([property: System.Diagnostics.CodeAnalysis.MaybeNull] string A);")]
    [InlineData("public sealed record S([param: System.Diagnostics.CodeAnalysis.DisallowNull] string? A);")]
    public void Of_others_that_is_not_said(string state) => Assert.False(IsProven(state));

    private static bool IsProven(string state) =>
        Compile.DescriptorOf(state).Contains("{ StateReadsAsWritten = true };", StringComparison.Ordinal);
}
