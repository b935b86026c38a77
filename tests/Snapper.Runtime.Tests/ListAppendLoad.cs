using System.Diagnostics;
using System.Text.Json;
using Snapper.Protocol.Identity;
using Snapper.Protocol.Messages;
using Snapper.Runtime.Door;
using Snapper.Judging.Histories;
using Snapper.Judging.ListAppend;

namespace Snapper.Runtime.Tests;

/// <summary>What a randomized load looks like.</summary>
public sealed record LoadShape(int Seed, int Transactions, int Clients, int Keys, int PactPercent, int AbortPercent = 10, int ParallelPercent = 30, int MostOperations = 5)
{
    /// <summary>PACTs whose declaration is too small or too large, in per cent.</summary>
    public int MisdeclaredPercent { get; init; }

    /// <summary>Transactions that wait a moment, and so interleave with others, in per cent.</summary>
    public int DelayPercent { get; init; } = 5;
}

/// <summary>Whoever takes requests: a worker, or several.</summary>
public interface ILoadTarget
{
    /// <summary>Runs a transaction; with a declaration as a PACT.</summary>
    Task<TransactionEnvelope> Submit(string type, string id, string method, object? input, DeclaredAccess[]? access, string? key = null, int timeoutMs = 30_000);
}

/// <summary>Runs mixed ListAppend transactions and notes what their clients saw.</summary>
internal sealed class ListAppendLoad(ILoadTarget worker, LoadShape shape)
{
    private readonly History _history = new();
    private readonly Dictionary<string, int> _outcomes = [];
    private long _nextValue;

    public History History => _history;

    /// <summary>Aborts that told what they rest on.</summary>
    public int AbortsJudged { get; private set; }

    public IReadOnlyDictionary<string, int> Outcomes => _outcomes;

    /// <summary>
    /// Whether what the load runs beside has happened; clients go on until then. Null: their share of transactions is
    /// enough.
    /// </summary>
    public Func<bool>? Enough { get; set; }

    public async Task Run()
    {
        var clients = new Task[shape.Clients];
        for (var client = 0; client < clients.Length; client++)
        {
            var number = client;
            clients[client] = Task.Run(() => RunClient(number));
        }

        await Task.WhenAll(clients).WaitAsync(TimeSpan.FromSeconds(120));
    }

    private async Task RunClient(int client)
    {
        var random = new Random((shape.Seed * 1000) + client);
        for (var i = 0; i < shape.Transactions / shape.Clients || Enough?.Invoke() == false; i++)
        {
            await RunOne(client, i, random);
        }
    }

    private async Task RunOne(int client, int number, Random random)
    {
        var operations = new List<(string Function, string Key, long Value)>();
        var count = 1 + random.Next(shape.MostOperations);
        for (var i = 0; i < count; i++)
        {
            var key = "k" + random.Next(shape.Keys);
            operations.Add(random.Next(2) == 0 ? ("append", key, Interlocked.Increment(ref _nextValue)) : ("r", key, 0));
        }

        var root = operations[0].Key;
        var pact = random.Next(100) < shape.PactPercent;
        var abort = random.Next(100) < shape.AbortPercent;
        var parallel = random.Next(100) < shape.ParallelPercent;
        var delay = random.Next(100) < shape.DelayPercent ? 1 + random.Next(3) : 0;
        var input = new
        {
            ops = operations.Select(o => o.Function == "append" ? (object)new { f = "append", key = o.Key, value = o.Value } : new { f = "r", key = o.Key }),
            parallel,
            abort,
            delayMs = delay,
        };
        DeclaredAccess[]? access = null;
        if (pact)
        {
            var calls = operations.GroupBy(o => o.Key).ToDictionary(g => g.Key, g => g.Count());
            calls[root] = calls.GetValueOrDefault(root) + 1;
            if (random.Next(100) < shape.MisdeclaredPercent)
            {
                Misdeclare(calls, root, random);
            }

            access = calls.Select(c => new DeclaredAccess(new ActorKey("ListAppend", c.Key), c.Value)).ToArray();
        }

        var invoked = Stopwatch.GetTimestamp();
        var envelope = await worker.Submit("ListAppend", root, "Execute", input, access);
        Record(client, number, operations, parallel, pact, invoked, envelope);
    }

    private void Misdeclare(Dictionary<string, int> calls, string root, Random random)
    {
        switch (random.Next(3))
        {
            case 0: // one actor too many
                calls.TryAdd("k" + random.Next(shape.Keys), 1);
                break;
            case 1: // more calls than are made
                calls[root] += 2;
                break;
            default: // one too few
                var victim = calls.Keys.Last();
                if (victim != root)
                {
                    calls.Remove(victim);
                }
                else
                {
                    calls[root] = Math.Max(1, calls[root] - 1);
                }

                break;
        }
    }

    private void Record(
        int client, int number, List<(string Function, string Key, long Value)> operations, bool parallel, bool pact, long invoked, TransactionEnvelope envelope)
    {
        List<MicroOperation> asked = [.. operations.Select(o => o.Function == "append" ? MicroOperation.Append(o.Key, o.Value) : MicroOperation.UnseenRead(o.Key))];
        IReadOnlyList<MicroOperation>? seen = null;
        if (envelope.Outcome == Outcome.Committed)
        {
            using var json = JsonDocument.Parse(envelope.Result);
            seen = ListAppendWire.ReadResult(json.RootElement, asked) ?? throw new InvalidOperationException($"{client}-{number} was answered by other operations: {json.RootElement}");
        }
        else if (envelope.Abort is { Reason: AbortReason.Application, Message: var message })
        {
            seen = ListAppendWire.ReadAbort(message, asked);
        }

        var completed = Stopwatch.GetTimestamp();
        lock (_history)
        {
            var name = envelope.Outcome == Outcome.Aborted ? $"{(pact ? "pact" : "act")} aborted {envelope.Abort!.Reason}" : $"{(pact ? "pact" : "act")} {envelope.Outcome}";
            _outcomes[name] = _outcomes.GetValueOrDefault(name) + 1;
            AbortsJudged += envelope.Outcome == Outcome.Aborted && seen is not null ? 1 : 0;
            _history.Add(new ObservedTransaction
            {
                Id = $"c{client}-{number}",
                Process = client,
                Invoked = invoked,
                Completed = completed,
                Outcome = envelope.Outcome switch
                {
                    Outcome.Committed => ObservedOutcome.Committed,
                    Outcome.Aborted => ObservedOutcome.Aborted,
                    _ => ObservedOutcome.Unknown,
                },
                Mode = pact ? ObservedMode.Pact : ObservedMode.Act,
                Attempts = Math.Max(1, envelope.Attempts),
                Parallel = parallel,
                ReadsCount = envelope.Outcome == Outcome.Aborted && seen is not null,
                Operations = seen ?? asked,
            });
        }
    }
}
