namespace Snapper.Generators.Tests;

/// <summary>Classes that were plain Dapr actors, and what is wrong with some.</summary>
public sealed class CompatibilityTests
{
    private static string Class(
        string members = "", string contract = "Task Pay(int amount);", string bases = ", ITill",
        string attribute = "", string directive = "using Snapper.DaprCompatibility;") => $$"""
        {{directive}}
        using Dapr.Actors;
        using Dapr.Actors.Client;
        using System.Threading;
        public interface ITill : IActor { {{contract}} }
        {{attribute}}
        public sealed class Till(ActorHost host) : Actor(host){{bases}}
        {
            public Task Pay(int amount) => Task.CompletedTask;
            {{members}}
        }
        """;

    [Fact]
    public void A_class_on_Dapr_s_own_base_class_is_none_of_ours() =>
        Assert.Empty(Compile.Findings(Class(
            contract: "Task Pay(int amount); Task Two(int a, int b);",
            members: "public Task Two(int a, int b) => Pay(a);",
            directive: "using Dapr.Actors.Runtime;")));

    [Theory]
    [InlineData("Task Pay(int amount, int to);", "SNAP001")]
    [InlineData("Task Pay(int amount, CancellationToken c, int to);", "SNAP001")]
    [InlineData("Task Pay(int amount); Task Pay(string to);", "SNAP006")]
    [InlineData("void Pay(int amount);", "SNAP005")]
    public void A_method_that_cannot_be_called_in_a_transaction_is_an_error(string contract, string rule) =>
        Assert.Equal([rule], Compile.Findings(Class(contract: contract)));

    [Theory]
    [InlineData("Task Pay(int amount);")]
    [InlineData("Task Pay(int amount, CancellationToken cancellation);")]
    [InlineData("Task Pay(CancellationToken cancellation); Task<int> Read(); ")]
    public void One_input_and_a_token_are_right(string contract) =>
        Assert.Empty(Compile.Findings(Class(contract: contract)));

    [Fact]
    public void A_class_without_an_interface_is_an_error() =>
        Assert.Equal(["SNAP007"], Compile.Findings(Class(bases: "")));

    [Fact]
    public void A_name_that_no_actor_type_can_have_is_an_error() =>
        Assert.Equal(["SNAP008"], Compile.Findings(Class(attribute: "[Actor(TypeName = \"a b\")]")));

    [Fact]
    public void Reminders_of_the_SDK_are_an_error() =>
        Assert.Equal(["SNAP027"], Compile.Findings(Class(bases: ", ITill, Dapr.Actors.Runtime.IRemindable")));

    [Theory]
    [InlineData("public Task A() => RegisterTimerAsync(\"t\", \"A\", null!, default, default);", "no timers")]
    [InlineData("public Task A() => UnregisterTimerAsync(\"t\");", "no timers")]
    [InlineData("public Task A() => RegisterReminderAsync(\"t\", null!, default, default(TimeSpan));", "no reminders")]
    [InlineData("public Task A() => UnregisterReminderAsync(\"t\");", "no reminders")]
    [InlineData("public class B : IRemindable { public Task ReceiveReminderAsync("
        + "string n, byte[] s, TimeSpan d, TimeSpan p) => null!; }", "no reminders")]
    [InlineData("public Task A() => StateManager.SetStateAsync(\"t\", 1, TimeSpan.Zero);", "for a time only")]
    public void What_has_no_place_in_a_transaction_is_an_error_in_words(string member, string words)
    {
        var errors = Compile.Errors(Class(member));
        Assert.Contains(errors, error => error.StartsWith("CS0619", StringComparison.Ordinal)
            && error.Contains(words, StringComparison.Ordinal));
    }

    [Theory]
    [InlineData("Dapr.Actors.Client.ActorProxy.Create<ITill>(new ActorId(\"b\"), \"Till\").Pay(1)", true)]
    [InlineData("factory.CreateActorProxy<ITill>(new ActorId(\"b\"), \"Till\").Pay(1)", true)]
    [InlineData("ActorProxy.Create<ITill>(new ActorId(\"b\"), \"Till\").Pay(1)", false)]
    [InlineData("ProxyFactory.CreateActorProxy<ITill>(new ActorId(\"b\"), \"Till\").Pay(1)", false)]
    public async Task A_call_that_leaves_the_transaction_is_a_warning(string call, bool isWarned)
    {
        var warnings = await Compile.Warnings(Class($"public Task A(IActorProxyFactory factory) => {call};"));
        if (isWarned)
        {
            Assert.StartsWith("SNAP107 'Till.A' calls by ", Assert.Single(warnings), StringComparison.Ordinal);
        }
        else
        {
            Assert.Empty(warnings);
        }
    }

    [Theory]
    [InlineData("protected override Task OnActivateAsync() { _paid = 0; return Task.CompletedTask; }", 0)]
    [InlineData("public void Count() => _paid = 1;", 1)]
    public async Task Fields_are_filled_before_each_call_alone(string member, int warnings) => Assert.Equal(
        warnings, (await Compile.Warnings(
            Class("private int _paid; public int Paid => _paid; " + member), new BodyAnalyzer()))
            .Count(static one => one.StartsWith("SNAP208 ", StringComparison.Ordinal)));

    [Fact]
    public async Task To_wait_for_deactivation_is_a_warning() =>
        Assert.StartsWith(
            "SNAP108 ", Assert.Single(await Compile.Warnings(Class(
                "protected override Task OnDeactivateAsync() => Task.CompletedTask;"))), StringComparison.Ordinal);

    [Fact]
    public void Everything_that_is_generated_compiles() =>
        Assert.Empty(Compile.Errors(Class(
            "public Task<int> Read(CancellationToken c) => Task.FromResult(1);"
            + "public Task A() => ProxyFactory.CreateActorProxy<IElsewhere>(new ActorId(\"x\"), \"X\").Go(1, default);",
            contract: "Task Pay(int amount); Task<int> Read(CancellationToken c);")
            + "public interface IElsewhere : IActor { Task Go(int input, CancellationToken c); }"));
}
