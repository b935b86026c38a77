using Snapper.Actors;
using Snapper.Actors.Generated;
using Snapper.Protocol.Identity;

namespace Snapper.Generators.Tests;

public sealed class ExecutionTests
{
    private const string Source = """
        namespace @event.@class;

        public interface IBase : ITransactionalActor { Task<int> Get(); }

        public interface INote : IBase
        {
            Task Add(int input);
            Task<string> Call(string input);
            Task<List<string?>?> @new(Dictionary<string, int?> input);
            Task<int> Twice(int input) => Task.FromResult(input * 2);
        }

        public interface IElsewhere : ITransactionalActor { Task Do(); }

        public sealed record Total(int Value);

        [TransactionalActor("Notebook", TurnBoundMs = 300), PartitionKey('\'')]
        public sealed class Note : TransactionalActor<Total>, INote
        {
            protected override Total InitialState() => new(100);

            [ReadOnlyMethod] public async Task<int> Get() => (await State.Get()).Value;

            [MayAbort]
            public async Task Add(int input) => State.Set(new((await State.ForUpdate()).Value + input));

            async Task<string> INote.Call(string input)
            {
                var other = Actor<INote>(input);
                await other.Add(1);
                return $"{Id} sees {await other.Get()} of {input}, {await other.Twice(21)}";
            }

            public Task<List<string?>?> @new(Dictionary<string, int?> input) => Task.FromResult<List<string?>?>([.. input.Keys]);
        }
        """;

    private static readonly IReadOnlyList<ActorTypeDescriptor> Types =
        Compile.Actors(Compile.Load("Snapper.Sample-1.Tests", Source), "Snapper.Sample_1.Tests.SnapperSample_1TestsActors");

    [Fact]
    public void The_descriptor_says_what_the_class_declares()
    {
        var note = Assert.Single(Types);

        Assert.Equal("Notebook", note.Type);
        Assert.Equal("Note", note.ActorClass.Name);
        Assert.Equal("Total", note.StateType.Name);
        Assert.Equal(300, note.TurnBoundMs);
        Assert.Equal('\'', note.PartitionSeparator);
        Assert.True(note.StateIsImmutable);
        Assert.Equal(["IBase", "INote"], note.Interfaces.Select(i => i.Name).Order());
        Assert.Equal(["Add", "Call", "Get", "Twice", "new"], note.Methods.Select(m => m.Name).Order(StringComparer.Ordinal));
        Assert.Equal(["Add"], note.Methods.Where(m => m.MayAbort).Select(m => m.Name));
        Assert.Equal(["Get"], note.Methods.Where(m => m.ReadOnly).Select(m => m.Name));
        Assert.Equal((typeof(int), typeof(Nothing)), TypesOf(note, "Add"));
        Assert.Equal((typeof(Nothing), typeof(int)), TypesOf(note, "Get"));
    }

    [Fact]
    public async Task Calls_between_actors_go_through_proxies_and_dispatch()
    {
        var transaction = new SingleTransaction(Types);

        var text = await transaction.Run<string, string>(new ActorKey("Notebook", "a"), "Call", "b");

        Assert.Equal("a sees 101 of b, 42", text);
        Assert.Equal(1, transaction.Calls[new ActorKey("Notebook", "a")]);
        Assert.Equal(3, transaction.Calls[new ActorKey("Notebook", "b")]);
    }

    [Fact]
    public async Task Keywords_and_nullable_generics_work_as_names_and_types()
    {
        var transaction = new SingleTransaction(Types);

        var keys = await transaction.Run<Dictionary<string, int?>, List<string?>?>(
            new ActorKey("Notebook", "a"), "new", new Dictionary<string, int?> { ["x"] = null });

        Assert.Equal(["x"], keys);
    }

    [Fact]
    public void An_interface_means_the_type_of_the_class_that_implements_it()
    {
        Assert.Equal("Notebook", DefaultActorType("INote"));
        Assert.Equal("Notebook", DefaultActorType("IBase"));
    }

    [Fact]
    public void An_interface_without_a_class_means_its_own_name_without_the_I() =>
        Assert.Equal("Elsewhere", DefaultActorType("IElsewhere"));

    [Fact]
    public void Services_are_handed_to_the_constructor_and_a_missing_one_is_named()
    {
        var type = Assert.Single(Compile.Actors(
            Compile.Load("Services", """
                public interface IShop : ITransactionalActor { Task<string> Price(); }
                public sealed record Stock(int Value);
                public sealed class Missing;
                [TransactionalActor("Shop")]
                public sealed class Shop(Version prices, Missing? log, int bound, long? limit = null) : TransactionalActor<Stock>, IShop
                {
                    protected override Stock InitialState() => new(0);
                    public Task<string> Price() => Task.FromResult($"{prices} {log is null} {bound} {limit}");
                }
                """),
            "Services.ServicesActors"));

        Assert.NotNull(type.Create(new Services(new Version(3, 1), 7)));
        var nothing = Assert.Throws<InvalidOperationException>(() => type.Create(null));
        Assert.Equal("Actors of the type 'Shop' need the service System.Version, which the host has not registered.", nothing.Message);
        var noBound = Assert.Throws<InvalidOperationException>(() => type.Create(new Services(new Version(3, 1))));
        Assert.Contains("the service int", noBound.Message, StringComparison.Ordinal);
    }

    private static string DefaultActorType(string contract)
    {
        var type = Types[0].ActorClass.Assembly.GetType("event.class." + contract, throwOnError: true)!;
        return (string)typeof(ActorProxies).GetMethod(nameof(ActorProxies.DefaultActorType))!.MakeGenericMethod(type).Invoke(null, null)!;
    }

    private static (Type Input, Type Result) TypesOf(ActorTypeDescriptor type, string method)
    {
        var found = type.Methods.Single(m => m.Name == method);
        return (found.InputType, found.ResultType);
    }

    private sealed class Services(params object[] services) : IServiceProvider
    {
        public object? GetService(Type serviceType) => services.FirstOrDefault(serviceType.IsInstanceOfType);
    }
}
