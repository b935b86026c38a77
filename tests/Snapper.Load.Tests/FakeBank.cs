using System.Collections.Concurrent;
using System.Globalization;
using System.Text.Json;
using Snapper.Client.Messages;
using Snapper.Protocol.Messages;
using Snapper.Scenarios.Targets;

namespace Snapper.Load.Tests;

/// <summary>A bank in memory, one transaction at a time, with faults that can be planted.</summary>
internal sealed class FakeBank : ILoadTarget
{
    private readonly Lock _gate = new();
    private readonly ConcurrentDictionary<string, TransactionReply> _outcomes = new();
    private readonly Dictionary<string, (decimal Checking, decimal Savings)> _accounts = [];
    private int _payments;

    /// <summary>The payment of this number, from 1, loses what it takes.</summary>
    public int LosesAt { get; init; }

    /// <summary>The payment of this number happens, and no answer comes.</summary>
    public int SilentAt { get; init; }

    /// <summary>Transactions whose ids it has seen.</summary>
    public ConcurrentQueue<string> Seen { get; } = new();

    /// <summary>Waits before each answer.</summary>
    public TimeSpan Delay { get; init; }

    /// <summary>What every transaction but a read ends with; null: it is run.</summary>
    public TransactionReply? Always { get; init; }

    public async Task<TransactionReply> Submit(TransactionRequestMessage request, CancellationToken cancellation)
    {
        if (Delay > TimeSpan.Zero)
        {
            await Task.Delay(Delay, cancellation);
        }

        Seen.Enqueue(request.Id!);
        lock (_gate)
        {
            var reply = Always is { } always && request.Method != "Balance" ? always : Run(request);
            _outcomes[request.Id!] = reply;
            return request.Method.EndsWith("Transfer", StringComparison.Ordinal) && reply.Outcome == TransactionOutcome.Committed && _payments == SilentAt
                ? new TransactionReply { Id = request.Id!, Outcome = TransactionOutcome.InDoubt, Doubt = "planted" }
                : reply;
        }
    }

    public Task<TransactionReply?> Find(string id, CancellationToken cancellation) => Task.FromResult(_outcomes.GetValueOrDefault(id));

    private TransactionReply Run(TransactionRequestMessage request)
    {
        using var input = JsonDocument.Parse(request.Input.IsEmpty ? "null"u8.ToArray() : request.Input);
        var own = request.Actor.Id;
        var (checking, savings) = Of(own);
        switch (request.Method)
        {
            case "Balance":
                return Done(request, string.Create(CultureInfo.InvariantCulture, $"{{\"checking\":{checking},\"savings\":{savings},\"total\":{checking + savings}}}"));
            case "DepositChecking":
                _accounts[own] = (checking + Amount(input), savings);
                return Done(request, Text(checking + Amount(input)));
            case "TransactSavings":
                _accounts[own] = (checking, savings - Amount(input));
                return Done(request, Text(savings - Amount(input)));
            default:
                var to = input.RootElement.GetProperty("to");
                string[] payees = to.ValueKind == JsonValueKind.Array ? [.. to.EnumerateArray().Select(static one => one.GetString()!)] : [to.GetString()!];
                if (checking < Amount(input) * payees.Length)
                {
                    return Aborted(request.Id!, "application", retryable: false);
                }

                _payments++;
                _accounts[own] = (checking - (Amount(input) * payees.Length), savings);
                foreach (var payee in payees)
                {
                    var (before, other) = Of(payee);
                    _accounts[payee] = (before + (_payments == LosesAt ? 0 : Amount(input)), other);
                }

                return Done(request, Text(_accounts[own].Checking));
        }
    }

    public static TransactionReply Aborted(string id, string reason, bool retryable) => new()
    {
        Id = id, Outcome = TransactionOutcome.Aborted, Attempts = 1, Abort = new AbortDetails(AbortReason.None, reason, "planted", retryable, null),
    };

    private static decimal Amount(JsonDocument input) => input.RootElement.GetProperty("amount").GetDecimal();

    private static string Text(decimal number) => number.ToString(CultureInfo.InvariantCulture);

    private static TransactionReply Done(TransactionRequestMessage request, string result) =>
        new() { Id = request.Id!, Outcome = TransactionOutcome.Committed, Attempts = 1, Mode = request.Mode, Result = System.Text.Encoding.UTF8.GetBytes(result) };

    private (decimal Checking, decimal Savings) Of(string account) => _accounts.TryGetValue(account, out var balance) ? balance : (10_000m, 10_000m);
}
