using Snapper.Benchmarks.InProcess;
using Snapper.Benchmarks.Statistics;

namespace Snapper.Benchmarks.Clusters;

/// <summary>
/// Transfers by where their accounts live: all four on one worker, or two on each of two. Uniform among the accounts: a worker is drawn through an account of its own, so that
/// one that owns more is drawn more often. Safe from several threads with a generator each.
/// </summary>
public sealed class PlacedTransfers
{
    private const int Width = 4;
    private readonly int[][] _byWorker;
    private readonly int[] _accounts;
    private readonly int[] _workerOf;

    /// <param name="owners">The worker of each account, from 1; 0: the account is not drawn.</param>
    /// <exception cref="ArgumentException">A worker owns fewer than four accounts, too few for a transfer of its own.</exception>
    public PlacedTransfers(IReadOnlyList<int> owners)
    {
        _byWorker = owners.Select(static (worker, account) => (worker, account)).Where(static pair => pair.worker > 0).GroupBy(static pair => pair.worker).OrderBy(static group => group.Key)
            .Select(static group => group.Select(static pair => pair.account).ToArray()).ToArray();
        _accounts = _byWorker.SelectMany(static accounts => accounts).ToArray();
        _workerOf = new int[owners.Count];
        for (var worker = 0; worker < _byWorker.Length; worker++)
        {
            if (_byWorker[worker].Length < Width)
            {
                throw new ArgumentException($"A worker owns {_byWorker[worker].Length} accounts; a transfer needs {Width}.", nameof(owners));
            }

            foreach (var account in _byWorker[worker])
            {
                _workerOf[account] = worker;
            }
        }
    }

    /// <summary>Workers that own accounts.</summary>
    public int Workers => _byWorker.Length;

    /// <summary>The next transfer.</summary>
    /// <param name="random">The caller's generator.</param>
    /// <param name="distributed">Over two workers; needs two.</param>
    public Transfer Draw(ref FastRandom random, bool distributed)
    {
        Span<int> drawn = stackalloc int[Width];
        var at = _accounts[random.Next(_accounts.Length)];
        var home = _workerOf[at];
        drawn[0] = at;
        var away = home;
        while (distributed && away == home)
        {
            away = _workerOf[_accounts[random.Next(_accounts.Length)]];
        }

        DrawFrom(_byWorker[home], ref random, drawn, 1, Width / 2);
        DrawFrom(_byWorker[away], ref random, drawn, Width / 2, Width);
        return new Transfer(drawn[0], drawn[1], drawn[2], drawn[3]);
    }

    private static void DrawFrom(int[] accounts, ref FastRandom random, Span<int> drawn, int from, int to)
    {
        for (var i = from; i < to; i++)
        {
            int account;
            do
            {
                account = accounts[random.Next(accounts.Length)];
            }
            while (drawn[..i].Contains(account));
            drawn[i] = account;
        }
    }
}

/// <summary>The same as accounts of a request: all over two workers, or all of one.</summary>
public sealed class PlacedChooser(PlacedTransfers transfers, bool distributed) : Load.IAccountChooser
{
    /// <inheritdoc />
    public int Width => 4;

    /// <inheritdoc />
    public void Draw(ref FastRandom random, Span<int> accounts)
    {
        var transfer = transfers.Draw(ref random, distributed);
        accounts[0] = transfer.Root;
        accounts[1] = transfer.To1;
        accounts[2] = transfer.To2;
        accounts[3] = transfer.To3;
    }
}
