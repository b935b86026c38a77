using System.Collections.Immutable;
using System.Text.Json;
using Snapper.Actors;
using Snapper.Apps.ListAppend.Contract;

namespace Snapper.Apps.ListAppend;

/// <summary>
/// The actor type <c>ListAppend</c>. Its state is the list itself, in Redis a JSON array such as <c>[1,2,3]</c>.
/// </summary>
[TransactionalActor("ListAppend")]
public sealed class ListAppendActor : TransactionalActor<ImmutableList<long>>, IListAppend
{
    /// <inheritdoc/>
    protected override ImmutableList<long> InitialState() => [];

    /// <inheritdoc/>
    /// <remarks>Marked, for it can abort after its calls have completed.</remarks>
    [MayAbort]
    public async Task<ExecuteResult> Execute(ExecuteInput input)
    {
        Check(input);
        if (input.DelayMs > 0)
        {
            await Context.Delay(TimeSpan.FromMilliseconds(input.DelayMs));
        }

        var results = input.Parallel ? await RunAtOnce(input.Ops) : await RunInOrder(input.Ops);
        var result = new ExecuteResult(results);

        // The abort is an answer that rests on what was read, so it tells what that was: checkers judge it as reads.
        return input.Abort ? throw Abort($"the input asked for an abort, having seen {JsonSerializer.Serialize(result, JsonSerializerOptions.Web)}") : result;
    }

    /// <inheritdoc/>
    public async Task Append(AppendInput input)
    {
        if (input is null)
        {
            throw Abort("'Append' needs an input, got null");
        }

        State.Set((await State.ForUpdate()).Add(input.Value));
    }

    /// <inheritdoc/>
    [ReadOnlyMethod]
    public async Task<ImmutableList<long>> Read() => await State.Get();

    // A caller in another language may send null, or nonsense, where the contract says otherwise.
    private static void Check(ExecuteInput? input)
    {
        if (input?.Ops is null)
        {
            throw Abort("'Execute' needs a list 'ops' of operations");
        }

        if (input.DelayMs < 0)
        {
            throw Abort($"'delayMs' must not be negative, got {input.DelayMs}");
        }

        for (var i = 0; i < input.Ops.Count; i++)
        {
            CheckOperation(input.Ops[i], i);
        }
    }

    private static void CheckOperation(Operation? op, int index)
    {
        if (op is null)
        {
            throw Abort($"operation {index} is null");
        }

        if (string.IsNullOrEmpty(op.Key))
        {
            throw Abort($"operation {index} has no 'key'");
        }

        if (op.F is not (Operation.Append or Operation.Read))
        {
            throw Abort($"operation {index} has the unknown 'f' '{op.F}': use 'append' or 'r'");
        }

        if (op is { F: Operation.Append, Value: null })
        {
            throw Abort($"operation {index} appends no 'value'");
        }
    }

    private async Task<OperationResult[]> RunInOrder(IReadOnlyList<Operation> ops)
    {
        var results = new OperationResult[ops.Count];
        for (var i = 0; i < results.Length; i++)
        {
            results[i] = await Run(ops[i]);
        }

        return results;
    }

    private Task<OperationResult[]> RunAtOnce(IReadOnlyList<Operation> ops)
    {
        var runs = new Task<OperationResult>[ops.Count];
        for (var i = 0; i < runs.Length; i++)
        {
            runs[i] = Run(ops[i]);
        }

        return Task.WhenAll(runs);
    }

    // The root's own key is called like any other, so that each operation counts as one call on its key.
    private async Task<OperationResult> Run(Operation op)
    {
        var list = Actor<IListAppend>(op.Key);
        if (op.F == Operation.Read)
        {
            return new OperationResult(op.F, op.Key, null, await list.Read());
        }

        await list.Append(new AppendInput(op.Value!.Value));
        return new OperationResult(op.F, op.Key, op.Value, null);
    }
}
