using System.Collections.Concurrent;
using System.Globalization;
using System.Text.Json;
using Snapper.Client.Messages;
using Snapper.Protocol.Identity;
using Snapper.Scenarios.Targets;
using Snapper.Judging.Bank;
using Snapper.Judging.Histories;

namespace Snapper.Scenarios.Workloads;

/// <summary>What the answers to bank transactions say that every account must hold, and what they hold. Recording is thread-safe.</summary>
public sealed class SmallBankLedger(string prefix, string[] names)
{
    /// <summary>Type of the actors.</summary>
    public const string ActorType = "Account";

    private const int ReadersMax = 128;
    private const int ProblemsMax = 20;

    private static readonly TimeSpan s_within = TimeSpan.FromSeconds(60);

    private readonly Lock _gate = new();
    private readonly List<Entry> _entries = [];
    private AccountBalance _initial;

    /// <summary>Reads an account that nobody has touched.</summary>
    /// <exception cref="TargetException">It cannot be read.</exception>
    public async Task LearnInitial(ILoadTarget target, CancellationToken cancellation)
    {
        var fresh = prefix + "-untouched";
        try
        {
            _initial = await Read(target, fresh, cancellation).ConfigureAwait(false);
        }
        catch (TimeoutException problem)
        {
            throw new TargetException($"The system does not run SmallBank: {problem.Message}");
        }
    }

    /// <summary>Takes note of how one ended.</summary>
    public void Record(PlannedPayment planned, TransactionReply? reply)
    {
        var accounts = planned.Actors;
        var entry = new Entry(
            planned.Number, accounts[0], accounts.Length > 1 ? accounts[1] : -1, accounts.Length > 3 ? accounts[2] : -1, accounts.Length > 3 ? accounts[3] : -1,
            planned.Amount, planned.Method, OutcomeOf(reply), ResultOf(planned.Method, reply));
        lock (_gate)
        {
            _entries.Add(entry);
        }
    }

    /// <summary>Asks what became of those that are not known, reads every account that was touched, and compares.</summary>
    public async Task<InvariantReport> Check(ILoadTarget target, CancellationToken cancellation)
    {
        const string name = "all money is explained, account by account and answer by answer";
        try
        {
            var left = await ResolveUnknown(target, cancellation).ConfigureAwait(false);
            var final = await ReadAll(target, cancellation).ConfigureAwait(false);
            var report = BankChecker.Check(_entries.Select(Operation), _initial, final);
            var summary = string.Create(
                CultureInfo.InvariantCulture,
                $"{_entries.Count:N0} transactions on {final.Count:N0} accounts: {report.ActualTotal:N2} found, {report.ExpectedTotal:N2} explained{(left > 0 ? $", {left} of unknown outcome allowed for" : "")}");
            return new InvariantReport(name, summary, [.. report.Problems.Take(ProblemsMax)]);
        }
        catch (TimeoutException problem)
        {
            return new InvariantReport(name, "the accounts cannot be read", [problem.Message]);
        }
    }

    private static ObservedOutcome OutcomeOf(TransactionReply? reply) => reply?.Outcome switch
    {
        TransactionOutcome.Committed => ObservedOutcome.Committed,
        TransactionOutcome.Aborted or TransactionOutcome.Rejected => ObservedOutcome.Aborted,
        _ => ObservedOutcome.Unknown,
    };

    private static decimal? ResultOf(BankMethod method, TransactionReply? reply)
    {
        if (reply?.Outcome != TransactionOutcome.Committed || reply.Result.IsEmpty)
        {
            return null;
        }

        var json = new Utf8JsonReader(reply.Result.Span);
        if (!json.Read())
        {
            return null;
        }

        if (method != BankMethod.Balance)
        {
            return json.TokenType == JsonTokenType.Number && json.TryGetDecimal(out var number) ? number : null;
        }

        using var document = JsonDocument.ParseValue(ref json);
        return BalanceOf(document.RootElement)?.Total;
    }

    private static AccountBalance? BalanceOf(JsonElement result) =>
        result.ValueKind == JsonValueKind.Object && result.TryGetProperty("checking", out var checking) && checking.TryGetDecimal(out var one)
        && result.TryGetProperty("savings", out var savings) && savings.TryGetDecimal(out var other)
            ? new AccountBalance(one, other)
            : null;

    private BankOperation Operation(Entry entry) => new()
    {
        Id = string.Create(CultureInfo.InvariantCulture, $"{prefix}-t{entry.Number}"),
        Method = entry.Method,
        Account = names[entry.Account],
        To = entry.Third >= 0 ? [names[entry.First], names[entry.Second], names[entry.Third]] : entry.First >= 0 ? [names[entry.First]] : [],
        Amount = entry.Amount,
        Outcome = entry.Outcome,
        Result = entry.Result,
    };

    /// <returns>How many remain unknown.</returns>
    private async Task<int> ResolveUnknown(ILoadTarget target, CancellationToken cancellation)
    {
        var left = 0;
        for (var i = 0; i < _entries.Count; i++)
        {
            var entry = _entries[i];
            if (entry.Outcome != ObservedOutcome.Unknown)
            {
                continue;
            }

            var reply = await Outcomes.Ask(target, string.Create(CultureInfo.InvariantCulture, $"{prefix}-t{entry.Number}"), cancellation).ConfigureAwait(false);
            if (reply is null)
            {
                left++;
                continue;
            }

            _entries[i] = entry with { Outcome = OutcomeOf(reply), Result = ResultOf(entry.Method, reply) };
        }

        return left;
    }

    private async Task<Dictionary<string, AccountBalance>> ReadAll(ILoadTarget target, CancellationToken cancellation)
    {
        var touched = new HashSet<int>();
        foreach (var entry in _entries)
        {
            touched.UnionWith([entry.Account, entry.First, entry.Second, entry.Third]);
        }

        touched.Remove(-1);
        var final = new ConcurrentDictionary<string, AccountBalance>();
        await Parallel.ForEachAsync(touched, new ParallelOptions { MaxDegreeOfParallelism = ReadersMax, CancellationToken = cancellation }, async (account, stop) =>
            final[names[account]] = await Read(target, names[account], stop).ConfigureAwait(false)).ConfigureAwait(false);
        return new Dictionary<string, AccountBalance>(final);
    }

    /// <exception cref="TimeoutException">It cannot be read.</exception>
    private static async Task<AccountBalance> Read(ILoadTarget target, string account, CancellationToken cancellation)
    {
        var until = Environment.TickCount64 + (long)s_within.TotalMilliseconds;
        while (true)
        {
            var reply = await target.Submit(
                new TransactionRequestMessage
                {
                    Id = "read-" + Guid.NewGuid().ToString("n"),
                    Actor = new ActorKey(ActorType, account),
                    Method = nameof(BankMethod.Balance),
                    Mode = TransactionMode.Pact,
                    Access = [new ActorCalls(ActorType, account, 1)],
                },
                cancellation).ConfigureAwait(false);
            if (reply.Outcome == TransactionOutcome.Committed)
            {
                using var document = JsonDocument.Parse(reply.Result.IsEmpty ? "null"u8.ToArray() : reply.Result);
                return BalanceOf(document.RootElement) ?? throw new TimeoutException($"The balance of {account} has no amounts: {document.RootElement}.");
            }

            if (reply.Rejection is { IsTransient: false } || Environment.TickCount64 > until)
            {
                throw new TimeoutException($"The balance of {account} cannot be read: {Outcomes.Describe(reply)}.");
            }

            await Task.Delay(50, cancellation).ConfigureAwait(false);
        }
    }

    // Millions of them are kept, so none is an object.
    private readonly record struct Entry(long Number, int Account, int First, int Second, int Third, decimal Amount, BankMethod Method, ObservedOutcome Outcome, decimal? Result);
}
