using System.Runtime.InteropServices;
using System.Text;
using Snapper.Actors;

namespace Snapper.Simulation.Workloads;

/// <summary>A script to run on an actor.</summary>
public sealed record ScriptInput(string Steps);

/// <summary>An actor with a list of numbers that runs scripts; returns what they saw, e.g. <c>c1=1,2;c1+3;</c>.</summary>
public interface IScripted : ITransactionalActor
{
    /// <summary>Runs a script; may end in an abort that the script orders.</summary>
    Task<string> Run(ScriptInput input);

    /// <summary>As <see cref="Run"/>, marked as one that may abort.</summary>
    Task<string> RunMarked(ScriptInput input);

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

    private protected async Task<string> Perform(string steps)
    {
        var seen = ReportText.Begin();
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
                    seen.Append(await Call(steps, part));
                    break;
                case ScriptStep.Fire:
                    _ = Call(steps, part);
                    break;
                case ScriptStep.Try:
                    await Try(steps, part, seen);
                    break;
                case ScriptStep.Together:
                    await CallTogether(steps, part, seen);
                    break;
                case ScriptStep.Delay:
                    await Context.Delay(TimeSpan.FromMilliseconds(part.Number));
                    break;
                case ScriptStep.Yield:
                    await Task.Yield();
                    break;
                case ScriptStep.AbortIfOdd:
                    AbortIfOdd(await State.Get());
                    break;
                case ScriptStep.Throw:
                    throw new InvalidOperationException("scripted");
                default:
                    throw Abort("scripted");
            }
        }

        return ReportText.End(seen);
    }

    private protected async Task<string> Report()
    {
        var seen = ReportText.Begin();
        Note(await State.Get(), seen);
        return ReportText.End(seen);
    }

    private async Task Append(long value, StringBuilder seen)
    {
        State.Set(With(await State.ForUpdate(), value));
        seen.Append(Id).Append('+').Append(value).Append(';');
    }

    private void Note(TState state, StringBuilder seen)
    {
        seen.Append(Id).Append('=');
        var values = ValuesOf(state);
        for (var i = 0; i < values.Length; i++)
        {
            (i == 0 ? seen : seen.Append(',')).Append(values[i]);
        }

        seen.Append(';');
    }

    private void AbortIfOdd(TState state)
    {
        if (ValuesOf(state).Length % 2 == 1)
        {
            var seen = new StringBuilder(Script.Saw);
            Note(state, seen);
            throw Abort(seen.ToString());
        }
    }

    private Task<string> Call(string steps, ScriptPart part)
    {
        var (actor, script) = Script.CallOf(steps, part);
        return ScriptedTypes.IsMutable(actor) ? Actor<IMutableCell>(actor).Run(new ScriptInput(script)) : Actor<ICell>(actor).Run(new ScriptInput(script));
    }

    private async Task Try(string steps, ScriptPart part, StringBuilder seen)
    {
        try
        {
            seen.Append(await Call(steps, part));
        }
        catch (Exception)
        {
            // That is the step's meaning: the transaction must abort all the same (A10).
        }
    }

    private async Task CallTogether(string steps, ScriptPart part, StringBuilder seen)
    {
        var calls = new List<Task<string>>();
        var at = part.Begin;
        while (Script.TryNext(steps, ref at, part.End, out var call))
        {
            calls.Add(Call(steps, call));
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
    public Task<string> Run(ScriptInput input) => Perform(input.Steps);

    /// <inheritdoc/>
    [MayAbort]
    public Task<string> RunMarked(ScriptInput input) => Perform(input.Steps);

    /// <inheritdoc/>
    [ReadOnlyMethod]
    public Task<string> Look() => Report();

    private protected override ReadOnlySpan<long> ValuesOf(NumberList state) => state.Values;

    private protected override NumberList With(NumberList state, long value) => state.With(value);
}

/// <summary>State that is changed in place.</summary>
public sealed class MutableList
{
    /// <summary>The numbers.</summary>
    public List<long> Values { get; set; } = [];
}

/// <summary>Mutable state (A8: an undo must not give it back changed).</summary>
[TransactionalActor("MutableCell")]
public sealed class MutableCell : ScriptedActor<MutableList>, IMutableCell
{
    /// <inheritdoc/>
    protected override MutableList InitialState() => new();

    /// <inheritdoc/>
    public Task<string> Run(ScriptInput input) => Perform(input.Steps);

    /// <inheritdoc/>
    [MayAbort]
    public Task<string> RunMarked(ScriptInput input) => Perform(input.Steps);

    /// <inheritdoc/>
    [ReadOnlyMethod]
    public Task<string> Look() => Report();

    private protected override ReadOnlySpan<long> ValuesOf(MutableList state) => CollectionsMarshal.AsSpan(state.Values);

    private protected override MutableList With(MutableList state, long value)
    {
        state.Values.Add(value);
        return state;
    }
}

/// <summary>Which type an actor id belongs to.</summary>
internal static class ScriptedTypes
{
    public static bool IsMutable(string actor) => actor[0] == 'm';

    public static string TypeOf(string actor) => IsMutable(actor) ? "MutableCell" : "Cell";
}
