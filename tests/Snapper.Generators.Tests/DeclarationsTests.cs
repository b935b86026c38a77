using Snapper.Actors;
using Snapper.Actors.Generated;
using Snapper.Protocol.Identity;

namespace Snapper.Generators.Tests;

public sealed class DeclarationsTests
{
    private static string Bank(string functions, string body = "Task.CompletedTask", string more = "") => $$"""
        public interface IBank : ITransactionalActor { Task Pay(Order order); Task Close(); }
        public interface IOther : ITransactionalActor { Task Do(); }
        public interface IRates { bool Is(string id); }
        public sealed record Order(string To, int Amount, List<string> More, string[] Lines, IReadOnlyList<string> Read,
            Part Part, Snapper.Generators.Tests.AwayRecord Away)
        {
            public string Computed => To;
        }
        public sealed record Part(string? Key, int? Number, ImmutableArray<Part> Inner);
        public sealed record Funds(int Value);
        {{more}}
        [TransactionalActor("Bank")]
        public sealed class Bank : TransactionalActor<Funds>, IBank
        {
            protected override Funds InitialState() => new(0);
            public Task Pay(Order order) => {{body}};
            public Task Close() => Task.CompletedTask;
            {{functions}}
        }
        """;

    private const string Head = "[Declares] internal static void Pay(Declaration declaration, string id, Order order)";

    [Theory]
    [InlineData("[Declares] internal void Pay(Declaration declaration, string id, Order order) { }", "SNAP017")]
    [InlineData("[Declares] private static void Pay(Declaration declaration, string id, Order order) { }", "SNAP017")]
    [InlineData("[Declares] internal static int Pay(Declaration declaration, string id, Order order) => 1;", "SNAP017")]
    [InlineData("[Declares] internal static async void Pay(Declaration declaration, string id, Order order) { }",
        "SNAP017")]
    [InlineData("[Declares] internal static void Pay<T>(Declaration declaration, string id, Order order) { }",
        "SNAP017")]
    [InlineData("[Declares] internal static void Pay(Declaration declaration, string id) { }", "SNAP017")]
    [InlineData("[Declares] internal static void Pay(Declaration declaration, string id, string order) { }", "SNAP017")]
    [InlineData("[Declares] internal static void Pay(string id, Declaration declaration, Order order) { }", "SNAP017")]
    [InlineData("[Declares] internal static void Pay(Declaration declaration, string id, ref Order order) { }",
        "SNAP017")]
    [InlineData("[Declares(\"Close\")] internal static void Any(Declaration declaration, string id, Order order) { }",
        "SNAP017")]
    [InlineData("[Declares(\"Paid\")] internal static void Pay(Declaration declaration, string id, Order order) { }",
        "SNAP018")]
    [InlineData("[Declares] internal static void Other(Declaration declaration, string id, Order order) { }",
        "SNAP018")]
    [InlineData(
        Head + "{} [Declares(\"Pay\")] internal static void Also(Declaration declaration, string id, Order order) { }",
        "SNAP019")]
    public void A_function_that_declares_for_no_method_is_an_error(string functions, string rule) =>
        Assert.Equal([rule], Compile.Findings(Bank(functions)));

    [Theory]
    [InlineData("=> declaration.Actor<IBank>(order.To);")]
    [InlineData(
        "=> declaration.Actor<IBank>(order.To, order.Amount > 3 ? 2 : 1).Actor(\"Other\", $\"{id}/{order.Amount}\");")]
    [InlineData("{ foreach (var one in order.More) { if (one != id) { declaration.Actor<IBank>(one); } } }")]
    [InlineData("{ foreach (var one in order.Lines) { declaration.Actor<IBank>(one + \"/x\"); }"
        + " foreach (var one in order.Part.Inner) { declaration.Actor<IBank>(one.Key ?? id); } }")]
    [InlineData("{ const string Prefix = \"a\"; var to = Prefix + order.To;"
        + " if (order.Part is not null && order.Part.Number is null) { declaration.Actor<IBank>(to); } }")]
    [InlineData("{ foreach (var one in order.Read) { declaration.Actor<IBank>(order.Away.Id + one); } }")]
    public void One_that_adds_reads_and_chooses_is_proven_to_end(string body) => Assert.True(IsBounded(body));

    [Theory]
    [InlineData("{ while (true) { } }")]
    [InlineData("{ for (var i = 0; i < order.Amount; i++) { declaration.Actor<IBank>(order.To); } }")]
    [InlineData("{ foreach (var one in order.More) { foreach (var other in order.Lines) { } } }")]
    [InlineData("=> declaration.Actor<IBank>(order.Computed);")]
    [InlineData("=> declaration.Actor<IBank>(order.Away.Computed);")]
    [InlineData("=> declaration.Actor<IBank>(order.ToString());")]
    [InlineData("=> declaration.Actor<IBank>($\"{order}\");")]
    [InlineData("=> Pay(declaration, id, order);")]
    [InlineData("{ if (order == new Order(null!, 1, [], [], [], null!, null!)) { } }")]
    [InlineData("{ again: goto again; }")]
    [InlineData("{ System.Threading.Thread.Sleep(1); }")]
    [InlineData("{ Action later = () => { }; later(); }")]
    public void One_that_runs_other_code_is_not(string body) => Assert.False(IsBounded(body));

    [Fact]
    public void The_descriptor_has_the_function_and_calls_it_by_name()
    {
        var assembly = Compile.Load("Declaring", Bank(Head + " => declaration.Actor<IBank>(order.To);"));
        var bank = Assert.Single(Compile.Actors(assembly, "Declaring.DeclaringActors"));
        var pay = bank.Methods.Single(one => one.Name == "Pay");
        var declares = (Delegate)pay.GetType().GetProperty("Declares")!.GetValue(pay)!;
        var order = Activator.CreateInstance(assembly.GetType("Order")!, "bob", 1, null, null, null, null, null);
        var declaration = new Declaration(new ActorKey("Bank", "alice"));

        declares.DynamicInvoke(declaration, "alice", order);

        Assert.Equal([new(new("Bank", "alice"), 1), new DeclaredCalls(new("Bank", "bob"), 1)],
            declaration.Actors.ToArray());
        Assert.Null(bank.Methods.Single(one => one.Name == "Close").GetType().GetProperty("Declares")!.GetValue(
            bank.Methods.Single(one => one.Name == "Close")));
    }

    [Theory]
    [InlineData(" { }", "Actor<IOther>(order.To).Do()")]
    [InlineData(" { }", "Actor<IBank>(order.To).Close()")]
    [InlineData(" => declaration.Actor<IBank>(order.To);", "Actor<IOther>(order.To).Do()")]
    public async Task A_call_of_an_actor_whose_type_is_not_declared_is_a_warning(string body, string call)
    {
        var warning = Assert.Single(await Compile.Warnings(Bank(Head + body, call)));

        Assert.StartsWith("SNAP104 'Bank.Pay' calls an actor by", warning, StringComparison.Ordinal);
    }

    [Theory]
    [InlineData(" => declaration.Actor<IOther>(order.To);", "Actor<IOther>(order.To).Do()")]
    [InlineData(" => declaration.Actor(\"Other\", order.To);", "Actor<IOther>(order.To).Do()")]
    [InlineData(" => Fill(declaration); static void Fill(Declaration declaration) => declaration.Actor<IOther>(\"x\");",
        "Actor<IOther>(order.To).Do()")]
    [InlineData(" { }", "Task.CompletedTask")]
    [InlineData(" { }", "Actor<IOther>(order.To, order.To).Do()")]
    public async Task What_may_be_declared_is_no_warning(string body, string call) =>
        Assert.Empty(await Compile.Warnings(Bank(Head + body, call)));

    [Fact]
    public async Task A_function_outside_of_an_actor_class_is_a_warning()
    {
        var warning = Assert.Single(await Compile.Warnings(Bank("", more: "public static class Aside {"
            + " [Declares] internal static void Pay(Declaration declaration, string id) { } }")));

        Assert.StartsWith("SNAP105 'Aside.Pay'", warning, StringComparison.Ordinal);
    }

    [Fact]
    public void Calls_on_one_actor_add_up_in_small_and_large_declarations()
    {
        var declaration = new Declaration(new ActorKey("Bank", "0"));
        for (var round = 0; round < 2; round++)
        {
            for (var i = 0; i < 200; i++)
            {
                declaration.Actor("Bank", i.ToString(System.Globalization.CultureInfo.InvariantCulture));
            }
        }

        Assert.Equal(200, declaration.Actors.Length);
        Assert.Equal(new DeclaredCalls(declaration.Root, 3), declaration.Actors[0]);
        Assert.All(declaration.Actors[1..].ToArray(), one => Assert.Equal(2, one.Calls));
    }

    [Fact]
    public void A_declaration_takes_no_more_than_its_most()
    {
        var declaration =
            new Declaration(new ActorKey("Bank", "0"), most: 2).Actor("Bank", "1", int.MaxValue).Actor("Bank", "1");

        Assert.Throws<InvalidOperationException>(() => declaration.Actor("Bank", "2"));
        Assert.True(declaration.IsOverfull);
        Assert.Equal(int.MaxValue, declaration.Actors[1].Calls);
        Assert.Throws<ArgumentException>(() => declaration.Actor("Bank", ""));
        Assert.Throws<ArgumentOutOfRangeException>(() => declaration.Actor("Bank", "1", 0));
    }

    private static bool IsBounded(string body)
    {
        var source = Bank(Head + body);
        Assert.DoesNotContain(
            Compile.Sources("Sample", source).GetDiagnostics(), static one =>
                one.Severity == Microsoft.CodeAnalysis.DiagnosticSeverity.Error);
        return Compile.Generated(source, "Bank.Descriptor.g.cs").Contains("DeclarationIsBounded = true",
            StringComparison.Ordinal);
    }
}

/// <summary>A record of another assembly than the one that is compiled.</summary>
/// <param name="Id">A mere field.</param>
public sealed record AwayRecord(string Id)
{
    public string Computed => Id + Id;
}
