using System.Text.Json;
using Snapper.Actors;
using Snapper.Actors.Generated;

namespace Snapper.Client.Calls;

/// <summary>Stands behind a proxy in a typed call: writes down the one method that the lambda calls, and its input.</summary>
internal sealed class RootCapture(Utf8JsonWriter json, JsonSerializerOptions options) : IActorCaller
{
    private const string OneCall =
        "The lambda must return its one call on the actor as it is: a => a.Transfer(input). The transaction runs on the workers; the result is that of the whole call.";

    private Task? _returned;

    /// <summary>The method that was called; empty before.</summary>
    public string Method { get; private set; } = "";

    public Task<TResult> Call<TInput, TResult>(string actorType, string actorId, ActorMethodKey method, TInput input)
    {
        Capture(method, input);
        _returned = Placeholder<TResult>.Task;
        return Placeholder<TResult>.Task;
    }

    public Task CallVoid<TInput>(string actorType, string actorId, ActorMethodKey method, TInput input)
    {
        Capture(method, input);
        _returned = Placeholder<Nothing>.Task;
        return _returned;
    }

    /// <summary>Checks that the lambda made one call and returned it.</summary>
    /// <exception cref="InvalidOperationException">It did not.</exception>
    public void Check(Task returned)
    {
        if (_returned is null || !ReferenceEquals(returned, _returned))
        {
            throw new InvalidOperationException(OneCall);
        }
    }

    private void Capture<TInput>(ActorMethodKey method, TInput input)
    {
        if (_returned is not null)
        {
            throw new InvalidOperationException(OneCall);
        }

        Method = method.Name;
        json.WriteString("method"u8, method.Name);
        if (typeof(TInput) != typeof(Nothing))
        {
            json.WritePropertyName("input"u8);
            JsonSerializer.Serialize(json, input, options);
        }
    }

    // Never a result: a lambda that awaits it fails at once, with the reason.
    private static class Placeholder<TResult>
    {
        public static readonly Task<TResult> Task = System.Threading.Tasks.Task.FromException<TResult>(new InvalidOperationException(OneCall));
    }
}
