using System.Buffers;
using System.Collections.Concurrent;
using System.Diagnostics;
using System.Globalization;
using System.Text.Json;
using Snapper.Benchmarks.Statistics;
using Snapper.Client.Messages;
using Snapper.Protocol.Batches;
using Snapper.Protocol.Identity;
using Snapper.Protocol.Messages;
using Snapper.Scenarios.Targets;
using Snapper.Judging.Histories;
using Snapper.Judging.ListAppend;
using Snapper.Judging.Serializability;

namespace Snapper.Scenarios.Workloads;

/// <summary>
/// Appends to and reads of a few hot lists, several in a transaction, and the judgement of all that was seen: there must be an order of all transactions, in keeping with the times at which
/// they ran, that explains every read.
/// </summary>
public sealed class ListAppendWorkload : IWorkload
{
    private const string ActorType = "ListAppend";
    private const int AppendsPerKey = 60;
    private const double AbortShare = 0.02;
    private const double ParallelShare = 0.15;
    private const int ReadersMax = 32;
    private const int ProblemsMax = 20;

    private readonly WorkloadSettings _settings;
    private readonly ListAppendKeys _keys;
    private readonly History _history = new();
    private readonly ConcurrentQueue<string> _problems = new();
    private readonly ConcurrentQueue<PlannedExecute> _unknown = new();
    private FastRandom _random;
    private long _sent;

    /// <param name="settings">Of <see cref="WorkloadSettings.Accounts"/> as many lists as there are, but 64 at most, are in use at a time.</param>
    public ListAppendWorkload(WorkloadSettings settings)
    {
        _settings = settings;
        _keys = new ListAppendKeys(settings.Prefix, Math.Clamp(settings.Accounts, 1, 64), AppendsPerKey);
        _random = new FastRandom(settings.Seed);
    }

    /// <inheritdoc/>
    public int Actors => 0; // their names move on

    /// <inheritdoc/>
    public string Describe() => string.Create(
        CultureInfo.InvariantCulture,
        $"ListAppend, {_keys.Window} lists at a time, {AppendsPerKey} appends each, 1 to 6 operations, {_settings.PactShare:P0} PACTs, {ParallelShare:P0} all at once, {AbortShare:P0} must abort");

    /// <inheritdoc/>
    public Task Prepare(ILoadTarget target, CancellationToken cancellation) => Task.CompletedTask;

    /// <inheritdoc/>
    public PlannedTransaction Next()
    {
        var operations = new MicroOperation[1 + _random.Next(6)];
        for (var i = 0; i < operations.Length; i++)
        {
            var key = _keys.At(_random.Next(_keys.Window));
            operations[i] = _random.Next(2) == 0 ? MicroOperation.UnseenRead(key) : MicroOperation.Append(key, _keys.NextValue());
        }

        var aborts = _random.NextDouble() < AbortShare;
        var parallel = _random.NextDouble() < ParallelShare;
        var mode = _random.NextDouble() < _settings.PactShare ? TransactionMode.Pact : TransactionMode.Act;
        return Plan(string.Create(CultureInfo.InvariantCulture, $"{_settings.Prefix}-t{++_sent}"), operations, mode, parallel, aborts);
    }

    /// <inheritdoc/>
    public void Record(PlannedTransaction planned, TransactionReply? reply, SentAt span)
    {
        var execute = (PlannedExecute)planned;
        if (reply is null or { Outcome: TransactionOutcome.InDoubt or TransactionOutcome.Running })
        {
            execute.Invoked = span.Invoked;
            _unknown.Enqueue(execute);
            return;
        }

        Note(execute, reply, span);
    }

    /// <inheritdoc/>
    public async Task<InvariantReport> Check(ILoadTarget target, CancellationToken cancellation)
    {
        const string name = "the history is strictly serializable";
        var left = 0;
        while (_unknown.TryDequeue(out var unknown))
        {
            // Its reads were seen by nobody; that it was completed by now is true, and enough.
            var reply = await Outcomes.Ask(target, unknown.Message.Id!, cancellation).ConfigureAwait(false);
            left += reply is null ? 1 : 0;
            Note(unknown, reply, new SentAt(unknown.Invoked, Stopwatch.GetTimestamp()));
        }

        await Parallel.ForEachAsync(_keys.All.ToArray(), new ParallelOptions { MaxDegreeOfParallelism = ReadersMax, CancellationToken = cancellation }, async (key, stop) =>
        {
            var read = Plan($"final-{key}", [MicroOperation.UnseenRead(key)], TransactionMode.Pact, parallel: false, aborts: false);
            var began = Stopwatch.GetTimestamp();
            var reply = await target.Submit(read.Message, stop).ConfigureAwait(false);
            if (reply.Outcome != TransactionOutcome.Committed)
            {
                _problems.Enqueue($"List {key} cannot be read in the end: {Outcomes.Describe(reply)}.");
            }

            Note(read, reply, new SentAt(began, Stopwatch.GetTimestamp()));
        }).ConfigureAwait(false);
        try
        {
            var report = SerializabilityChecker.Check(_history);
            var problems = _problems.ToList();
            if (!report.Passed)
            {
                problems.Add(report.ToString());
            }

            return new InvariantReport(
                name, string.Create(CultureInfo.InvariantCulture, $"{_history.Count:N0} transactions judged{(left > 0 ? $", {left} of unknown outcome" : "")}"), [.. problems.Take(ProblemsMax)]);
        }
        catch (InvalidHistoryException wrong)
        {
            return new InvariantReport(name, "the history makes no sense", [wrong.Message]);
        }
    }

    private static PlannedExecute Plan(string id, MicroOperation[] operations, TransactionMode mode, bool parallel, bool aborts)
    {
        var calls = new Dictionary<string, int>(StringComparer.Ordinal) { [operations[0].Key] = 1 };
        foreach (var operation in operations)
        {
            calls[operation.Key] = calls.GetValueOrDefault(operation.Key) + 1;
        }

        var input = new ArrayBufferWriter<byte>(256);
        using (var json = new Utf8JsonWriter(input))
        {
            ListAppendWire.WriteInput(json, operations, parallel, aborts);
        }

        var message = new TransactionRequestMessage
        {
            Id = id,
            Actor = new ActorKey(ActorType, operations[0].Key),
            Method = "Execute",
            Input = input.WrittenMemory,
            Mode = mode,
            Access = mode == TransactionMode.Pact ? [.. calls.Select(static call => new ActorCalls(ActorType, call.Key, call.Value))] : null,
        };
        return new PlannedExecute(message, operations, parallel, aborts);
    }

    private void Note(PlannedExecute planned, TransactionReply? reply, SentAt span)
    {
        IReadOnlyList<MicroOperation> operations = planned.Operations;
        var outcome = reply?.Outcome switch
        {
            TransactionOutcome.Committed => ObservedOutcome.Committed,
            TransactionOutcome.Aborted or TransactionOutcome.Rejected => ObservedOutcome.Aborted,
            _ => ObservedOutcome.Unknown,
        };
        if (outcome == ObservedOutcome.Committed && planned.Aborts)
        {
            _problems.Enqueue($"{planned.Message.Id} asked to be aborted, and was committed.");
        }
        else if (outcome == ObservedOutcome.Committed)
        {
            using var result = JsonDocument.Parse(reply!.Result.IsEmpty ? "null"u8.ToArray() : reply.Result);
            if (ListAppendWire.ReadResult(result.RootElement, operations) is { } seen)
            {
                operations = seen;
            }
            else
            {
                _problems.Enqueue($"{planned.Message.Id} was answered by other operations: {result.RootElement}");
            }
        }

        var seenByAbort = reply?.Abort is { Reason: AbortReason.Application, Message: var message } ? ListAppendWire.ReadAbort(message, operations) : null;
        _history.Add(new ObservedTransaction
        {
            Id = planned.Message.Id!,
            Invoked = span.Invoked,
            Completed = outcome == ObservedOutcome.Unknown ? null : span.Completed,
            Outcome = outcome,
            Mode = planned.Message.Mode == TransactionMode.Pact ? ObservedMode.Pact : ObservedMode.Act,
            Attempts = Math.Max(1, reply?.Attempts ?? 1),
            Parallel = planned.Parallel,
            ReadsCount = seenByAbort is not null,
            Operations = seenByAbort ?? operations,
        });
    }

    private sealed class PlannedExecute(TransactionRequestMessage message, MicroOperation[] operations, bool parallel, bool aborts) : PlannedTransaction(message)
    {
        public MicroOperation[] Operations { get; } = operations;

        public bool Parallel { get; } = parallel;

        public bool Aborts { get; } = aborts;

        /// <summary>When it left, once its outcome is not known.</summary>
        public long Invoked { get; set; }
    }
}
