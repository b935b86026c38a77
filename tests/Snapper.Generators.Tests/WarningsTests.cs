namespace Snapper.Generators.Tests;

public sealed class WarningsTests
{
    private static string Bank(string mark, string body, string before = "") => $$"""
        public interface IBank : ITransactionalActor { Task Pay(string to); Task Take(int amount); }
        public sealed record Funds(int Value);
        [TransactionalActor("Bank")]
        public sealed class Bank : TransactionalActor<Funds>, IBank
        {
            protected override Funds InitialState() => new(0);
            {{mark}}
            public async Task Pay(string to)
            {
        {{before}}
                {{body}}
            }
            [MayAbort] public async Task Take(int amount) => throw Abort("no");
        }
        """;

    [Fact]
    public async Task A_marked_method_called_by_an_unmarked_one_is_a_warning()
    {
        var warning = Assert.Single(await Compile.Warnings(Bank("", "await Actor<IBank>(to).Take(1);")));

        Assert.StartsWith("SNAP101 'Bank.Pay' calls 'IBank.Take'", warning, StringComparison.Ordinal);
    }

    [Fact]
    public async Task A_call_inside_a_lambda_is_found_too() =>
        Assert.Single(await Compile.Warnings(Bank("", "Func<Task> later = async () => await Actor<IBank>(to).Take(1); await later();")));

    [Fact]
    public async Task A_marked_caller_is_no_warning() =>
        Assert.Empty(await Compile.Warnings(Bank("[MayAbort]", "await Actor<IBank>(to).Take(1);")));

    [Fact]
    public async Task An_unmarked_callee_is_no_warning() =>
        Assert.Empty(await Compile.Warnings(Bank("", "await Actor<IBank>(to).Pay(to);")));

    [Fact]
    public async Task The_warning_can_be_suppressed_where_it_stands() =>
        Assert.Empty(await Compile.Warnings(Bank("", "await Actor<IBank>(to).Take(1);", before: "#pragma warning disable SNAP101")));

    [Fact]
    public async Task An_actor_class_without_the_attribute_is_a_warning()
    {
        var warnings = await Compile.Warnings(Bank("", "await Task.Yield();").Replace("[TransactionalActor(\"Bank\")]", "", StringComparison.Ordinal));

        Assert.StartsWith("SNAP102 'Bank'", Assert.Single(warnings), StringComparison.Ordinal);
    }

    [Theory]
    [InlineData("await State.ForUpdate();", "'Bank.Pay' carries [ReadOnlyMethod] and calls State.ForUpdate")]
    [InlineData("State.Set(new Funds(1)); await Task.Yield();", "'Bank.Pay' carries [ReadOnlyMethod] and calls State.Set")]
    [InlineData("Func<Task> later = async () => await State.ForUpdate(); await later();", "'Bank.Pay' carries [ReadOnlyMethod] and calls State.ForUpdate")]
    public async Task A_read_only_method_that_asks_to_change_its_state_is_a_warning(string body, string message) =>
        Assert.StartsWith("SNAP103 " + message, Assert.Single(await Compile.Warnings(Bank("[ReadOnlyMethod]", body))), StringComparison.Ordinal);

    [Theory]
    [InlineData("[ReadOnlyMethod]", "await State.Get();")]
    [InlineData("", "await State.ForUpdate();")]
    public async Task One_that_only_reads_or_carries_no_mark_is_no_warning(string mark, string body) => Assert.Empty(await Compile.Warnings(Bank(mark, body)));

    [Fact]
    public async Task An_abstract_base_without_the_attribute_is_no_warning() => Assert.Empty(await Compile.Warnings("""
        public interface IBase : ITransactionalActor { Task Do(); }
        public sealed record Funds(int Value);
        public abstract class Base : TransactionalActor<Funds>, IBase { public abstract Task Do(); }
        """));
}
