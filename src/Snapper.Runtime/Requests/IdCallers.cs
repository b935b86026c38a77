using System.Collections.Concurrent;
using Snapper.Runtime.Execution;

namespace Snapper.Runtime.Requests;

/// <summary>How many ids of each caller are kept. Thread-safe.</summary>
/// <param name="window">Minutes for which an id is kept.</param>
internal sealed class IdCallers(int window)
{
    // Addresses are cheap to change: their number must not become our memory.
    private const int Most = 10_000;
    private const int MinutesUnused = 10; // no request lasts so long

    private readonly ConcurrentDictionary<string, IdAccount> _accounts = new(StringComparer.Ordinal);
    private long _dropped = -1;

    // An id goes one to two minutes behind its window.
    private readonly int _minutes = window + 4;

    public int Count => _accounts.Count;

    /// <summary>A caller's account, used in this minute.</summary>
    public IdAccount Of(string name, long minute)
    {
        if (!_accounts.TryGetValue(name, out var account))
        {
            account = Open(_accounts.Count < Most ? name : "(others)");
        }

        account.UsedIn = minute;
        return account;
    }

    /// <summary>The ids of earlier minutes are forgotten.</summary>
    public void DropBefore(long minute)
    {
        if (minute < 0)
        {
            return; // the clock began within the window
        }

        // Of the minutes of a long pause each place is looked at once.
        var first = Math.Max(Interlocked.Exchange(ref _dropped, minute - 1) + 1, minute - _minutes);
        foreach (var (name, account) in _accounts)
        {
            for (var i = first; i < minute; i++)
            {
                account.Drop(i);
            }

            if (account.Kept == 0 && account.UsedIn < minute - MinutesUnused)
            {
                _accounts.TryRemove(name, out _);
            }
        }
    }

    private IdAccount Open(string name)
    {
        var account = new IdAccount(name, _minutes);
        return _accounts.GetOrAdd(name, account);
    }
}
