using System.Diagnostics;
using Snapper.Actors;

namespace Snapper.Runtime.Tests.Support;

/// <summary>One step of a scripted method.</summary>
/// <param name="Do">What: see <see cref="BoxActor"/>.</param>
/// <param name="To">Id of the box called.</param>
/// <param name="Steps">What the called box does; for <c>together</c> the calls.</param>
/// <param name="N">A number.</param>
/// <param name="Gate">Name of a <see cref="Support.Gate"/>.</param>
public sealed record Step(string Do, string? To = null, Step[]? Steps = null, int N = 0, string? Gate = null)
{
    public static Step Add(int n = 1) => new("add", N: n);

    public static Step Pad(int n) => new("pad", N: n);

    public static Step Get() => new("get");

    public static Step Call(string to, params Step[] steps) => new("call", to, steps);

    public static Step Fire(string to, params Step[] steps) => new("fire", to, steps);

    public static Step Try(string to, params Step[] steps) => new("try", to, steps);

    public static Step Together(params Step[] calls) => new("together", Steps: calls);

    public static Step Wait(Gate gate) => new("wait", Gate: gate.Name);

    public static Step Block(Gate gate) => new("block", Gate: gate.Name);

    public static Step Throw() => new("throw");

    public static Step Abort() => new("abort");

    /// <summary>Aborts, and says all that was seen before it.</summary>
    public static Step Tell() => new("tell");
}

public sealed record Script(Step[] Steps);

public sealed record BoxState(int Value, string Pad = "");

public interface IBox : ITransactionalActor
{
    /// <summary>Runs the steps; returns what its <c>get</c> steps and the calls it awaited saw.</summary>
    Task<int[]> Run(Script script);

    Task<int[]> RunMarked(Script script);

    Task<int[]> RunWithShortTurns(Script script);
}

/// <summary>A number, and methods that do what a test writes down.</summary>
[TransactionalActor("Box")]
public sealed class BoxActor : TransactionalActor<BoxState>, IBox
{
    /// <summary>Turns of methods that never end.</summary>
    public static long Spins { get; private set; }

    protected override BoxState InitialState() => new(0);

    [MayAbort]
    public Task<int[]> RunMarked(Script script) => RunSteps(script.Steps);

    public Task<int[]> Run(Script script) => RunSteps(script.Steps);

    public Task<int[]> RunWithShortTurns(Script script) => RunSteps(script.Steps);

    private async Task<int[]> RunSteps(Step[] steps)
    {
        var seen = new List<int>();
        foreach (var step in steps)
        {
            await Do(step, seen);
        }

        return seen.ToArray();
    }

    private async Task Do(Step step, List<int> seen)
    {
        switch (step.Do)
        {
            case "get":
                seen.Add((await State.Get()).Value);
                break;
            case "add":
                var box = await State.ForUpdate();
                State.Set(box with { Value = box.Value + step.N });
                break;
            case "pad":
                var padded = await State.ForUpdate();
                State.Set(padded with { Pad = padded.Pad + new string('x', step.N) });
                break;
            case "call":
                seen.AddRange(await Call(step));
                break;
            case "fire":
                _ = Call(step);
                break;
            case "try":
                try
                {
                    seen.AddRange(await Call(step));
                }
                catch (Exception exception)
                {
                    seen.Add(exception is TransactionDoomedException ? -1 : -2);
                }

                break;
            case "together":
                foreach (var result in await Task.WhenAll(step.Steps!.Select(Call)))
                {
                    seen.AddRange(result);
                }

                break;
            case "wait":
                await Gate.Find(step.Gate!).Pass();
                break;
            case "yield":
                await Task.Yield();
                break;
            case "block":
                Gate.Find(step.Gate!).Block();
                break;
            case "note":
                Note(step, () => State.Set(new BoxState(1_000_000)));
                Note(step, () => _ = Context.NewGuid());
                Note(step, () => _ = Actor<IBox>(step.To!).Run(new Script([])));
                break;
            case "throw":
                throw new InvalidOperationException("planned");
            case "pick":
                seen.Add((await Actor<IOdd>(step.To!).Pick()).Word.Length);
                break;
            case "setNull":
                await State.ForUpdate();
                Context.WriteState(null!);
                break;
            case "throwMute":
                throw new MuteException();
            case "spin":
                while (true)
                {
                    Spins++;
                    await Task.Yield();
                }

            case "badType":
                await Context.Call<int, int>("bad\ud800", "x", new Snapper.Actors.Generated.ActorMethodKey("m"), 0);
                break;
            case "doomNone":
                throw new TransactionDoomedException(Snapper.Protocol.Messages.AbortReason.None, "not json", new Snapper.Protocol.Identity.ActorKey("A", "\ud800"));
            case "doomConflict":
                throw new TransactionDoomedException(Snapper.Protocol.Messages.AbortReason.Conflict, "made up");
            case "abort":
                throw Abort("planned");
            case "tell":
                throw Abort("saw " + string.Join(' ', seen));
            case "asyncVoid":
                ThrowLater();
                break;
            case "poolThread":
                await Task.Run(() => Note(step, () => State.Set(new BoxState(1_000_000))));
                break;
            case "noContext":
                await Task.Delay(1).ConfigureAwait(false);
                Note(step, () => State.Set(new BoxState(1_000_000)));
                break;
            case "afterReturn":
                UseLater(step);
                break;
            case "chain":
                seen.AddRange(await Actor<IBox>(Id + "'").Run(new Script(step.N <= 1 ? [Step.Add()] : [step with { N = step.N - 1 }])));
                break;
            case "rounds":
                seen.AddRange(await Actor<IBox>((int.Parse(Id) ^ 1).ToString()).Run(new Script(step.N <= 1 ? [Step.Add()] : [step with { N = step.N - 1 }])));
                break;
            default:
                throw new UnreachableException(step.Do);
        }
    }

    private Task<int[]> Call(Step step) => Actor<IBox>(step.To!).Run(new Script(step.Steps!));

    private static void Note(Step step, Action use)
    {
        try
        {
            use();
            Gate.Find(step.Gate!).Notes.Enqueue("worked");
        }
        catch (TransactionDoomedException)
        {
            Gate.Find(step.Gate!).Notes.Enqueue("doomed");
        }
        catch (InvalidOperationException)
        {
            Gate.Find(step.Gate!).Notes.Enqueue("invalid");
        }
    }

    private static async void ThrowLater()
    {
        await Task.Yield();
        throw new InvalidOperationException("planned, in an async void method");
    }

    // Stands for code that nobody joins: it uses its context when the transaction has long ended.
    private async void UseLater(Step step)
    {
        await Gate.Find(step.Gate!).Pass();
        Note(step, () => State.Set(new BoxState(1_000_000)));
        Note(step, () => _ = Context.NewGuid());
    }
}
