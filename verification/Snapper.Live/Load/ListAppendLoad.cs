using System.Collections.Concurrent;
using System.Diagnostics;
using System.Text.Json;
using Snapper.Live.Harness;
using Snapper.Judging.Histories;
using Snapper.Judging.ListAppend;
using Snapper.Judging.Serializability;

namespace Snapper.Live.Load;

/// <summary>Concurrent clients that append to and read from a few hot lists, and a history of what they saw.</summary>
internal sealed class ListAppendLoad
{
    private readonly LoadOptions _options;
    private readonly SnapperClient _client;
    private readonly Submitter _submitter;
    private readonly ListAppendKeys _keys;
    private readonly string _prefix;
    private int _sent;
    private int _ids;

    public ListAppendLoad(SnapperClient client, LoadOptions options, string name)
    {
        _client = client;
        _options = options;
        _submitter = new Submitter(client, options.Patience, options.Impatience);
        _prefix = name;
        _keys = new ListAppendKeys(name, options.HotKeys, options.AppendsPerKey);
    }

    public History History { get; private set; } = new();

    /// <summary>Transactions that a loss has taken, once judged.</summary>
    public int Lost { get; private set; }

    /// <summary>What was wrong with single answers.</summary>
    public ConcurrentQueue<string> Problems { get; } = new();

    public ConcurrentDictionary<string, int> Outcomes { get; } = new();

    public Submitter Submitter => _submitter;

    /// <summary>Ids of acknowledged commits with their results and when they were acknowledged, for asking again later.</summary>
    public ConcurrentDictionary<string, (string Result, long At)> Committed { get; } = new();

    /// <summary>Runs until the count is reached or it is stopped; requests under way are seen to their end.</summary>
    public Task Run(CancellationToken stop = default) => Task.WhenAll(Enumerable.Range(0, _options.Clients).Select(process => Task.Run(() => RunClient(process, stop), CancellationToken.None)));

    /// <summary>Reads every key once more when all is quiet, and judges the history.</summary>
    /// <param name="loss">What need not be there; null: all must be.</param>
    public async Task<CheckReport> Judge(Loss? loss = null)
    {
        if (loss is not null)
        {
            History = await Without(loss);
        }

        foreach (var chunk in _keys.All.Chunk(40))
        {
            await RunBatch([.. chunk.Select((key, index) => FinalRead(key, index % 2 == 0))], Door.Direct, process: -1, choice: 0);
        }

        return SerializabilityChecker.Check(History);
    }

    /// <summary>Everything a failing test should say.</summary>
    public string Describe(CheckReport? report = null) =>
        $"seed {_options.Seed}: {string.Join(", ", Outcomes.OrderBy(pair => pair.Key).Select(pair => $"{pair.Value} {pair.Key}"))}; " +
        $"{_submitter.Repeats} repeats, {_submitter.Lookups} lookups; aborts answered: " +
        $"{string.Join(", ", _submitter.Aborts.OrderBy(pair => pair.Key).Select(pair => $"{pair.Value} {pair.Key.Mode} {pair.Key.Reason}"))}\n" +
        $"{string.Join('\n', Problems.Take(10))}\n{report}";

    /// <summary>Keeps the history beside the test's output, for later study.</summary>
    public string Save(string name)
    {
        var folder = Directory.CreateDirectory(Path.Combine(AppContext.BaseDirectory, "histories"));
        return SaveTo(Path.Combine(folder.FullName, $"{name}.jsonl"));
    }

    /// <summary>Keeps the history in a file, for <c>./snapper verify --history</c>.</summary>
    public string SaveTo(string path)
    {
        HistoryFile.Write(History, path);
        return path;
    }

    /// <summary>What is left of the history: what a loss has taken never was, and what has run again since is not known to have read what it told.</summary>
    private async Task<History> Without(Loss loss)
    {
        var left = new History();
        for (var i = 0; i < History.Count; i++)
        {
            var observed = History[i];
            if (observed.Completed is { } told && loss.Covers(told) && observed.Outcome != ObservedOutcome.Unknown)
            {
                var fate = await Acknowledged.FateOf(_client, observed.Id, observed.Outcome == ObservedOutcome.Committed ? Committed[observed.Id].Result : null);
                if (fate == Fate.Gone)
                {
                    Lost++;
                    continue;
                }

                observed = fate == Fate.AsTold ? observed : observed with
                {
                    Outcome = ObservedOutcome.Unknown, Completed = null,
                    Operations = [.. observed.Operations.Select(static one => one.IsWrite ? one : MicroOperation.UnseenRead(one.Key))],
                };
            }

            left.Add(observed);
        }

        return left;
    }

    private async Task RunClient(int process, CancellationToken stop)
    {
        var random = new Random(HashCode(_options.Seed, process));
        while (!stop.IsCancellationRequested)
        {
            await _options.Think(random);
            var door = _options.Doors[random.Next(_options.Doors.Count)];
            var count = door != Door.Actor && random.NextDouble() < _options.BatchShare ? 2 + random.Next(3) : 1;
            if (Interlocked.Add(ref _sent, count) > (_options.Transactions ?? int.MaxValue))
            {
                return;
            }

            if (count == 1)
            {
                await RunOne(Next(random, process), door, process, random.Next(2));
            }
            else
            {
                await RunBatch([.. Enumerable.Range(0, count).Select(_ => Next(random, process))], door, process, random.Next(2));
            }
        }
    }

    private async Task RunOne(Planned planned, Door door, int process, int choice)
    {
        var invoked = Stopwatch.GetTimestamp();
        var decision = await _submitter.Run(planned.Transaction, door, choice);
        Record(planned, decision, process, invoked);
    }

    private async Task RunBatch(Planned[] planned, Door door, int process, int choice)
    {
        var invoked = Stopwatch.GetTimestamp();
        var answers = await _client.SubmitMany([.. planned.Select(one => one.Transaction)], door, _options.Impatience?.Next());
        for (var index = 0; index < planned.Length; index++)
        {
            Record(planned[index], await _submitter.Resolve(planned[index].Transaction, answers[index], door, choice), process, invoked);
        }
    }

    private Planned Next(Random random, int process)
    {
        var operations = new List<MicroOperation>();
        for (var count = 1 + random.Next(6); count > 0; count--)
        {
            var key = _keys.At(random.Next(_keys.Window));
            operations.Add(random.Next(2) == 0 ? MicroOperation.UnseenRead(key) : MicroOperation.Append(key, _keys.NextValue()));
        }

        // The root is one of the keys as often as an actor of its own.
        var root = random.Next(2) == 0 ? operations[0].Key : $"{_prefix}-root-{random.Next(_options.Clients)}";
        var abort = random.NextDouble() < _options.AbortShare;
        var parallel = random.NextDouble() < _options.ParallelShare;
        var transaction = random.NextDouble() < _options.PactShare
            ? Lists.ExecutePact(root, operations.ConvertAll(Lists.Operation), parallel, abort)
            : Lists.Execute(root, operations.ConvertAll(Lists.Operation), parallel, abort).Act();
        return new Planned(transaction with { RequestId = $"{_prefix}-{process}-{Interlocked.Increment(ref _ids)}" }, operations, abort, parallel);
    }

    private Planned FinalRead(string key, bool pact)
    {
        var transaction = Lists.Execute(key, [Lists.Read(key)]);
        return new Planned((pact ? transaction.Pact(key) : transaction.Act()) with { RequestId = $"final-{key}" }, [MicroOperation.UnseenRead(key)], Aborts: false, Parallel: false);
    }

    private void Record(Planned planned, Decision decision, int process, long invoked)
    {
        var completed = Stopwatch.GetTimestamp();
        var transaction = planned.Transaction;
        Outcomes.AddOrUpdate(decision.Label, 1, (_, count) => count + 1);
        if ((decision.Outcome, planned.Aborts) is (ObservedOutcome.Committed, true) || (decision.AbortReasonIs("application") && !planned.Aborts))
        {
            Problems.Enqueue($"{transaction.ToJson().ToJsonString()} was answered by {decision.Answer}");
        }

        IReadOnlyList<MicroOperation> operations = planned.Operations;
        if (decision.Outcome == ObservedOutcome.Committed)
        {
            Committed[transaction.RequestId!] = (decision.Answer.Result.GetRawText(), completed);
            operations = ReadResult(planned, decision.Answer) ?? operations;
        }

        // An abort that the application decides on rests on what it read, and tells it.
        var seenByAbort = decision.AbortReasonIs("application") ? ListAppendWire.ReadAbort(decision.Answer.AbortMessage, operations) : null;
        if (seenByAbort is not null)
        {
            Outcomes.AddOrUpdate("aborts judged by what they read", 1, (_, count) => count + 1);
        }

        History.Add(new ObservedTransaction
        {
            Id = transaction.RequestId!,
            Process = process,
            Invoked = invoked,
            Completed = decision.Outcome == ObservedOutcome.Unknown ? null : completed,
            Outcome = decision.Outcome,
            Mode = transaction.Mode == "pact" ? ObservedMode.Pact : ObservedMode.Act,
            Attempts = decision.Answer.Json is { ValueKind: JsonValueKind.Object } json && json.TryGetProperty("attempts", out var attempts) ? attempts.GetInt32() : 1,
            Parallel = planned.Parallel,
            ReadsCount = seenByAbort is not null,
            Operations = seenByAbort ?? operations,
        });
    }

    /// <summary>The same operations in the same order, each read with a list; anything else is a problem.</summary>
    private IReadOnlyList<MicroOperation>? ReadResult(Planned planned, Answer answer)
    {
        var seen = ListAppendWire.ReadResult(answer.Result, planned.Operations);
        if (seen is null)
        {
            Problems.Enqueue($"{planned.Transaction.ToJson().ToJsonString()} was answered by other operations: {answer}");
        }

        return seen;
    }

    /// <summary>Not System.HashCode, which differs from process to process.</summary>
    private static int HashCode(int seed, int process) => unchecked((seed * 397) ^ (process * 7919));

    private sealed record Planned(Transaction Transaction, List<MicroOperation> Operations, bool Aborts, bool Parallel);
}
