using System.Collections.Concurrent;
using System.Diagnostics;
using System.Globalization;
using Snapper.Live.Harness;
using Snapper.Live.Load;

namespace Snapper.Live.Cluster;

/// <summary>
/// Asks without end, at the doors of all workers in turn, whether the actors of each worker answer, and whether PACTs and ACTs over all workers do. What it
/// finds is how long a fault was felt.
/// </summary>
internal sealed class ClusterProber : IAsyncDisposable
{
    private const int InARow = 5;
    private const int SlotsPerWorker = 2;
    private static readonly TimeSpan Patience = TimeSpan.FromSeconds(1);
    private static readonly TimeSpan Pause = TimeSpan.FromMilliseconds(60);

    private readonly CancellationTokenSource _stop = new();
    private readonly Lock _lock = new();
    private readonly ClusterSystem _system;
    private readonly string _name;
    private readonly SnapperClient[] _clients;
    private readonly Slot[] _slots;
    private readonly ConcurrentDictionary<string, (string Result, long At)> _committed = new();
    private readonly ConcurrentQueue<(string What, long At)> _contradictions = new();
    private Task _run = Task.CompletedTask;
    private int _sent;

    public ClusterProber(ClusterSystem system, string name)
    {
        _system = system;
        _name = name;
        _clients = [.. Enumerable.Range(1, system.Workers).Select(system.ClientOf)];
        _slots = [
            .. Enumerable.Range(0, SlotsPerWorker * system.Workers).Select(i => new Slot(i, (i % system.Workers) + 1)),
            new Slot(100, 0) { Pact = true }, new Slot(101, 0) { Pact = false },
        ];
    }

    private readonly record struct Probe(int Via, long Sent, long Done, bool Committed, string What);

    /// <param name="Number">Of the slot.</param>
    /// <param name="Worker">Whose actor it is on; 0: on one of each worker.</param>
    private sealed record Slot(int Number, int Worker)
    {
        public bool? Pact { get; init; }

        public string[] Accounts { get; set; } = [];

        public List<Probe> Probes { get; } = [];

        public decimal LastSeen { get; set; }

        public string LastAccount { get; set; } = "";
    }

    /// <summary>Finds actors of all workers where they are now, forgets what it has found, and begins if it has not.</summary>
    public async Task Place()
    {
        foreach (var slot in _slots)
        {
            var accounts = new List<string>();
            foreach (var worker in slot.Worker > 0 ? [slot.Worker] : Enumerable.Range(1, _system.Workers))
            {
                accounts.Add(await AccountOf(slot, $"w{worker}"));
            }

            lock (_lock)
            {
                slot.Accounts = [.. accounts];
                slot.Probes.Clear();
            }
        }

        if (_run == Task.CompletedTask)
        {
            _run = Task.WhenAll(_slots.Select(slot => Task.Run(() => Run(slot))));
        }
    }

    /// <summary>An account that probes of a worker's actors use now.</summary>
    public string AccountAt(int worker) => _slots.First(slot => slot.Worker == worker).Accounts[0];

    /// <summary>From <paramref name="hit"/> to the first of the commits in a row, where that took longest; null: not yet everywhere.</summary>
    /// <param name="hit">Ticks of <see cref="Stopwatch"/>.</param>
    /// <param name="since">Only probes sent from then on count.</param>
    /// <param name="without">Workers whose own doors do not count.</param>
    /// <param name="global">The probes over all workers, not those on one.</param>
    /// <param name="missing">What is still missing.</param>
    public TimeSpan? Recovered(long hit, long since, IReadOnlyCollection<int> without, bool global, out string missing)
    {
        var longest = TimeSpan.Zero;
        missing = "";
        lock (_lock)
        {
            foreach (var slot in _slots.Where(slot => slot.Worker == 0 == global))
            {
                var (inARow, first) = (0, 0L);
                foreach (var probe in slot.Probes.Where(probe => probe.Sent >= since && !without.Contains(probe.Via)))
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
                    missing = $"{(slot.Worker == 0 ? $"{(slot.Pact == true ? "PACTs" : "ACTs")} over all workers" : $"actors of w{slot.Worker}")}: {inARow} commits in a row; the last answer was {(slot.Probes.Count > 0 ? slot.Probes[^1].What : "none")}";
                    return null;
                }

                var took = Stopwatch.GetElapsedTime(hit, first);
                longest = took > longest ? took : longest;
            }
        }

        return longest;
    }

    /// <summary>The longest that a probe on a worker's actors took that was sent since then.</summary>
    public TimeSpan LongestSince(long since, int worker)
    {
        lock (_lock)
        {
            return Stopwatch.GetElapsedTime(0, _slots.Where(slot => slot.Worker == worker).SelectMany(slot => slot.Probes)
                .Where(probe => probe.Sent >= since).Select(probe => probe.Done - probe.Sent).DefaultIfEmpty(0).Max());
        }
    }

    public async Task Stop()
    {
        await _stop.CancelAsync();
        await _run;
    }

    /// <summary>What is wrong with what the probes saw, once all is quiet.</summary>
    /// <param name="loss">What need not be there; null: all must be.</param>
    public async Task<IReadOnlyCollection<string>> Problems(Loss? loss) =>
        [.. _contradictions.Where(one => loss?.Covers(one.At) is not true).Select(static one => one.What).Take(5), .. (await Acknowledged.Missing(_system.Client, _committed, loss)).Take(5)];

    public async ValueTask DisposeAsync()
    {
        await Stop();
        _stop.Dispose();
        foreach (var client in _clients)
        {
            client.Dispose();
        }
    }

    /// <summary>A name of this slot alone whose actor is there; any, if the worker owns too little to find one.</summary>
    private async Task<string> AccountOf(Slot slot, string worker)
    {
        for (var i = 0; i < 60; i++)
        {
            var name = string.Create(CultureInfo.InvariantCulture, $"probe-{slot.Number}-{i}");
            if (await _system.OwnerOf("Account/" + name) == worker)
            {
                return name;
            }
        }

        return $"probe-{slot.Number}-0{worker}";
    }

    private async Task Run(Slot slot)
    {
        for (var turn = slot.Number; !_stop.IsCancellationRequested; turn++)
        {
            string[] accounts;
            lock (_lock)
            {
                accounts = slot.Accounts;
            }

            var via = (turn % _clients.Length) + 1;
            var door = turn / _clients.Length % 4 == 0 ? Door.Service : Door.Direct;
            var transaction = slot.Worker > 0 ? Accounts.Amount("DepositChecking", accounts[0], 1) : Accounts.MultiTransfer(accounts[0], accounts[1..], 0);
            var request = ((slot.Pact ?? turn % 2 == 0) ? transaction.Pact(accounts[1..]) : transaction.Act()) with { RequestId = $"{_name}-{Interlocked.Increment(ref _sent)}" };
            var sent = Stopwatch.GetTimestamp();
            var answer = await _clients[via - 1].Submit(request, door, patience: Patience);
            Note(slot, accounts[0], request.RequestId!, answer);
            lock (_lock)
            {
                slot.Probes.Add(new Probe(via, sent, Stopwatch.GetTimestamp(), answer.Verdict == Verdict.Committed, answer.ToString()));
            }

            await Task.Delay(Pause, _stop.Token).ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
        }
    }

    /// <summary>Nothing but the deposits of one slot touches its account, one after the other: each makes more of it than the one before.</summary>
    private void Note(Slot slot, string account, string id, Answer answer)
    {
        if (answer.Verdict != Verdict.Committed)
        {
            return;
        }

        var balance = answer.Result.GetDecimal();
        if (slot.Worker > 0 && slot.LastAccount == account && balance <= slot.LastSeen)
        {
            _contradictions.Enqueue(($"probe {id} made the balance of {account} {balance}, and one before it had made it {slot.LastSeen}", Stopwatch.GetTimestamp()));
        }

        (slot.LastAccount, slot.LastSeen) = (account, balance);
        _committed[id] = (answer.Result.GetRawText(), Stopwatch.GetTimestamp());
    }
}
