using System.Globalization;
using System.Text.Json;
using System.Text.Json.Serialization;
using Snapper.Actors;

namespace Snapper.Runtime.Tests.Support;

/// <summary>A value whose getter runs what a method has given it.</summary>
public sealed class Sly
{
    [JsonIgnore]
    public Action? Getter { get; set; }

    public int Value
    {
        get
        {
            Getter?.Invoke();
            return 1;
        }

        set => _ = value;
    }
}

/// <summary>Its converter reads "one" and "two", writes neither, and one of them not at all.</summary>
[JsonConverter(typeof(LopsidedConverter))]
public enum Lopsided
{
    One,
    Two,
}

public sealed class LopsidedConverter : JsonConverter<Lopsided>
{
    public override Lopsided Read(ref Utf8JsonReader reader, Type typeToConvert, JsonSerializerOptions options) =>
        reader.GetString() switch
        {
            "one" => Lopsided.One,
            "two" => Lopsided.Two,
            _ => throw new FormatException("planned, in a converter"),
        };

    public override void Write(Utf8JsonWriter writer, Lopsided value, JsonSerializerOptions options)
    {
        if (value == Lopsided.Two)
        {
            throw new NotImplementedException();
        }

        writer.WriteStringValue("1");
    }
}

public sealed class LopsidedInput
{
    public Lopsided Kind { get; set; }
}

/// <summary>A state that cannot be written each second time, the first one included.</summary>
public sealed class UnrulyState
{
    private static int s_written;

    public int Value { get; set; }

    public bool Fails { get; set; }

    public int Written
    {
        get => Fails && Interlocked.Increment(ref s_written) % 2 == 1
            ? throw new IOException("planned, each second time")
            : 0;
        set => _ = value;
    }
}

public interface IUnruly : ITransactionalActor
{
    Task<int> Value();

    Task<int> AddUnruly();

    Task Take(Sly sly);

    Task Use(string other);

    Task TakeLopsided(LopsidedInput input);

    Task GiveLopsided(string other);

    Task ThrowLater(string gate);

    Task<int> Call(string gate);

    Task Spin();

    Task Leak(string what);

    Task<string> Ambient();
}

/// <summary>Methods whose values and whose unjoined code misbehave.</summary>
[TransactionalActor("Unruly")]
public sealed class UnrulyActor : TransactionalActor<UnrulyState>, IUnruly
{
    private static readonly AsyncLocal<string?> s_local = new();

    /// <summary>Turns of code that never ends.</summary>
    public static long Spins { get; private set; }

    protected override UnrulyState InitialState() => new();

    [ReadOnlyMethod]
    public async Task<int> Value() => (await State.Get()).Value;

    public async Task<int> AddUnruly()
    {
        var state = await State.ForUpdate();
        state.Fails = true;
        return ++state.Value;
    }

    public Task Take(Sly sly) => Task.CompletedTask;

    /// <summary>Not <c>async</c>: what it throws leaves it at once.</summary>
    public Task Use(string other)
    {
        Exception? kept = null;
        var sly = new Sly
        {
            Getter = () =>
            {
                try
                {
                    _ = Context.NewGuid();
                }
                catch (Exception exception)
                {
                    kept = exception;
                }
            },
        };
        _ = Actor<IUnruly>(other).Take(sly);
        throw kept ?? new InvalidOperationException("nothing was thrown");
    }

    public Task TakeLopsided(LopsidedInput input) => Task.CompletedTask;

    public Task GiveLopsided(string other) => Actor<IUnruly>(other).TakeLopsided(new LopsidedInput());

    public async Task ThrowLater(string gate)
    {
        ThrowBehind(Gate.Find(gate));
        await Task.Yield(); // does not return at once: its caller waits for a result that is delivered
    }

    public async Task<int> Call(string gate)
    {
        await Actor<IUnruly>("later").ThrowLater(gate);
        return 1;
    }

    public Task Spin()
    {
        _ = SpinForEver();
        return Task.CompletedTask;
    }

    /// <summary>Not <c>async</c>: what it changes around itself is not put back behind it.</summary>
    public Task Leak(string what)
    {
        switch (what)
        {
            case "local":
                s_local.Value = "leaked";
                return Task.CompletedTask;
            case "culture":
                var culture = (CultureInfo)CultureInfo.InvariantCulture.Clone();
                culture.NumberFormat.NumberDecimalSeparator = "|";
                CultureInfo.CurrentCulture = culture;
                return Task.CompletedTask;
            default:
                ExecutionContext.SuppressFlow();
                return Task.CompletedTask;
        }
    }

    public Task<string> Ambient() => Task.FromResult(
        $"{s_local.Value} {NumberFormatInfo.CurrentInfo.NumberDecimalSeparator} {ExecutionContext.IsFlowSuppressed()}");

    private static async void ThrowBehind(Gate gate)
    {
        await gate.Pass();
        throw new MuteException();
    }

    private static async Task SpinForEver()
    {
        while (true)
        {
            Spins++;
            await Task.Yield();
        }
    }
}

/// <summary>A state that can be written, and never be read.</summary>
[JsonConverter(typeof(OneWayConverter))]
public sealed record OneWayState(int Value);

public sealed class OneWayConverter : JsonConverter<OneWayState>
{
    public override OneWayState Read(ref Utf8JsonReader reader, Type typeToConvert, JsonSerializerOptions options) =>
        new(int.Parse(reader.GetString()!));

    public override void Write(Utf8JsonWriter writer, OneWayState value, JsonSerializerOptions options) =>
        writer.WriteNumberValue(value.Value);
}

public interface IOneWay : ITransactionalActor
{
    Task<int> Value();

    Task Set(int value);
}

[TransactionalActor("OneWay")]
public sealed class OneWayActor : TransactionalActor<OneWayState>, IOneWay
{
    protected override OneWayState InitialState() => new(0);

    [ReadOnlyMethod]
    public async Task<int> Value() => (await State.Get()).Value;

    public async Task Set(int value)
    {
        await State.ForUpdate();
        State.Set(new OneWayState(value));
    }
}

/// <summary>A value whose own code begins code that throws at its end.</summary>
public sealed class Careless
{
    private int _value;

    /// <summary>How often there was nothing that could have caught it: it would have ended the process.</summary>
    public static int Uncaught { get; private set; }

    public int Value
    {
        get
        {
            Begin();
            return _value;
        }

        set
        {
            Begin();
            _value = value;
        }
    }

    private static void Begin()
    {
        if (SynchronizationContext.Current is null)
        {
            Uncaught++;
            return;
        }

        Throw(wait: false);
        Throw(wait: true);
    }

    private static async void Throw(bool wait)
    {
        if (wait)
        {
            await Task.Yield();
            Throw(wait: false);
            await Task.Yield();
        }

        throw new IOException("planned, in a value");
    }
}

public interface ICareless : ITransactionalActor
{
    Task<Careless> Value();

    Task<Careless> Set(Careless value);

    Task<Careless> SetAtOther(Careless value);
}

[TransactionalActor("Careless")]
public sealed class CarelessActor : TransactionalActor<Careless>, ICareless
{
    protected override Careless InitialState() => new();

    [ReadOnlyMethod]
    public async Task<Careless> Value() => await State.Get();

    public async Task<Careless> Set(Careless value)
    {
        await State.ForUpdate();
        State.Set(value);
        return value;
    }

    public async Task<Careless> SetAtOther(Careless value) => await Actor<ICareless>("other").Set(value);
}

/// <summary>A state that is refused where it is made, and not where it is copied.</summary>
public sealed record Purse(int Coins)
{
    public int Coins { get; init; } =
        Coins >= 0 ? Coins : throw new ArgumentOutOfRangeException(nameof(Coins), "less than nothing");
}

public interface IPurse : ITransactionalActor
{
    Task<int> Value();

    Task Set(int coins);
}

[TransactionalActor("Purse")]
public sealed class PurseActor : TransactionalActor<Purse>, IPurse
{
    protected override Purse InitialState() => new(0);

    [ReadOnlyMethod]
    public async Task<int> Value() => (await State.Get()).Coins;

    public async Task Set(int coins)
    {
        var purse = await State.ForUpdate();
        State.Set(purse with { Coins = coins });
    }
}

/// <summary>A state that is refused where it is read, by the setter of what is written beside its parameters.</summary>
public sealed record Badge(string Text)
{
    public int Length
    {
        get => Text.Length;
        init => _ = value < 4 ? value : throw new ArgumentOutOfRangeException(nameof(value), "too long");
    }
}

public interface IBadge : ITransactionalActor
{
    Task<int> Value();

    Task Set(int length);
}

[TransactionalActor("Badge")]
public sealed class BadgeActor : TransactionalActor<Badge>, IBadge
{
    protected override Badge InitialState() => new("");

    [ReadOnlyMethod]
    public async Task<int> Value() => (await State.Get()).Length;

    public async Task Set(int length)
    {
        await State.ForUpdate();
        State.Set(new Badge(new string('x', length)));
    }
}
