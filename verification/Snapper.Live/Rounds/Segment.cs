using System.Diagnostics;
using Snapper.Live.Harness;
using Snapper.Live.Load;

namespace Snapper.Live.Rounds;

/// <summary>
/// Clients for a number of rounds, with keys, accounts and ids of their own: list-append and SmallBank, PACTs and ACTs, at all doors, some of them
/// impatient. At its end everything that they saw is judged, so that a fault is found soon after it was made.
/// </summary>
internal sealed class Segment : IDisposable
{
    private static readonly double[] PactShares = [0, 0.25, 0.5, 0.75, 0.9, 1];
    private static readonly string[] NeverOfPacts = ["conflict", "deadlock", "serializability"];
    private static readonly TimeSpan EndsWithin = TimeSpan.FromMinutes(2);
    private static readonly TimeSpan CommitsAgain = TimeSpan.FromSeconds(30);
    private static readonly TimeSpan DecidedAtAll = TimeSpan.FromSeconds(90);

    private readonly CancellationTokenSource _stop = new();
    private readonly ListAppendLoad _lists;
    private readonly BankLoad _bank;
    private readonly Task _load;
    private readonly int _number;
    private readonly SnapperClient _client;

    public Segment(SnapperClient client, int seed, int number)
    {
        _client = client;
        _number = number;
        var random = new Random(unchecked((seed * 31) + number));
        var options = new LoadOptions
        {
            Seed = random.Next(),
            Clients = 6,
            PactShare = PactShares[random.Next(PactShares.Length)],
            HotKeys = 3 + random.Next(10),
            Patience = TimeSpan.FromSeconds(90),
            ThinkTime = TimeSpan.FromMilliseconds(30),
            Impatience = new Impatience(random.Next()),
        };
        PactShare = options.PactShare;
        _lists = new ListAppendLoad(client, options, $"x{number}");
        _bank = new BankLoad(client, options with { Clients = 4, HotKeys = 4 + random.Next(10) }, $"b{number}");
        _load = Task.WhenAll(_lists.Run(_stop.Token), _bank.Run(_stop.Token));
    }

    public double PactShare { get; }

    public int Commits => _lists.Committed.Count + _bank.Committed.Count;

    public int Transactions => _lists.History.Count + _bank.Operations.Count;

    public int Repeats => Sum(submitter => submitter.Repeats);

    public int Lookups => Sum(submitter => submitter.Lookups);

    public int Failures => Sum(submitter => submitter.Failures);

    public int InDoubt => Sum(submitter => submitter.InDoubt);

    /// <summary>Aborts that a fault may have made: <c>timeout</c> and <c>failure</c>.</summary>
    public int ForcedAborts => Sum(submitter => submitter.Aborts.Where(pair => pair.Key.Reason is "timeout" or "failure").Sum(pair => pair.Value));

    /// <summary>What Redis has lost with everything that was acknowledged then; null: nothing may be missing.</summary>
    public Loss? Loss { get; set; }

    /// <summary>How many transactions a loss has taken, once judged.</summary>
    public int Lost => _lists.Lost + _bank.Lost;

    /// <summary>Names of the accounts in use.</summary>
    public IReadOnlyList<string> AccountNames => _bank.AccountNames;

    /// <summary>Waits for some commits more: each fault meets work under way, at a random moment of it.</summary>
    public Task SomeCommits(int count, CancellationToken cancellation)
    {
        var goal = Commits + count;
        return Holds($"{goal} commits", CommitsAgain, () => Commits >= goal ? null : $"{Commits} commits", cancellation);
    }

    /// <summary>Waits until every request that was sent before the end of a fault is decided.</summary>
    /// <param name="end">The fault's end, a timestamp.</param>
    /// <param name="cancellation">Gives up.</param>
    /// <returns>How long after its end that was.</returns>
    public async Task<TimeSpan> Settled(long end, CancellationToken cancellation)
    {
        await Holds(
            "what was sent before the end of the fault to be decided",
            DecidedAtAll,
            () => OldestOpen is { } oldest && oldest <= end ? $"one was sent {Stopwatch.GetElapsedTime(oldest).TotalSeconds:0.0} s ago" : null,
            cancellation);
        return Stopwatch.GetElapsedTime(end);
    }

    /// <summary>Lets the requests under way end, kills the servers once more so that the last reads come out of the log, and judges.</summary>
    /// <param name="restart">Kills the servers, and returns when they are ready again.</param>
    /// <param name="folder">Where a history is kept that is wrong.</param>
    /// <returns>What is wrong.</returns>
    public async Task<IReadOnlyList<string>> End(Func<Task> restart, string folder)
    {
        await _stop.CancelAsync();
        await _load.WaitAsync(EndsWithin);
        await restart();
        var report = await _lists.Judge(Loss);
        var money = await _bank.Judge(Loss);
        var problems = new List<string>();
        if (!report.Passed)
        {
            problems.Add($"{report}\nThe history is in {_lists.SaveTo(Path.Combine(folder, $"history-{_number}.jsonl"))}: ./snapper verify --history FILE");
        }

        if (!money.Passed)
        {
            problems.Add(_bank.Describe(money));
        }

        problems.AddRange(_lists.Problems.Take(5));
        foreach (var submitter in new[] { _lists.Submitter, _bank.Submitter })
        {
            problems.AddRange(submitter.Contradictions.Take(5));
            problems.AddRange(submitter.Aborts.Keys.Where(key => key.Mode == "pact" && NeverOfPacts.Contains(key.Reason)).Select(key => $"A PACT was aborted for {key.Reason}."));
        }

        if (_lists.Outcomes.TryGetValue("unknown", out var lists) | _bank.Outcomes.TryGetValue("unknown", out var bank))
        {
            problems.Add($"{lists + bank} requests were never decided.");
        }

        problems.AddRange((await Acknowledged.Missing(_client, _lists.Committed, Loss)).Take(5));
        problems.AddRange((await Acknowledged.Missing(_client, _bank.Committed, Loss)).Take(5));
        return problems;
    }

    /// <summary>No client begins anything new.</summary>
    public void Dispose() => _stop.Cancel();

    /// <summary>When the oldest request that is not decided was sent; null: all are.</summary>
    private long? OldestOpen => new[] { _lists.Submitter.OldestOpen, _bank.Submitter.OldestOpen }.Min();

    /// <summary>Waits, and throws what a client threw.</summary>
    private Task Holds(string what, TimeSpan within, Func<string?> missing, CancellationToken cancellation) => Eventually.Holds(what, within, async () =>
    {
        cancellation.ThrowIfCancellationRequested();
        await (_load.IsCompleted ? _load : Task.CompletedTask);
        return missing();
    });

    private int Sum(Func<Submitter, int> of) => of(_lists.Submitter) + of(_bank.Submitter);
}
