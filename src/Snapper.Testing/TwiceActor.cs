using System.Text;
using System.Text.Json;
using Snapper.Actors;
using Snapper.Actors.Generated;

namespace Snapper.Testing;

/// <summary>
/// Runs each method twice: once in its transaction, and once more on the same input, state, time, ids and results of
/// calls, without effects. What differs shows that the method depends on something else, or changes it.
/// </summary>
internal sealed class TwiceActor(ActorTypeDescriptor type, IServiceProvider? services) : TransactionalActor<object>
{
    /// <summary>Code of the abort that a difference is.</summary>
    public const string Code = "not_repeatable";

    private const int LongestShown = 200;

    /// <summary>How methods' values are compared and copied; as the worker writes them.</summary>
    public static JsonSerializerOptions Json { get; } = new(JsonSerializerDefaults.Web) { MaxDepth = 64 };

    /// <summary>The type, each of whose methods runs twice.</summary>
    public static ActorTypeDescriptor Of(ActorTypeDescriptor type) => type with
    {
        Create = services => new TwiceActor(type, services),
        Methods = [.. type.Methods.Select(static method => method.Accept(Wrapper.Instance))],
    };

    /// <summary>A value as JSON, not too long.</summary>
    public static string Shown(byte[]? json) => Shown(json is null ? "nothing" : Encoding.UTF8.GetString(json));

    /// <summary>A text, not too long.</summary>
    public static string Shown(string text) =>
        text.Length <= LongestShown ? text : text[..LongestShown] + "...";

    /// <inheritdoc/>
    protected override object InitialState() => throw new NotSupportedException("It has none of its own.");

    // Comes back to the actor's thread after each await, as methods do.
    private async Task<TResult> Run<TInput, TResult>(ActorMethod<TInput, TResult> method, TInput input)
    {
        var sent = method.InputIsImmutable ? null : JsonSerializer.SerializeToUtf8Bytes(input, Json);
        var log = new MethodLog(type.StateType);
        var first = await End(method, new RecordingContext(Context, log), input);
        log.Close();
        if (first.Failure is TransactionDoomedException)
        {
            throw first.Failure;
        }

        var again = new RepeatingContext(Context, log);
        var copy = sent is null ? input : JsonSerializer.Deserialize<TInput>(sent, Json)!;
        var second = await End(method, again, copy);
        if ((again.Difference ?? Compare(first, second) ?? again.Missing()) is { } difference)
        {
            throw new TransactionAbortException(
                Code, null,
                $"{type.Type}.{method.Name} does not do the same when it runs again on the same input and state: "
                + difference);
        }

        return first.Failure is null ? first.Result : throw first.Failure;
    }

    private async Task<Ended<TResult>> End<TInput, TResult>(
        ActorMethod<TInput, TResult> method, ActorContext context, TInput input)
    {
        try
        {
            var actor = type.Create(services);
            actor.Enter(context);
            var run = method.Run(actor, input);
            await run;
            return new Ended<TResult>(run is Task<TResult> { Result: var result } ? result : default!, null);
        }
        catch (Exception failure)
        {
            return new Ended<TResult>(default!, failure);
        }
    }

    private static string? Compare<TResult>(Ended<TResult> first, Ended<TResult> second)
    {
        var (one, two) = (first.Failure?.Message, second.Failure?.Message);
        if (one != two)
        {
            return $"first it {(one is null ? "returned" : $"failed with '{one}'")}, "
                + $"then it {(two is null ? "returned" : $"failed with '{two}'")}.";
        }

        var results = (Of(first), Of(second));
        return results.Item1.AsSpan().SequenceEqual(results.Item2)
            ? null
            : $"first it returned {Shown(results.Item1)}, then {Shown(results.Item2)}.";

        static byte[] Of(Ended<TResult> end) => JsonSerializer.SerializeToUtf8Bytes(end.Result, Json);
    }

    private readonly record struct Ended<TResult>(TResult Result, Exception? Failure);

    private sealed class Wrapper : IActorMethodVisitor<ActorMethod>
    {
        public static Wrapper Instance { get; } = new();

        public ActorMethod Visit<TInput, TResult>(ActorMethod<TInput, TResult> method) =>
            method.RunBy((actor, input) => ((TwiceActor)actor).Run(method, input));
    }
}
