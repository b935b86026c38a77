using System.Text.Json.Nodes;
using Snapper.Actors.Generated;

namespace Snapper.Generators.Tests;

public sealed class StateVersionTests
{
    private const string Chain = """
        public sealed record One(int A);
        public sealed record Two(int A, int B);
        [StateVersion(3)]
        public sealed record S(int A, int B, int C)
        {
            [Upcasts(2)] internal static S More(Two old) => new(old.A, old.B, 3);
            [Upcasts(1)] public static Two More(One old) => new(old.A, 2);
        }
        """;

    private const string First = "[Upcasts(1)] internal static S One(S old) => old; ";

    [Fact]
    public void Functions_are_found_on_the_state_and_run_in_the_order_of_their_versions()
    {
        var type = Single("Versions", Actor(Chain));
        var evolution = type.Evolution!;
        Assert.Equal((3, 1), (evolution.Version, evolution.Oldest));
        Assert.Equal(["1 One Two", "2 Two S"], evolution.Upcasts.Select(Show));
        var one = Activator.CreateInstance(evolution.Upcasts[0].Old, 1)!;
        Assert.Equal("S { A = 1, B = 2, C = 3 }", evolution.Upcasts[1].Run(evolution.Upcasts[0].Run(one)!)!.ToString());
        Assert.True(type.StateReadsAsWritten);
    }

    [Fact]
    public void Functions_of_the_actor_class_take_and_make_JSON()
    {
        var source = "using System.Text.Json.Nodes;" + Actor(
            "[StateVersion(3, Oldest = 2)] public sealed class S { public int A { get; set; } }", """
            [Upcasts(2)] internal static JsonObject? Renamed(JsonObject? old)
            { var a = old!["b"]!.DeepClone(); return new() { ["a"] = a }; }
            """);
        var type = Single("JsonVersions", source);
        var step = Assert.Single(type.Evolution!.Upcasts);
        Assert.Equal("""{"a":7}""", ((JsonObject)step.Run(JsonNode.Parse("""{"b":7}""")!)!).ToJsonString());
        Assert.Equal((3, 2, false), (type.Evolution.Version, type.Evolution.Oldest, type.StateReadsAsWritten));
    }

    [Fact]
    public void The_version_may_stand_on_the_actor_class_and_the_first_needs_no_function()
    {
        const string State = "public sealed record S(int A);";
        Assert.Null(Single("Plain", Actor(State)).Evolution);
        Assert.Equal(1, Single("Initial", Actor(State, mark: "[StateVersion(1)]")).Evolution!.Version);
        var second = Single("Second", Actor(State, First, "[StateVersion(2)]"));
        Assert.Equal(["1 S S"], second.Evolution!.Upcasts.Select(Show));
    }

    [Theory]
    [InlineData("0", "", "SNAP020")]
    [InlineData("1000001", "", "SNAP020")]
    [InlineData("2, Oldest = 3", "", "SNAP020")]
    [InlineData("2, Oldest = 0", "", "SNAP020")]
    [InlineData("2", "[Upcasts(1)] internal S No(S old) => old;", "SNAP021")]
    [InlineData("2", "[Upcasts(1)] private static S No(S old) => old;", "SNAP021")]
    [InlineData("2", "[Upcasts(1)] internal static S No<T>(T old) => new(1);", "SNAP021")]
    [InlineData("2", "[Upcasts(1)] internal static void No(S old) { }", "SNAP021")]
    [InlineData("2", "[Upcasts(1)] internal static S No() => new(1);", "SNAP021")]
    [InlineData("2", "[Upcasts(1)] internal static S No(ref S old) => old;", "SNAP021")]
    [InlineData("2", "[Upcasts(1)] internal static Task<S> No(S old) => Task.FromResult(old);", "SNAP021")]
    [InlineData("2", "", "SNAP022")]
    [InlineData("4", First + "[Upcasts(3)] internal static S Third(S old) => old;", "SNAP022")]
    [InlineData("2", First + "[Upcasts(1)] internal static S Again(S old) => old;", "SNAP023")]
    [InlineData("2", "[Upcasts(1)] internal static T No(S old) => new(1);", "SNAP024")]
    [InlineData("3", First + "[Upcasts(2)] internal static S No(T old) => new(2);", "SNAP024")]
    [InlineData("2", First + "[Upcasts(2)] internal static S Second(S old) => old;", "SNAP026")]
    [InlineData("3, Oldest = 2", First + "[Upcasts(2)] internal static S Second(S old) => old;", "SNAP026")]
    public void A_chain_that_does_not_hold_is_a_build_error(string version, string members, string rule) =>
        Assert.Equal([rule], Compile.Findings(Actor(Numbered(version, members))));

    [Theory]
    [InlineData("List<int>")]
    [InlineData("Dictionary<string, int>")]
    public void A_state_that_is_no_object_in_JSON_is_a_build_error(string like) =>
        Assert.Equal(["SNAP025"], Compile.Findings(Actor($"[StateVersion(1)] public sealed class S : {like};")));

    [Fact]
    public void A_class_and_its_state_that_have_different_versions_are_a_build_error() =>
        Assert.Equal(["SNAP020"], Compile.Findings(Actor(Numbered("1"), mark: "[StateVersion(2)]")));

    [Fact]
    public void The_missing_step_is_named()
    {
        var sample = Compile.Sources("Sample", Actor(Numbered("3", First)));
        var found = Assert.Single(Compile.Driver().RunGenerators(sample).GetRunResult().Diagnostics);
        Assert.Equal(
            "The state of 'Sample' has version 3, and states of version 2 become none of version 3: add a static "
            + "function with [Upcasts(2)] to 'S', or leave older ones unread by Oldest = 3",
            found.GetMessage(null));
    }

    [Theory]
    [InlineData("public sealed record S(int A) {" + First + "}", "'S.One'")]
    [InlineData("[StateVersion(1)] public sealed record S(int A); public static class T {" + First + "}", "'T.One'")]
    public async Task A_function_that_no_state_is_read_by_is_a_warning(string state, string where)
    {
        var warning = Assert.Single(await Compile.Warnings(Actor(state)));
        Assert.StartsWith("SNAP106 " + where, warning, StringComparison.Ordinal);
    }

    [Fact]
    public async Task One_in_the_state_or_the_actor_class_is_none()
    {
        Assert.Empty(await Compile.Warnings(Actor(Chain)));
        Assert.Empty(await Compile.Warnings(Actor("public sealed record S(int A);", First, "[StateVersion(2)]")));
        Assert.Empty(await Compile.Warnings(Actor("[StateVersion(2)] public sealed record S(int A);", First)));
    }

    private static string Numbered(string version, string members = "") =>
        $"public sealed record T(int A); [StateVersion({version})] public sealed record S(int A) {{ {members} }}";

    private static ActorTypeDescriptor Single(string assembly, string source) =>
        Assert.Single(Compile.Actors(Compile.Load(assembly, source), $"{assembly}.{assembly}Actors"));

    private static string Show(StateUpcast step) => $"{step.From} {step.Old.Name} {step.Next.Name}";

    private static string Actor(string state, string members = "", string mark = "") => state + $$"""

        public interface ISample : ITransactionalActor { Task Do(); }
        {{mark}}
        [TransactionalActor("Sample")]
        public sealed class Sample : TransactionalActor<S>, ISample
        {
            protected override S InitialState() => throw new NotSupportedException();
            public Task Do() => Task.CompletedTask;
            {{members}}
        }
        """;
}
