using System.Collections.Concurrent;
using Snapper.Actors;
using Snapper.Actors.Generated;
using Snapper.Apps.SmallBank.Contract;
using Snapper.Protocol.Identity;

namespace Snapper.Benchmarks.InProcess;

/// <summary>
/// NonTxn-local: the same actor classes and methods on as many single-threaded executors as the runtime has, placed by the same hash, with
/// their states in memory: no concurrency control, no undo, no log. What the transactions cost on top is the difference.
/// </summary>
public sealed class LocalActors : IDisposable
{
    private readonly LocalExecutor[] _executors;
    private readonly ActorTypeDescriptor _type;
    private readonly Dictionary<string, ActorMethod> _methods = [];

    /// <summary>Executors for one actor type.</summary>
    public LocalActors(int executors, ActorTypeDescriptor type)
    {
        _type = type;
        foreach (var method in type.Methods)
        {
            _methods[method.Name] = method;
        }

        _executors = new LocalExecutor[executors];
        for (var i = 0; i < executors; i++)
        {
            _executors[i] = new LocalExecutor(i);
        }
    }

    /// <summary>Runs the root method of a transfer and waits for its end.</summary>
    public Task MultiTransfer(string root, string[] to)
    {
        var key = new ActorKey(_type.Type, root);
        var done = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        ExecutorOf(key).Post(
            static state =>
            {
                var (actors, key, to, done) = ((LocalActors, ActorKey, string[], TaskCompletionSource))state!;
                _ = actors.RunRoot(key, to, done);
            },
            (this, key, to, done));
        return done.Task;
    }

    /// <inheritdoc/>
    public void Dispose()
    {
        foreach (var executor in _executors)
        {
            executor.Dispose();
        }
    }

    private async Task RunRoot(ActorKey key, string[] to, TaskCompletionSource done)
    {
        try
        {
            await Run<MultiTransferInput, decimal>(key, "MultiTransfer", new MultiTransferInput(to, 1));
            done.SetResult();
        }
        catch (Exception exception)
        {
            done.SetException(exception);
        }
    }

    private LocalExecutor ExecutorOf(ActorKey key) =>
        _executors.Length == 1 ? _executors[0] : _executors[(int)((key.Hash >> 32) % (ulong)_executors.Length)];

    private Task Run<TInput, TResult>(ActorKey key, string method, TInput input)
    {
        var executor = ExecutorOf(key);
        if (!executor.IsCurrent)
        {
            var result = new TaskCompletionSource<TResult>();
            executor.Post(
                async _ =>
                {
                    var task = Run<TInput, TResult>(key, method, input);
                    await task;
                    result.SetResult(task is Task<TResult> typed ? typed.Result : default!);
                },
                null);
            return result.Task;
        }

        var actor = _type.Create(null);
        actor.Enter(new LocalContext(this, executor, key));
        return ((ActorMethod<TInput, TResult>)_methods[method]).Run(actor, input);
    }

    private sealed class LocalContext(LocalActors actors, LocalExecutor executor, ActorKey key) : ActorContext
    {
        public override ActorKey Actor => key;

        public override TransactionId Transaction => default;

        public override string RequestId => string.Empty;

        public override string? Caller => null;

        public override string? TraceParent => null;

        public override DateTimeOffset UtcNow => default;

        public override Guid NewGuid() => Guid.NewGuid();

        public override Task Delay(TimeSpan delay) => Task.Delay(delay);

        public override Task<TResult> Call<TInput, TResult>(string actorType, string actorId, ActorMethodKey method, TInput input) =>
            (Task<TResult>)actors.Run<TInput, TResult>(new ActorKey(actorType, actorId), method.Name, input);

        public override Task CallVoid<TInput>(string actorType, string actorId, ActorMethodKey method, TInput input) =>
            actors.Run<TInput, Nothing>(new ActorKey(actorType, actorId), method.Name, input);

        public override ValueTask<object?> ReadState() => new(executor.States.GetValueOrDefault(key));

        public override ValueTask<object?> ReadStateForUpdate() => ReadState();

        public override void WriteState(object state) => executor.States[key] = state;
    }

    private sealed class LocalExecutor : SynchronizationContext, IDisposable
    {
        private readonly BlockingCollection<(SendOrPostCallback Callback, object? State)> _queue = [];
        private readonly Thread _thread;

        public LocalExecutor(int index)
        {
            _thread = new Thread(Loop) { IsBackground = true, Name = $"local-executor-{index}" };
            _thread.Start();
        }

        public Dictionary<ActorKey, object> States { get; } = [];

        public bool IsCurrent => Thread.CurrentThread == _thread;

        public override void Post(SendOrPostCallback d, object? state) => _queue.Add((d, state));

        public void Dispose()
        {
            _queue.CompleteAdding();
            _thread.Join();
            _queue.Dispose();
        }

        private void Loop()
        {
            SetSynchronizationContext(this);
            foreach (var (callback, state) in _queue.GetConsumingEnumerable())
            {
                callback(state);
            }
        }
    }
}
