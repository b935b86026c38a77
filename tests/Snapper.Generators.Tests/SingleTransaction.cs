using System.Collections.Concurrent;
using Snapper.Actors;
using Snapper.Actors.Generated;
using Snapper.Protocol.Identity;

namespace Snapper.Generators.Tests;

/// <summary>
/// Runs user code through the generated descriptors and proxies, one transaction at a time, and counts the calls that
/// each actor gets. A call that fails leaves the states as they were before the transaction.
/// </summary>
internal sealed class SingleTransaction(IReadOnlyList<ActorTypeDescriptor> types, IServiceProvider? services = null)
{
    private Dictionary<ActorKey, object> _states = [];

    public Dictionary<ActorKey, int> Calls { get; } = [];

    public async Task<TResult> Run<TInput, TResult>(ActorKey actor, string method, TInput input)
    {
        var before = new Dictionary<ActorKey, object>(_states);
        Calls.Clear();
        try
        {
            return await Turns.Run(() => Call<TInput, TResult>(actor, method, input));
        }
        catch
        {
            _states = before;
            throw;
        }
    }

    private async Task<TResult> Call<TInput, TResult>(ActorKey key, string name, TInput input)
    {
        Calls[key] = Calls.GetValueOrDefault(key) + 1;
        var type = types.Single(t => t.Type == key.Type);
        var method = (ActorMethod<TInput, TResult>)type.Methods.Single(m => m.Name == name);
        var actor = type.Create(services);
        actor.Enter(new Context(this, key));

        // The others get a chance to interleave, as they do at real awaits.
        await Task.Yield();
        var run = method.Run(actor, input);
        await run;
        return run is Task<TResult> withResult ? withResult.Result : default!;
    }

    /// <summary>One thread, first come, first served: what an actor's executor is to user code.</summary>
    private sealed class Turns : SynchronizationContext
    {
        private readonly BlockingCollection<(SendOrPostCallback Callback, object? State)> _waiting = [];

        public static Task<TResult> Run<TResult>(Func<Task<TResult>> code)
        {
            var outer = Current;
            var turns = new Turns();
            SetSynchronizationContext(turns);
            try
            {
                var run = code();
                while (!run.IsCompleted)
                {
                    if (!turns._waiting.TryTake(out var next, TimeSpan.FromSeconds(30)))
                    {
                        throw new TimeoutException("The code under test has not gone on for 30 s.");
                    }

                    next.Callback(next.State);
                }

                return run;
            }
            finally
            {
                SetSynchronizationContext(outer);
            }
        }

        public override void Post(SendOrPostCallback d, object? state) => _waiting.Add((d, state));
    }

    private sealed class Context(SingleTransaction transaction, ActorKey key) : ActorContext
    {
        public override ActorKey Actor => key;

        public override TransactionId Transaction => new(1);

        public override string RequestId => "request";

        public override string? Caller => null;

        public override string? TraceParent => null;

        public override DateTimeOffset UtcNow => DateTimeOffset.UnixEpoch;

        public override Guid NewGuid() => Guid.Empty;

        public override Task Delay(TimeSpan delay) => Task.Delay(delay);

        public override Task<TResult> Call<TInput, TResult>(string actorType, string actorId, ActorMethodKey method, TInput input) =>
            transaction.Call<TInput, TResult>(new ActorKey(actorType, actorId), method.Name, input);

        public override Task CallVoid<TInput>(string actorType, string actorId, ActorMethodKey method, TInput input) =>
            transaction.Call<TInput, Nothing>(new ActorKey(actorType, actorId), method.Name, input);

        public override ValueTask<object?> ReadState() => new(transaction._states.GetValueOrDefault(key));

        public override ValueTask<object?> ReadStateForUpdate() => ReadState();

        public override void WriteState(object state) => transaction._states[key] = state;
    }
}
