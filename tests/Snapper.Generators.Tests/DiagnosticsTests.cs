namespace Snapper.Generators.Tests;

public sealed class DiagnosticsTests
{
    private const string Counter = """
        public interface ICounter : ITransactionalActor { Task Add(int input); }
        public sealed record Count(int Value);
        """;

    private static string ContractWith(string member) => $"public interface ISample : ITransactionalActor {{ {member} }}";

    private static string ClassLike(string declaration) => Counter + declaration;

    private static string Class(string header, string members = "") => Counter + $$"""
        {{header}}
        {
            {{members}}
            protected override Count InitialState() => new(0);
            public Task Add(int input) => Task.CompletedTask;
        }
        """;

    [Theory]
    [InlineData("Task Add(int left, int right);", "SNAP001")]
    [InlineData("Task Add(ref int value);", "SNAP002")]
    [InlineData("Task Add(out int value);", "SNAP002")]
    [InlineData("Task Add(in int value);", "SNAP002")]
    [InlineData("Task Add(params int[] values);", "SNAP002")]
    [InlineData("Task Add(ReadOnlySpan<int> values);", "SNAP002")]
    [InlineData("Task Add<T>(T value);", "SNAP003")]
    [InlineData("int Value { get; }", "SNAP004")]
    [InlineData("event Action Changed;", "SNAP004")]
    [InlineData("Task this[int index] { get; }", "SNAP004")]
    [InlineData("static abstract Task Make();", "SNAP004")]
    [InlineData("void Add(int value);", "SNAP005")]
    [InlineData("int Get();", "SNAP005")]
    [InlineData("ValueTask<int> Get();", "SNAP005")]
    [InlineData("Task Add(int value); Task Add(string value);", "SNAP006")]
    [InlineData("Task StartTransaction();", "SNAP028")]
    public void A_member_that_cannot_be_called_in_a_transaction_is_an_error(string member, string rule) =>
        Assert.Equal([rule], Compile.Findings(ContractWith(member)));

    [Theory]
    [InlineData("Task Add(int value);")]
    [InlineData("Task<List<string?>?> Get(); Task Set(Dictionary<string, int[]> input);")]
    [InlineData("Task Add(int value) => Task.CompletedTask;")]
    [InlineData("static int Limit => 3; const int Bound = 4; sealed record Nested(int A);")]
    public void A_member_that_can_be_called_in_a_transaction_is_no_error(string member) =>
        Assert.Empty(Compile.Findings(ContractWith(member)));

    [Fact]
    public void An_inherited_method_of_the_same_name_is_an_error() => Assert.Equal(
        ["SNAP006"],
        Compile.Findings("""
            public interface IFirst : ITransactionalActor { Task Add(int value); }
            public interface ISecond : IFirst { new Task Add(int value); }
            """));

    [Theory]
    [InlineData("public interface ISample<T> : ITransactionalActor { Task Add(T value); }")]
    [InlineData("public class Outer { private interface ISample : ITransactionalActor { Task Add(int value); } }")]
    [InlineData("file interface ISample : ITransactionalActor { Task Add(int value); }")]
    public void An_interface_that_generated_code_cannot_name_is_an_error(string source) =>
        Assert.Equal(["SNAP012"], Compile.Findings(source));

    [Fact]
    public void A_class_without_an_actor_interface_is_an_error() => Assert.Equal(
        ["SNAP007"],
        Compile.Findings(ClassLike("""
            [TransactionalActor("Counter")] public sealed class Counter : TransactionalActor<Count> { protected override Count InitialState() => new(0); }
            """)));

    [Theory]
    [InlineData("")]
    [InlineData("1st")]
    [InlineData("with space")]
    [InlineData("slash/ed")]
    [InlineData("Zähler")]
    [InlineData("a2345678901234567890123456789012345678901234567890123456789012345")]
    public void A_type_name_that_is_no_name_is_an_error(string type) => Assert.Equal(
        ["SNAP008"],
        Compile.Findings(Class($"[TransactionalActor(\"{type}\")] public sealed class Counter : TransactionalActor<Count>, ICounter")));

    [Theory]
    [InlineData("a")]
    [InlineData("Order.Line_2-x")]
    [InlineData("a234567890123456789012345678901234567890123456789012345678901234")]
    public void A_type_name_within_the_limits_is_no_error(string type) => Assert.Empty(
        Compile.Findings(Class($"[TransactionalActor(\"{type}\")] public sealed class Counter : TransactionalActor<Count>, ICounter")));

    [Fact]
    public void A_class_that_is_no_transactional_actor_is_an_error() => Assert.Equal(
        ["SNAP009"],
        Compile.Findings(ClassLike("""
            [TransactionalActor("Counter")] public sealed class Counter : ICounter { public Task Add(int input) => Task.CompletedTask; }
            """)));

    [Theory]
    [InlineData("[TransactionalActor(\"Counter\")] public abstract class Counter : TransactionalActor<Count>, ICounter", "")]
    [InlineData("[TransactionalActor(\"Counter\")] public sealed class Counter<T> : TransactionalActor<Count>, ICounter", "")]
    [InlineData("[TransactionalActor(\"Counter\")] file sealed class Counter : TransactionalActor<Count>, ICounter", "")]
    [InlineData("public static class Outer { [TransactionalActor(\"Counter\")] public sealed class Counter : TransactionalActor<Count>, ICounter", "}")]
    public void A_class_that_is_not_plain_is_an_error(string header, string trailer) =>
        Assert.Equal(["SNAP010"], Compile.Findings(Class(header) + trailer));

    [Fact]
    public void Methods_of_two_interfaces_with_one_name_are_an_error() => Assert.Equal(
        ["SNAP011"],
        Compile.Findings(Class("""
            public interface IOther : ITransactionalActor { Task Add(int input); }
            [TransactionalActor("Counter")] public sealed class Counter : TransactionalActor<Count>, ICounter, IOther
            """)));

    [Theory]
    [InlineData("private Counter() { }")]
    [InlineData("public Counter() { } public Counter(string service) { }")]
    [InlineData("public Counter(ref string service) { }")]
    public void A_class_that_cannot_be_made_is_an_error(string constructors) => Assert.Equal(
        ["SNAP013"],
        Compile.Findings(Class("[TransactionalActor(\"Counter\")] public sealed class Counter : TransactionalActor<Count>, ICounter", constructors)));

    [Fact]
    public void Two_classes_of_one_actor_type_are_an_error()
    {
        var second = """
            [TransactionalActor("Counter")] public sealed class Other : TransactionalActor<Count>, ICounter
            { protected override Count InitialState() => new(0); public Task Add(int input) => Task.CompletedTask; }
            """;
        Assert.Equal(
            ["SNAP014"],
            Compile.Findings(Class("[TransactionalActor(\"Counter\")] public sealed class Counter : TransactionalActor<Count>, ICounter") + second));
    }

    [Fact]
    public void A_negative_turn_bound_is_an_error() => Assert.Equal(
        ["SNAP015"],
        Compile.Findings(Class("[TransactionalActor(\"Counter\", TurnBoundMs = -1)] public sealed class Counter : TransactionalActor<Count>, ICounter")));

    [Theory]
    [InlineData("[PartitionKey]", null)]
    [InlineData("[PartitionKey(':')]", null)]
    [InlineData("[PartitionKey('\\'')]", null)]
    [InlineData("[PartitionKey('x')]", "SNAP016")]
    [InlineData("[PartitionKey('7')]", "SNAP016")]
    [InlineData("[PartitionKey(' ')]", "SNAP016")]
    [InlineData("[PartitionKey('\\n')]", "SNAP016")]
    [InlineData("[PartitionKey('\u00e4')]", "SNAP016")]
    public void A_partition_key_that_ends_at_no_separator_is_an_error(string attribute, string? finding) => Assert.Equal(
        finding is null ? [] : [finding],
        Compile.Findings(Class(attribute + "[TransactionalActor(\"Counter\")] public sealed class Counter : TransactionalActor<Count>, ICounter")));

    [Fact]
    public void A_broken_interface_is_reported_once_and_its_class_makes_no_further_noise() => Assert.Equal(
        ["SNAP005"],
        Compile.Findings("""
            public interface ICounter : ITransactionalActor { void Add(int input); }
            public sealed record Count(int Value);
            [TransactionalActor("Counter")] public sealed class Counter : TransactionalActor<Count>, ICounter
            { protected override Count InitialState() => new(0); public void Add(int input) { } }
            """));

    [Fact]
    public void An_error_names_its_place_in_the_source()
    {
        var result = Compile.Driver().RunGenerators(Compile.Sources("Sample", "\n" + ContractWith("Task Add(int left, int right);"))).GetRunResult();

        var found = Assert.Single(result.Diagnostics);
        Assert.Equal(1, found.Location.GetLineSpan().StartLinePosition.Line);
        Assert.Contains("ISample.Add", found.GetMessage(null), StringComparison.Ordinal);
    }
}
