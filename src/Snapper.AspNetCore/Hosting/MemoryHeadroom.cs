using Snapper.Contracts;
using Snapper.Runtime.Door;

namespace Snapper.AspNetCore.Hosting;

/// <summary>What a look at the heap shows.</summary>
/// <param name="Bytes">In use at the end of the last collection.</param>
/// <param name="Limit">What it may grow to.</param>
/// <param name="FullCollection">Number of the last collection of all of it that has ended; grows.</param>
internal readonly record struct HeapReading(long Bytes, long Limit, long FullCollection)
{
    /// <summary>The heap of this process.</summary>
    public static HeapReading Now()
    {
        var last = GC.GetGCMemoryInfo(GCKind.Any);
        var full = Math.Max(GC.GetGCMemoryInfo(GCKind.FullBlocking).Index, GC.GetGCMemoryInfo(GCKind.Background).Index);
        return new HeapReading(last.HeapSizeBytes, last.TotalAvailableMemoryBytes, full);
    }
}

/// <summary>
/// Looks a few times a second how near the heap is to its limit. Near it, new work is refused, so that what is under
/// way ends: an allocation that fails would end the process. Only what a full collection leaves counts; one is asked
/// for when there seems to be too much, since where nothing is let in nothing else may start one.
/// </summary>
internal sealed class MemoryHeadroom : IDisposable
{
    /// <summary>The part of the limit at which new work is refused.</summary>
    public const double RefusesAt = 0.85;

    private const double LetsInAt = 0.80;

    // Nearer than this there may be no time for a collection.
    private const double RefusesAtOnce = 0.95;

    private const int LooksBetweenCollections = 20;
    private static readonly TimeSpan s_every = TimeSpan.FromMilliseconds(250);

    private readonly ByteBudget _bytes;
    private readonly Func<HeapReading> _read;
    private readonly Action _collect;
    private readonly ILogger _logger;
    private readonly Lock _looking = new();
    private ITimer? _timer;
    private HeapReading _last;
    private long _askedAfter = -1; // the last full collection when one was asked for; -1: none was
    private int _looksSince;

    /// <param name="bytes">Is closed to new work, and opened again.</param>
    /// <param name="logger">Hears of both.</param>
    /// <param name="read">The heap; null: this process's.</param>
    /// <param name="collect">Starts a full collection; null: this process's.</param>
    public MemoryHeadroom(ByteBudget bytes, ILogger logger, Func<HeapReading>? read = null, Action? collect = null)
    {
        _bytes = bytes;
        _logger = logger;
        _read = read ?? HeapReading.Now;
        _collect = collect ?? (static () => GC.Collect(GC.MaxGeneration, GCCollectionMode.Forced, blocking: false));
        _last = _read();
    }

    /// <summary>Looks from now on by itself.</summary>
    public void Start() => _timer = TimeProvider.System.CreateTimer(
        static self => ((MemoryHeadroom)self!).Look(), this, s_every, s_every);

    /// <summary>What the last look showed.</summary>
    public HeldMemoryView View()
    {
        lock (_looking)
        {
            return new(_last.Bytes, _last.Limit, _bytes.Used, _bytes.Most, _bytes.Closed is not null);
        }
    }

    /// <summary>Looks once.</summary>
    public void Look()
    {
        lock (_looking)
        {
            var now = _last = _read();
            _looksSince++;
            if (_bytes.Closed is not null)
            {
                Reopen(now);
            }
            else if (now.Bytes < RefusesAt * now.Limit)
            {
                _askedAfter = -1;
            }
            else if (now.Bytes >= RefusesAtOnce * now.Limit || (_askedAfter >= 0 && now.FullCollection > _askedAfter))
            {
                Close(now);
            }
            else if (_askedAfter < 0 || _looksSince >= LooksBetweenCollections)
            {
                Collect(now);
            }
        }
    }

    public void Dispose() => _timer?.Dispose();

    private void Close(in HeapReading now)
    {
        _bytes.Closed = $"The worker is out of memory headroom: its heap holds {now.Bytes} of {now.Limit} bytes.";
        ServerLog.NoHeadroom(_logger, now.Bytes, now.Limit);
        Collect(now);
    }

    private void Reopen(in HeapReading now)
    {
        if (now.Bytes < LetsInAt * now.Limit)
        {
            _bytes.Closed = null;
            _askedAfter = -1;
            ServerLog.HeadroomAgain(_logger, now.Bytes, now.Limit);
        }
        else if (_looksSince >= LooksBetweenCollections)
        {
            Collect(now);
        }
    }

    private void Collect(in HeapReading now)
    {
        _askedAfter = now.FullCollection;
        _looksSince = 0;
        _collect();
    }
}
