using System.Collections.Concurrent;
using System.Diagnostics;
using Snapper.Live.Harness;
using Snapper.Live.Load;

namespace Snapper.Live.Rounds;

/// <summary>
/// Asks without end, at every door, whether transactions commit: one small PACT or ACT after the other, with little patience. What it finds is how long a
/// fault was felt.
/// </summary>
internal sealed class Prober : IAsyncDisposable
{
    public static readonly Door[] Doors = [Door.Direct, Door.Service, Door.Actor];

    /// <summary>So many commits in a row, at every door, mean that it is over.</summary>
    private const int InARow = 10;

    private static readonly TimeSpan Patience = TimeSpan.FromSeconds(1);
    private static readonly TimeSpan Pause = TimeSpan.FromMilliseconds(20);

    private readonly CancellationTokenSource _stop = new();
    private readonly Lock _lock = new();
    private readonly Dictionary<Door, List<Probe>> _probes = Doors.ToDictionary(door => door, _ => new List<Probe>());
    private readonly SnapperClient _client;
    private readonly string _name;
    private readonly Task _run;
    private readonly ConcurrentDictionary<string, (string Result, long At)> _committed = new();
    private readonly ConcurrentQueue<string> _unclear = new();
    private readonly ConcurrentQueue<string> _contradictions = new();
    private readonly ConcurrentDictionary<Door, decimal> _lastSeen = new();
    private int _sent;

    public Prober(SnapperClient client, string name)
    {
        _client = client;
        _name = name;
        _run = Task.WhenAll(Doors.Select(door => Task.Run(() => Run(door))));
    }

    private readonly record struct Probe(long Sent, long Done, bool Committed, bool IsAnswered, string What);

    /// <summary>The account on which the probes of a door run.</summary>
    public static string AccountOf(Door door) => $"probe-{door}";

    /// <summary>Forgets what it has found.</summary>
    public void Forget()
    {
        lock (_lock)
        {
            foreach (var probes in _probes.Values)
            {
                probes.Clear();
            }
        }
    }

    /// <summary>From <paramref name="hit"/> to the first of the commits in a row, at the door where that took longest; null: not yet at every door.</summary>
    /// <param name="hit">Ticks of <see cref="Stopwatch"/>.</param>
    /// <param name="since">Only probes sent from then on count.</param>
    /// <param name="missing">What is still missing.</param>
    public TimeSpan? Recovered(long hit, long since, out string missing)
    {
        var longest = TimeSpan.Zero;
        missing = "";
        lock (_lock)
        {
            foreach (var (door, probes) in _probes)
            {
                var inARow = 0;
                long first = 0;
                foreach (var probe in probes.Where(probe => probe.Sent >= since))
                {
                    inARow = probe.Committed ? inARow + 1 : 0;
                    first = inARow == 1 ? probe.Done : first;
                    if (inARow == InARow)
                    {
                        break;
                    }
                }

                if (inARow < InARow)
                {
                    missing = $"{door}: {inARow} commits in a row; the last answer was {(probes.Count > 0 ? probes[^1].What : "none")}";
                    return null;
                }

                var took = Stopwatch.GetElapsedTime(hit, first);
                longest = took > longest ? took : longest;
            }
        }

        return longest;
    }

    /// <summary>How many of the probes that began and ended between two moments committed, by door, and how many got no answer in time; empty when there were few.</summary>
    public string Between(long from, long to)
    {
        lock (_lock)
        {
            var words = new List<string>();
            foreach (var (door, probes) in _probes)
            {
                var mine = probes.Where(probe => probe.Sent >= from && probe.Done <= to).ToArray();
                if (mine.Length < InARow / 2)
                {
                    continue;
                }

                var unanswered = mine.Count(probe => !probe.IsAnswered);
                words.Add($"{door} {100 * mine.Count(probe => probe.Committed) / mine.Length} %{(unanswered > 0 ? $" ({unanswered} unanswered)" : "")}");
            }

            return words.Count == 0 ? "" : $"meanwhile committed: {string.Join(", ", words)}";
        }
    }

    /// <summary>The longest that any probe took that was sent since then, failed ones included.</summary>
    public TimeSpan LongestSince(long since)
    {
        lock (_lock)
        {
            var most = _probes.Values.SelectMany(probes => probes).Where(probe => probe.Sent >= since).Select(probe => probe.Committed ? probe.Done - probe.Sent : Patience.Ticks).DefaultIfEmpty(0).Max();
            return Stopwatch.GetElapsedTime(0, most);
        }
    }

    /// <summary>Sends nothing more.</summary>
    public async Task Stop()
    {
        await _stop.CancelAsync();
        await _run;
    }

    /// <summary>
    /// What is wrong with what the probes saw, once all is quiet: each deposit that was acknowledged returned more than all acknowledged before it was sent, is
    /// found again with that result, and is in the balance; each that got no clear answer is decided.
    /// </summary>
    public async Task<IReadOnlyCollection<string>> Problems()
    {
        var problems = new List<string>(_contradictions.Take(5));
        problems.AddRange((await Acknowledged.Missing(_client, _committed)).Take(5));
        foreach (var id in _unclear)
        {
            var answer = await _client.Find(id);
            if (answer.Status != 404 && answer.Verdict is not (Verdict.Committed or Verdict.Aborted))
            {
                problems.Add($"probe {id} is not decided: {answer}");
            }
        }

        foreach (var (door, last) in _lastSeen)
        {
            var answer = await _client.Submit(Accounts.Balance(AccountOf(door)).Act(), Door.Direct);
            if (answer.Verdict != Verdict.Committed || answer.Result.GetProperty("checking").GetDecimal() < last)
            {
                problems.Add($"probes at the {door} door were told of a balance of {last}; now: {answer}");
            }
        }

        return problems;
    }

    public async ValueTask DisposeAsync()
    {
        await Stop();
        _stop.Dispose();
        _client.Dispose();
    }

    /// <summary>For the end. The probes of a door come one after the other, and nothing but deposits touches their account.</summary>
    private void Note(Door door, string id, Answer answer)
    {
        if (answer.Verdict != Verdict.Committed)
        {
            _unclear.Enqueue(id);
            return;
        }

        var balance = answer.Result.GetDecimal();
        if (_lastSeen.TryGetValue(door, out var last) && balance <= last)
        {
            _contradictions.Enqueue($"probe {id} made the balance {balance}, and one before it had made it {last}");
        }

        _lastSeen[door] = balance;
        _committed[id] = (answer.Result.GetRawText(), Stopwatch.GetTimestamp());
    }

    private async Task Run(Door door)
    {
        var account = AccountOf(door);
        while (!_stop.IsCancellationRequested)
        {
            var number = Interlocked.Increment(ref _sent);
            var deposit = Accounts.Amount("DepositChecking", account, 1);
            var request = (number % 2 == 0 ? deposit.Pact() : deposit.Act()) with { RequestId = $"{_name}-{number}" };
            var sent = Stopwatch.GetTimestamp();
            var answer = await _client.Submit(request, door, patience: Patience);
            Note(door, request.RequestId!, answer);
            lock (_lock)
            {
                _probes[door].Add(new Probe(sent, Stopwatch.GetTimestamp(), answer.Verdict == Verdict.Committed, answer.Status is not null, answer.ToString()));
            }

            await Task.Delay(Pause, _stop.Token).ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
        }
    }
}
