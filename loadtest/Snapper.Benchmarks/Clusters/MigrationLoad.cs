using Snapper.Runtime.Inspection;
using System.Diagnostics;
using Snapper.Benchmarks.InProcess;
using Snapper.Benchmarks.Statistics;

namespace Snapper.Benchmarks.Clusters;

/// <summary>
/// Closed loops over accounts of which half move. A transfer has accounts that move or accounts that stay, so that what was local before is local afterwards. Counts in windows,
/// and knows for each account how long its slowest caller waited in a window.
/// </summary>
public sealed class MigrationLoad
{
    private readonly ClusterInProcess _cluster;
    private readonly MigrationMix _mix;
    private readonly PlacedTransfers _moving;
    private readonly PlacedTransfers _staying;
    private volatile MigrationWindow _window;
    private volatile bool _stopping;

    /// <param name="cluster">The workers; who owns what must be learnt.</param>
    /// <param name="moves">Whether an account moves.</param>
    /// <param name="mix">What is run.</param>
    public MigrationLoad(ClusterInProcess cluster, IReadOnlyList<bool> moves, MigrationMix mix)
    {
        _cluster = cluster;
        _mix = mix;
        _moving = new PlacedTransfers(moves.Select((moving, account) => moving ? cluster.OwnerOf(account) : 0).ToArray());
        _staying = new PlacedTransfers(moves.Select((moving, account) => moving ? 0 : cluster.OwnerOf(account)).ToArray());
        _window = new MigrationWindow(moves.Count);
    }

    /// <summary>Runs until <see cref="Stop"/>.</summary>
    public Task Run(int loops, ulong seed) => Task.WhenAll(Enumerable.Range(0, loops).Select(loop => Task.Run(() => Loop(new FastRandom(seed + (ulong)loop)))));

    /// <summary>Ends the loops.</summary>
    public void Stop() => _stopping = true;

    /// <summary>Closes the current window and begins the next one; a request counts in the window in which it ends.</summary>
    public MigrationWindow Next()
    {
        var closed = _window;
        _window = new MigrationWindow(_cluster.Keys.Count);
        closed.Close();
        return closed;
    }

    private async Task Loop(FastRandom random)
    {
        while (!_stopping)
        {
            var kind = random.NextDouble() < _mix.Acts ? TransactionKind.Act : TransactionKind.Pact;
            var distributed = random.NextDouble() < _mix.Distributed;
            var transfer = (random.Next(2) == 0 ? _moving : _staying).Draw(ref random, distributed);
            var began = Stopwatch.GetTimestamp();
            var end = await _cluster.RunAsync(kind, transfer);
            _window.Count(transfer, end, (long)Stopwatch.GetElapsedTime(began).TotalMicroseconds);
        }
    }
}

/// <summary>What a migration meets.</summary>
/// <param name="Acts">Share of ACTs; the others are PACTs.</param>
/// <param name="Distributed">Share of transfers over two workers.</param>
public readonly record struct MigrationMix(double Acts, double Distributed);

/// <summary>What ended between two moments. Recording is safe from several threads.</summary>
public sealed class MigrationWindow(int accounts)
{
    /// <summary>Length of a step of <see cref="Course"/>.</summary>
    public static readonly TimeSpan Step = TimeSpan.FromMilliseconds(20);

    private readonly long _began = Stopwatch.GetTimestamp();
    private readonly long[] _longest = new long[accounts];
    private readonly Lock _gate = new();
    private readonly Dictionary<string, long> _aborts = [];
    private readonly int[] _steps = new int[50];
    private long _committed;
    private long _repeats;

    /// <summary>Its length, once closed.</summary>
    public double Seconds { get; private set; }

    /// <summary>Transactions that committed.</summary>
    public long Committed => Interlocked.Read(ref _committed);

    /// <summary>Transactions that committed in each <see cref="Step"/> from the beginning; the last holds all later ones.</summary>
    public string Course => string.Join(' ', _steps.Take((int)Math.Ceiling(Seconds / Step.TotalSeconds)));

    /// <summary>Attempts beyond the first of each transaction.</summary>
    public long Repeats => Interlocked.Read(ref _repeats);

    /// <summary>Transactions that ended aborted or were rejected, by reason.</summary>
    public IReadOnlyDictionary<string, long> Aborts
    {
        get
        {
            lock (_gate)
            {
                return new Dictionary<string, long>(_aborts);
            }
        }
    }

    /// <summary>Committed transactions per second.</summary>
    public double PerSecond => Committed / Seconds;

    /// <summary>Counts a transaction.</summary>
    public void Count(Transfer transfer, TransactionEnd end, long microseconds)
    {
        Interlocked.Add(ref _repeats, end.Attempts - 1);
        if (end.Committed)
        {
            Interlocked.Increment(ref _committed);
            Interlocked.Increment(ref _steps[Math.Min(_steps.Length - 1, (int)(Stopwatch.GetElapsedTime(_began) / Step))]);
        }
        else
        {
            lock (_gate)
            {
                var reason = end.Reason ?? "unknown";
                _aborts[reason] = _aborts.GetValueOrDefault(reason) + 1;
            }
        }

        Waited(transfer.Root, microseconds);
        Waited(transfer.To1, microseconds);
        Waited(transfer.To2, microseconds);
        Waited(transfer.To3, microseconds);
    }

    /// <summary>The 99th percentile over accounts of the longest wait of an account's callers, in milliseconds; accounts that nobody used do not count. 0: none was used.</summary>
    public double PauseP99(Func<int, bool> which)
    {
        var waits = new LatencyHistogram();
        for (var i = 0; i < _longest.Length; i++)
        {
            if (which(i) && Volatile.Read(ref _longest[i]) is > 0 and var longest)
            {
                waits.Record(longest);
            }
        }

        return waits.Percentile(99) / 1000.0;
    }

    internal void Close() => Seconds = Stopwatch.GetElapsedTime(_began).TotalSeconds;

    private void Waited(int account, long microseconds) => AtomicMax.Raise(ref _longest[account], microseconds);
}
