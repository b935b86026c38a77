using System.Globalization;
using System.Runtime.InteropServices;
using System.Text.Json.Serialization;
using Snapper.Actors;

namespace Snapper.Simulation.Workloads;

/// <summary>A script to run on an actor.</summary>
/// <param name="Steps">The script.</param>
/// <param name="Seen">What its caller had seen before, if the script may abort: the abort rests on that, too.</param>
public sealed record ScriptInput(string Steps, string? Seen = null);

/// <summary>An actor with a list of numbers that runs scripts; returns what they saw, e.g. <c>c1=1,2;c1+3;</c>.</summary>
public interface IScripted : ITransactionalActor
{
    /// <summary>Runs a script; may end in an abort that the script orders.</summary>
    Task<string> Run(ScriptInput input);

    /// <summary>As <see cref="Run"/>, marked as one that may abort.</summary>
    Task<string> RunMarked(ScriptInput input);

    /// <summary>As <see cref="Run"/>, by values that can change.</summary>
    Task<OpenValue> RunOpen(OpenValue input);

    /// <summary>The list.</summary>
    Task<string> Look();
}

/// <summary>Interpreter of scripts over any state.</summary>
/// <typeparam name="TState">State with a list of numbers.</typeparam>
public abstract class ScriptedActor<TState> : TransactionalActor<TState>
    where TState : class
{
    /// <summary>The list.</summary>
    private protected abstract ReadOnlySpan<long> ValuesOf(TState state);

    /// <summary>Appends a number, in the state itself or in a new one.</summary>
    private protected abstract TState With(TState state, long value);

    /// <summary>A state of this attempt's own, given one for update.</summary>
    private protected abstract TState OwnOf(TState state);

    /// <summary>Numbers to be given away with a result: the state's own, where it has a list that can change.</summary>
    private protected abstract List<long> ListOf(TState state);

    private protected Task<string> Perform(ScriptInput input) =>
        Script.UsesContext(input.Steps, out var call) ? UseContext(input, call) : PerformSteps(input);

    private protected async Task<OpenValue> PerformOpen(OpenValue input)
    {
        var text = await PerformSteps(new ScriptInput(input.Text, input.Seen));
        input.Numbers.Add(0);
        return input.Result(text, ListOf(await State.Get()));
    }

    /// <summary>
    /// Not <c>async</c>: what the context throws to the code of a value while the worker writes that leaves the method
    /// at once.
    /// </summary>
    private Task<string> UseContext(ScriptInput input, ScriptPart part)
    {
        var (actor, script) = Script.CallOf(input.Steps, part);
        var value = new OpenValue { Text = script, Context = Context }.Misbehaving(OpenValue.UsesContext);
        _ = Open(actor, value);
        throw value.Kept ?? new InvalidOperationException("scripted, and nothing was thrown");
    }

    private async Task<string> PerformSteps(ScriptInput input)
    {
        var steps = input.Steps;
        var seen = ReportText.Begin();
        try
        {
            var at = 0;
            while (Script.TryNext(steps, ref at, steps.Length, out var part))
            {
                switch (part.Step)
                {
                    case ScriptStep.Read:
                        Note(await State.Get(), seen);
                        break;
                    case ScriptStep.Append:
                        await Append(part.Number, seen);
                        break;
                    case ScriptStep.Update:
                        Note(await State.Get(), seen);
                        await Append(part.Number, seen);
                        break;
                    case ScriptStep.Call:
                        seen.Append(await Call(input, part, seen));
                        break;
                    case ScriptStep.Fire:
                        _ = Call(input, part, seen);
                        break;
                    case ScriptStep.Try:
                        await Try(input, part, seen);
                        break;
                    case ScriptStep.Together:
                        await CallTogether(input, part, seen);
                        break;
                    case ScriptStep.Delay:
                        await Context.Delay(TimeSpan.FromMilliseconds(part.Number));
                        break;
                    case ScriptStep.Yield:
                        await Task.Yield();
                        break;
                    case ScriptStep.AbortIfOdd:
                        if (ValuesOf(await State.Get()).Length % 2 == 1)
                        {
                            Note(await State.Get(), seen);
                            throw Saw(input, seen);
                        }

                        break;
                    case ScriptStep.CallOpen:
                        seen.Append(await CallOpen(input, part, seen));
                        break;
                    case ScriptStep.Spoil:
                        var own = OwnOf(await State.ForUpdate());
                        Unruly.Spoil(own, part.Number);
                        State.Set(own);
                        break;
                    case ScriptStep.ThrowLater:
                        ThrowLater(part.Number);
                        break;
                    case ScriptStep.ThrowMute:
                        throw new MuteException();
                    case ScriptStep.Throw:
                        throw new InvalidOperationException("scripted");
                    default:
                        throw Saw(input, seen);
                }
            }

            return seen.ToString();
        }
        finally
        {
            seen.Free(); // nothing that it awaited holds it any more
        }
    }

    private protected async Task<string> Report()
    {
        var seen = ReportText.Begin();
        try
        {
            Note(await State.Get(), seen);
            return seen.ToString();
        }
        finally
        {
            seen.Free();
        }
    }

    private async Task Append(long value, ReportText seen)
    {
        State.Set(With(await State.ForUpdate(), value));
        seen.Append(Id).Append('+').Append(value).Append(';');
    }

    private void Note(TState state, ReportText seen)
    {
        seen.Append(Id).Append('=');
        var values = ValuesOf(state);
        for (var i = 0; i < values.Length; i++)
        {
            (i == 0 ? seen : seen.Append(',')).Append(values[i]);
        }

        seen.Append(';');
    }

    /// <summary>An abort that tells everything that it rests on: an outcome as that of a transaction that reads (H7).</summary>
    private static Exception Saw(ScriptInput input, ReportText seen) => Abort(Script.Saw + input.Seen + seen);

    private Task<string> Call(ScriptInput input, ScriptPart part, ReportText seen)
    {
        var (actor, script) = Script.CallOf(input.Steps, part);
        var called = new ScriptInput(script, Script.MayAbort(script) ? input.Seen + seen : null);
        return ScriptedTypes.IsMutable(actor) ? Actor<IMutableCell>(actor).Run(called) : Actor<ICell>(actor).Run(called);
    }

    /// <summary>Changes what it has got and looks whether what it has sent was changed: both are its own.</summary>
    private async Task<string> CallOpen(ScriptInput input, ScriptPart part, ReportText seen)
    {
        var (actor, script) = Script.CallOf(input.Steps, part);
        var sent = new OpenValue { Text = script, Seen = Script.MayAbort(script) ? input.Seen + seen : null };
        var got = await Open(actor, sent.Misbehaving(part.Number));
        got.Numbers.Add(0);
        return sent.Numbers.Count == 0 ? got.Text : $"{got.Text}{Id}=0;"; // no list begins so: the judge will say it
    }

    private Task<OpenValue> Open(string actor, OpenValue value) =>
        ScriptedTypes.IsMutable(actor) ? Actor<IMutableCell>(actor).RunOpen(value) : Actor<ICell>(actor).RunOpen(value);

    private async void ThrowLater(int milliseconds)
    {
        await Context.Delay(TimeSpan.FromMilliseconds(milliseconds));
        throw new MuteException();
    }

    private async Task Try(ScriptInput input, ScriptPart part, ReportText seen)
    {
        try
        {
            seen.Append(await Call(input, part, seen));
        }
        catch (Exception)
        {
            // That is the step's meaning: the transaction must abort all the same (A10).
        }
    }

    private async Task CallTogether(ScriptInput input, ScriptPart part, ReportText seen)
    {
        var calls = new List<Task<string>>();
        var at = part.Begin;
        while (Script.TryNext(input.Steps, ref at, part.End, out var call))
        {
            calls.Add(Call(input, call, seen));
        }

        foreach (var result in await Task.WhenAll(calls))
        {
            seen.Append(result);
        }
    }
}

/// <summary>The scripted actor with an immutable state.</summary>
public interface ICell : IScripted;

/// <summary>The scripted actor whose state is changed in place.</summary>
public interface IMutableCell : IScripted;

/// <summary>Immutable state.</summary>
[TransactionalActor("Cell")]
public sealed class Cell : ScriptedActor<NumberList>, ICell
{
    /// <inheritdoc/>
    protected override NumberList InitialState() => NumberList.Empty;

    /// <inheritdoc/>
    public Task<string> Run(ScriptInput input) => Perform(input);

    /// <inheritdoc/>
    [MayAbort]
    public Task<string> RunMarked(ScriptInput input) => Perform(input);

    /// <inheritdoc/>
    public Task<OpenValue> RunOpen(OpenValue input) => PerformOpen(input);

    /// <inheritdoc/>
    [ReadOnlyMethod]
    public Task<string> Look() => Report();

    private protected override ReadOnlySpan<long> ValuesOf(NumberList state) => state.Values;

    private protected override NumberList With(NumberList state, long value) => state.With(value);

    private protected override NumberList OwnOf(NumberList state) => state.Again();

    private protected override List<long> ListOf(NumberList state) => [];
}

/// <summary>State that is changed in place.</summary>
public sealed class MutableList
{
    /// <summary>The numbers.</summary>
    public List<long> Values { get; set; } = [];

    /// <summary>Is not written; its being asked for is a writing of the state.</summary>
    [JsonIgnore(Condition = JsonIgnoreCondition.WhenWritingDefault)]
    public int Written => Unruly.Written(this);
}

/// <summary>Mutable state (A8: an undo must not give it back changed).</summary>
[TransactionalActor("MutableCell")]
public sealed class MutableCell : ScriptedActor<MutableList>, IMutableCell
{
    /// <inheritdoc/>
    protected override MutableList InitialState() => new();

    /// <inheritdoc/>
    public Task<string> Run(ScriptInput input) => Perform(input);

    /// <inheritdoc/>
    [MayAbort]
    public Task<string> RunMarked(ScriptInput input) => Perform(input);

    /// <inheritdoc/>
    public Task<OpenValue> RunOpen(OpenValue input) => PerformOpen(input);

    /// <inheritdoc/>
    [ReadOnlyMethod]
    public Task<string> Look() => Report();

    private protected override ReadOnlySpan<long> ValuesOf(MutableList state) => CollectionsMarshal.AsSpan(state.Values);

    private protected override MutableList With(MutableList state, long value)
    {
        state.Values.Add(value);
        return state;
    }

    private protected override MutableList OwnOf(MutableList state) => state;

    private protected override List<long> ListOf(MutableList state) => state.Values;
}

/// <summary>Which type an actor id belongs to.</summary>
internal static class ScriptedTypes
{
    private static readonly string[] s_names = [.. Enumerable.Range(0, 64).Select(Name)];

    /// <summary>Name of an actor, the same object each time where there are not many.</summary>
    public static string NameOf(int number) => number < s_names.Length ? s_names[number] : Name(number);

    /// <summary>The same, of an actor's name.</summary>
    public static string NameOf(ReadOnlySpan<char> name)
    {
        // One or two digits, as nearly all names have.
        var number = name.Length switch { 2 => name[1] - '0', 3 => ((name[1] - '0') * 10) + name[2] - '0', _ => -1 };
        return number >= 0 && number < s_names.Length && name.SequenceEqual(s_names[number]) ? s_names[number] : name.ToString();
    }

    public static bool IsMutable(string actor) => actor[0] == 'm';

    public static string TypeOf(string actor) => IsMutable(actor) ? "MutableCell" : "Cell";

    private static string Name(int number) => string.Create(CultureInfo.InvariantCulture, $"{(number % 3 == 1 ? 'm' : 'c')}{number}");
}
