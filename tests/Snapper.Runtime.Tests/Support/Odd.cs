using Snapper.Actors;

namespace Snapper.Runtime.Tests.Support;

public sealed record Inner(int Depth);

public sealed record Typed(int Count, string Name, long[] Numbers, Inner Inner);

/// <summary>An input whose own code throws something unexpected.</summary>
public sealed class Picky
{
    public string Word { get; set => field = value switch
    {
        "good" => value,
        "mute" => throw new MuteException(),
        _ => throw new IOException("this word is not good"),
    }; } = "good";
}

[System.Text.Json.Serialization.JsonConverter(typeof(System.Text.Json.Serialization.JsonStringEnumConverter<Colour>))]
public enum Colour
{
    Red,
    Green,
}

[System.Text.Json.Serialization.JsonUnmappedMemberHandling(System.Text.Json.Serialization.JsonUnmappedMemberHandling.Skip)]
public sealed record OpenInput(int Known);

public sealed class BagInput
{
    [System.Text.Json.Serialization.JsonExtensionData]
    public Dictionary<string, System.Text.Json.JsonElement>? More { get; set; }
}

/// <summary>A type that reads itself.</summary>
[System.Text.Json.Serialization.JsonConverter(typeof(EvenConverter))]
public readonly record struct Even(int Value);

public sealed class EvenConverter : System.Text.Json.Serialization.JsonConverter<Even>
{
    public override Even Read(ref System.Text.Json.Utf8JsonReader reader, Type typeToConvert, System.Text.Json.JsonSerializerOptions options)
    {
        var value = reader.GetInt32();
        return value % 2 == 0 ? new Even(value) : throw new FormatException($"{value} is odd");
    }

    public override void Write(System.Text.Json.Utf8JsonWriter writer, Even value, System.Text.Json.JsonSerializerOptions options) => writer.WriteNumberValue(value.Value);
}

public sealed record Kinds(
    DateTimeOffset? When = null, Guid? Id = null, Colour Colour = Colour.Red, Dictionary<string, bool>? Flags = null, System.Text.Json.JsonElement? Any = null,
    Even Even = default, OpenInput? Open = null, BagInput? Bag = null);

public sealed record Facts(string Actor, string RequestId, string? Caller, string? TraceParent, DateTimeOffset UtcNow, Guid First, Guid Second);

/// <summary>A state that cannot always be written as JSON.</summary>
public sealed record OddState(string Text, double Number)
{
    /// <summary>Ends the waiting of an endless one.</summary>
    public static ManualResetEventSlim Enough { get; } = new();

    public int Length => Text switch
    {
        "broken" => throw new IOException("planned, in a property"),
        "mute" => throw new MuteException(),
        "endless" => Wait(),
        _ => Text.Length,
    };

    private static int Wait()
    {
        Enough.Wait();
        return 0;
    }
}

/// <summary>An exception that throws when it is asked what it says.</summary>
public sealed class MuteException : Exception
{
    public override string Message => throw new InvalidOperationException("planned, in a message");
}

public sealed record MuteResult(int Value)
{
    public int Broken => throw new MuteException();
}

public sealed record OddResult(int Value)
{
    public int Broken => throw new IOException("planned, in a result");
}

public sealed record Growth(int Size, string? Other);

public interface IOdd : ITransactionalActor
{
    Task<int> Grow(Growth growth);

    Task GrowAll(string[] others);

    Task<int> Size();

    Task<string> Big(int size);

    Task<OddResult> BadResult();

    Task<MuteResult> MuteResult();

    Task Spoil(string how);

    Task<Typed> Take(Typed input);

    Task<string> TakePicky(Picky input);

    Task<Picky> Pick();

    Task<int> TakeKinds(Kinds input);

    Task<Facts[]> Facts(string? other);

    Task<int> Peek(string how);
}

[TransactionalActor("Odd")]
public sealed class OddActor : TransactionalActor<OddState>, IOdd
{
    protected override OddState InitialState() => new("", 0);

    public async Task<int> Grow(Growth growth)
    {
        var state = await State.ForUpdate();
        State.Set(state with { Text = state.Text + new string('x', growth.Size) });
        if (growth.Other is not null)
        {
            await Actor<IOdd>(growth.Other).Grow(new Growth(1, null));
        }

        return state.Text.Length + growth.Size;
    }

    public async Task GrowAll(string[] others)
    {
        State.Set(await State.ForUpdate() with { Number = 2 });
        foreach (var other in others)
        {
            await Actor<IOdd>(other).Grow(new Growth(1, null));
        }
    }

    [ReadOnlyMethod]
    public async Task<int> Size() => (await State.Get()).Text.Length;

    public async Task<string> Big(int size)
    {
        State.Set(await State.ForUpdate() with { Number = 1 });
        return new string('x', size);
    }

    public Task<MuteResult> MuteResult() => Task.FromResult(new MuteResult(1));

    public Task<OddResult> BadResult() => Task.FromResult(new OddResult(1));

    public async Task Spoil(string how)
    {
        var state = await State.ForUpdate();
        State.Set(how == "nan" ? state with { Number = double.NaN } : state with { Text = how });
    }

    public Task<Typed> Take(Typed input) => Task.FromResult(input);

    public Task<int> TakeKinds(Kinds input) => Task.FromResult(input.Even.Value);

    public Task<Picky> Pick() => Task.FromResult(new Picky());

    public Task<string> TakePicky(Picky input) => Task.FromResult(input.Word);

    public async Task<Facts[]> Facts(string? other)
    {
        var mine = new Facts(Context.Actor.Id, Context.RequestId, Context.Caller, Context.TraceParent, Context.UtcNow, Context.NewGuid(), Context.NewGuid());
        await Task.Delay(2);
        return string.IsNullOrEmpty(other) ? [mine] : [mine, .. await Actor<IOdd>(other).Facts("")];
    }

    /// <summary>Keeps its word or breaks it.</summary>
    [ReadOnlyMethod]
    public async Task<int> Peek(string how)
    {
#pragma warning disable SNAP103 // the worker refuses it, too
        switch (how)
        {
            case "ask":
                await State.ForUpdate();
                break;
            case "set":
                State.Set(new OddState("set", 0));
                break;
            case "catch":
                try
                {
                    await State.ForUpdate();
                }
                catch (TransactionDoomedException)
                {
                    return 1;
                }

                break;
            case "call":
                await Actor<IOdd>("b").Grow(new Growth(1, null));
                break;
            default:
                return await Actor<IOdd>("b").Size() + (await State.Get()).Text.Length;
        }
#pragma warning restore SNAP103

        return 0;
    }
}
