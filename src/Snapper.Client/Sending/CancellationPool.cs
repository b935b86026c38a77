using System.Collections.Concurrent;

namespace Snapper.Client.Sending;

/// <summary>
/// Sources of cancellation that end a wait after a time, and when the client is closed. They are used again: to make one and to link it, for each transaction and each request, is memory and
/// a lock that all of them share, and a holder of that lock without a core makes all others wait. Thread-safe.
/// </summary>
internal sealed class CancellationPool(CancellationToken closing)
{
    private const int KeptMax = 1024;

    private readonly ConcurrentQueue<GiveUp> _free = new();
    private int _kept;

    /// <summary>Rents one that is cancelled after a time. To dispose of it gives it back.</summary>
    public GiveUp After(TimeSpan wait)
    {
        if (_free.TryDequeue(out var one))
        {
            Interlocked.Decrement(ref _kept);
        }
        else
        {
            one = new GiveUp(this, closing);
        }

        one.CancelAfter(wait);
        return one;
    }

    private bool Keep(GiveUp one)
    {
        if (Interlocked.Increment(ref _kept) > KeptMax)
        {
            Interlocked.Decrement(ref _kept);
            return false;
        }

        _free.Enqueue(one);
        return true;
    }

    /// <summary>One of them. Its token must not be used after it was given back.</summary>
    internal sealed class GiveUp : CancellationTokenSource
    {
        private readonly CancellationPool _home;
        private readonly CancellationTokenRegistration _closed;

        internal GiveUp(CancellationPool home, CancellationToken closing)
        {
            _home = home;
            _closed = closing.UnsafeRegister(static one => ((GiveUp)one!).Cancel(), this);
        }

        protected override void Dispose(bool disposing)
        {
            // One whose time has come, or that closing has cancelled, is of no use any more.
            if (disposing && TryReset() && _home.Keep(this))
            {
                return;
            }

            _closed.Dispose();
            base.Dispose(disposing);
        }
    }
}
