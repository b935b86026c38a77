using Snapper.Judging.Histories;

namespace Snapper.Judging.Tests.Serializability;

/// <summary>
/// Makes histories of a correct system: runs transactions one after the other, and lets their clients wait before and after the instant at
/// which they took effect, so that they overlap. Some abort, some answers are lost. Ends with reads of every key.
/// </summary>
internal sealed class SerialHistories(int seed)
{
    private const int AppendsPerKey = 60;

    private readonly Random _random = new(seed);
    private readonly Dictionary<string, List<long>> _lists = [];
    private readonly PriorityQueue<int, long> _processes = new();
    private long _now = 1000;
    private int _oldestHotKey;
    private int _hotAppends;
    private long _nextValue;

    public int Keys { get; init; } = 8;

    public int Processes { get; init; } = 16;

    public double Aborts { get; init; } = 0.05;

    public double LostAnswers { get; init; } = 0.02;

    public bool Parallel { get; init; } = true;

    public int MostOperations { get; init; } = 6;

    public List<ObservedTransaction> Make(int count)
    {
        var transactions = new List<ObservedTransaction>();
        Make(count, transactions.Add);
        return transactions;
    }

    /// <summary>Hands over one transaction after the other, for histories that are too large to be kept in this form.</summary>
    public void Make(int count, Action<ObservedTransaction> add)
    {
        for (var process = 0; process < Processes; process++)
        {
            _processes.Enqueue(process, 0);
        }

        for (var index = 0; index < count; index++)
        {
            add(Next($"t{index}", RandomOperations()));
        }

        // Long after everything else, so that an append they miss is lost.
        _now += 1_000_000;
        foreach (var key in _lists.Keys.Order().ToList())
        {
            add(Run($"final-{key}", [MicroOperation.UnseenRead(key)], false, ObservedOutcome.Committed));
        }
    }

    private ObservedTransaction Next(string id, List<MicroOperation> operations)
    {
        var outcome = _random.NextDouble() switch
        {
            var chance when chance < Aborts => ObservedOutcome.Aborted,
            var chance when chance < Aborts + LostAnswers => ObservedOutcome.Unknown,
            _ => ObservedOutcome.Committed,
        };
        return Run(id, operations, Parallel && _random.Next(10) == 0, outcome);
    }

    private ObservedTransaction Run(string id, List<MicroOperation> operations, bool parallel, ObservedOutcome outcome)
    {
        // The process that is free first takes the transaction; it takes effect at an instant between its invocation and its completion.
        _processes.TryDequeue(out var process, out var free);
        _now = Math.Max(_now, free) + 1 + _random.Next(10);
        var invoked = _now - _random.NextInt64(Math.Min(_now - free, 200));
        var completed = _now + _random.Next(200);
        _processes.Enqueue(process, completed + 1);
        var takesEffect = outcome == ObservedOutcome.Committed || (outcome == ObservedOutcome.Unknown && _random.Next(2) == 0);
        var seen = takesEffect ? Execute(operations, parallel) : operations;
        return new ObservedTransaction
        {
            Id = id,
            Process = process,
            Invoked = invoked,
            Completed = outcome == ObservedOutcome.Unknown && _random.Next(2) == 0 ? null : completed,
            Outcome = outcome,
            Mode = _random.Next(2) == 0 ? ObservedMode.Pact : ObservedMode.Act,
            Parallel = parallel,
            Operations = outcome == ObservedOutcome.Committed ? seen : operations,
        };
    }

    private List<MicroOperation> Execute(List<MicroOperation> operations, bool parallel)
    {
        var order = Enumerable.Range(0, operations.Count).ToArray();
        if (parallel)
        {
            _random.Shuffle(order);
        }

        var seen = new MicroOperation[operations.Count];
        foreach (var index in order)
        {
            var operation = operations[index];
            var list = _lists.TryGetValue(operation.Key, out var known) ? known : _lists[operation.Key] = [];
            if (operation.IsAppend)
            {
                list.Add(operation.Value);
            }

            seen[index] = operation.IsAppend ? operation : MicroOperation.Read(operation.Key, [.. list]);
        }

        return [.. seen];
    }

    private List<MicroOperation> RandomOperations()
    {
        var operations = new List<MicroOperation>();
        for (var count = 1 + _random.Next(MostOperations); count > 0; count--)
        {
            var key = $"k{_oldestHotKey + _random.Next(Keys)}";
            operations.Add(_random.Next(2) == 0 ? MicroOperation.UnseenRead(key) : MicroOperation.Append(key, ++_nextValue));
            if (operations[^1].IsAppend && ++_hotAppends >= AppendsPerKey)
            {
                (_oldestHotKey, _hotAppends) = (_oldestHotKey + 1, 0);
            }
        }

        return operations;
    }
}
