using System.Text.Json;
using Snapper.Actors;
using Snapper.Actors.Generated;
using Snapper.Protocol.Identity;

namespace Snapper.Testing;

/// <summary>The facts of an attempt, which are the same in both runs of a method.</summary>
/// <param name="attempt">The worker's.</param>
internal abstract class TwiceContext(ActorContext attempt) : ActorContext
{
    public override ActorKey Actor => attempt.Actor;

    public override TransactionId Transaction => attempt.Transaction;

    public override string RequestId => attempt.RequestId;

    public override string? Caller => attempt.Caller;

    public override string? TraceParent => attempt.TraceParent;

    public override DateTimeOffset UtcNow => attempt.UtcNow;
}

/// <summary>Of the first run: all goes to the worker, and is written down.</summary>
/// <param name="attempt">The worker's.</param>
/// <param name="log">Of the run.</param>
internal sealed class RecordingContext(ActorContext attempt, MethodLog log) : TwiceContext(attempt)
{
    private readonly ActorContext _attempt = attempt;

    public override Guid NewGuid()
    {
        var id = _attempt.NewGuid();
        log.Ids.Add(id);
        return id;
    }

    public override Task Delay(TimeSpan delay) => _attempt.Delay(delay);

    public override Task<TResult> Call<TInput, TResult>(
        string actorType, string actorId, ActorMethodKey method, TInput input) =>
        Made(actorType, actorId, method, input, () =>
            _attempt.Call<TInput, TResult>(actorType, actorId, method, input));

    public override Task CallVoid<TInput>(string actorType, string actorId, ActorMethodKey method, TInput input) =>
        Made(actorType, actorId, method, input, () => _attempt.CallVoid(actorType, actorId, method, input));

    public override async ValueTask<object?> ReadState()
    {
        var place = log.Reads.Count;
        log.Reads.Add(null);
        var state = await _attempt.ReadState();
        log.Reads[place] = log.Write(state);
        return state;
    }

    public override async ValueTask<object?> ReadStateForUpdate()
    {
        var place = log.Reads.Count;
        log.Reads.Add(null);
        var state = await _attempt.ReadStateForUpdate();
        log.Reads[place] = log.Write(state);
        log.Leave(state);
        return state;
    }

    public override void WriteState(object state)
    {
        _attempt.WriteState(state);
        log.Leave(state);
    }

    private TTask Made<TInput, TTask>(
        string actorType, string actorId, ActorMethodKey method, TInput input, Func<TTask> call)
        where TTask : Task
    {
        var what = MethodLog.Name(actorType, actorId, method.Name, input);
        var answer = call();
        log.Calls.Add((what, answer));
        return answer;
    }
}

/// <summary>Of the second run: it is given what the first one was, and nothing of it remains.</summary>
/// <param name="attempt">The worker's.</param>
/// <param name="first">What the first run saw and did.</param>
internal sealed class RepeatingContext(ActorContext attempt, MethodLog first) : TwiceContext(attempt)
{
    private readonly ActorContext _attempt = attempt;
    private object? _left;
    private object? _held;
    private int _reads;
    private int _calls;
    private int _ids;

    /// <summary>The first thing that it did otherwise; null: nothing so far.</summary>
    public string? Difference { get; private set; }

    /// <summary>What it did otherwise and shows at its end; null: nothing.</summary>
    public string? Missing()
    {
        if (_calls < first.Calls.Count)
        {
            return $"only the first time it called {TwiceActor.Shown(first.Calls[_calls].What)}.";
        }

        var left = first.Write(_left);
        return left.AsSpan().SequenceEqual(first.Left)
            ? null
            : $"first it left the state {TwiceActor.Shown(first.Left)}, then {TwiceActor.Shown(left)}.";
    }

    public override Guid NewGuid() => _ids < first.Ids.Count ? first.Ids[_ids++] : _attempt.NewGuid();

    public override Task Delay(TimeSpan delay) => Task.CompletedTask;

    public override async Task<TResult> Call<TInput, TResult>(
        string actorType, string actorId, ActorMethodKey method, TInput input)
    {
        var answer = await (Task<TResult>)Next(MethodLog.Name(actorType, actorId, method.Name, input));
        var json = JsonSerializer.SerializeToUtf8Bytes(answer, TwiceActor.Json);
        return JsonSerializer.Deserialize<TResult>(json, TwiceActor.Json)!;
    }

    public override Task CallVoid<TInput>(string actorType, string actorId, ActorMethodKey method, TInput input) =>
        Next(MethodLog.Name(actorType, actorId, method.Name, input));

    public override ValueTask<object?> ReadState() => new(State());

    public override ValueTask<object?> ReadStateForUpdate()
    {
        var state = State();
        _left = state ?? _left;
        return new(state);
    }

    public override void WriteState(object state) => _left = _held = state;

    private Task Next(string what)
    {
        if (_calls >= first.Calls.Count)
        {
            throw Differs($"only the second time it called {TwiceActor.Shown(what)}.");
        }

        var (expected, answer) = first.Calls[_calls++];
        return expected == what ? answer : throw Differs(
            $"first it called {TwiceActor.Shown(expected)}, then {TwiceActor.Shown(what)}.");
    }

    // The object that it holds already, with its own changes, if it had these the first time, too.
    private object? State()
    {
        if (_reads >= first.Reads.Count)
        {
            throw Differs("only the second time it asked for its state.");
        }

        var json = first.Reads[_reads++];
        if (_held is null || !first.Write(_held).AsSpan().SequenceEqual(json))
        {
            _held = first.Read(json);
        }

        return _held;
    }

    private InvalidOperationException Differs(string how)
    {
        Difference ??= how;
        return new InvalidOperationException(how);
    }
}
