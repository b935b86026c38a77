using System.Globalization;
using Snapper.Apps.SmallBank;
using Snapper.Protocol.Identity;
using Snapper.Runtime.Door;
using Snapper.Runtime.Execution;
using Snapper.Runtime.Hosting;
using Snapper.Storage.Files;
using Snapper.Storage.States;

namespace Snapper.Server.Hosting;

/// <summary>
/// A worker that is alone and has the accounts of a bank, for as long as a warm-up takes. Its log and its API are in a
/// folder that this account alone can open, and that is deleted at the end.
/// </summary>
internal sealed class WarmUpWorker : IAsyncDisposable
{
    private const int Accounts = 64;

    // So few that batches are small, as on a worker that has little to do, and so many that ACTs meet.
    private const int AtOnce = 8;
    private const int OverHttp = 4;

    private static readonly TimeSpan s_startWithin = TimeSpan.FromSeconds(30);
    private static readonly TimeSpan s_timeout = TimeSpan.FromSeconds(5);

    private readonly DirectoryInfo _folder = Directory.CreateTempSubdirectory("snapper-warm-"); // 0700
    private readonly FileTransactionLog _log;
    private readonly FileStateStore _store;
    private readonly ActorKey[] _accounts =
    [
        .. Enumerable.Range(0, Accounts).Select(static i => new ActorKey("Account", string.Create(CultureInfo.InvariantCulture, $"warm-{i}"))),
    ];

    private WorkerHost? _host;
    private WarmUpWeb? _web;

    private WarmUpWorker()
    {
        _log = new FileTransactionLog(Path.Combine(_folder.FullName, "log"));
        _store = new FileStateStore(_log, TimeProvider.System, new StateStoreOptions());
    }

    public static async Task<WarmUpWorker> Start(CancellationToken cancellation)
    {
        var made = new WarmUpWorker();
        using var end = CancellationTokenSource.CreateLinkedTokenSource(cancellation);
        end.CancelAfter(s_startWithin);
        try
        {
            made._host = await WorkerHost.Start(
                new WorkerSetup
                {
                    Options = new WorkerOptions { Name = "warm-up" },
                    ActorTypes = SnapperAppsSmallBankActors.All,
                    Log = made._log,
                    Store = made._store,
                },
                end.Token);
            made._web = await WarmUpWeb.Start(made._host, Path.Combine(made._folder.FullName, "api"), end.Token);
            return made;
        }
        catch
        {
            await made.DisposeAsync();
            throw;
        }
    }

    /// <summary>
    /// Runs so many transactions of all kinds, some at once: some callers over HTTP, as services do, some in the process,
    /// as other workers forward them.
    /// </summary>
    /// <returns>How many of them committed.</returns>
    public async Task<int> Work(int transactions, CancellationToken cancellation)
    {
        var (left, committed) = (transactions, 0);
        await Task.WhenAll(Enumerable.Range(0, AtOnce).Select(Caller));
        return committed;

        async Task Caller(int caller)
        {
            var random = new Random(caller);
            while (Interlocked.Decrement(ref left) >= 0)
            {
                var request = Draw(random);
                if (caller < OverHttp
                    ? await _web!.Send(request, cancellation)
                    : (await _host!.Door.Submit(request, cancellation)).Outcome == Outcome.Committed)
                {
                    Interlocked.Increment(ref committed);
                }
            }
        }
    }

    public async ValueTask DisposeAsync()
    {
        await (_web?.DisposeAsync() ?? ValueTask.CompletedTask);
        await (_host?.DisposeAsync() ?? ValueTask.CompletedTask);
        await _store.DisposeAsync();
        await _log.DisposeAsync();
        _folder.Delete(recursive: true);
    }

    /// <summary>Of ten: five PACTs and two ACTs over two to four accounts, two reads, and one that must abort.</summary>
    private TransactionRequest Draw(Random random)
    {
        Span<int> drawn = stackalloc int[3];
        var root = _accounts[random.Next(Accounts)];
        return random.Next(10) switch
        {
            < 5 => Transfer(Others(random, drawn), pact: true, amount: 1),
            < 7 => Transfer(Others(random, drawn), pact: false, amount: 1),
            7 => Of(root, "Balance", "null", [new DeclaredAccess(root, 1)]),
            8 => Of(root, "Balance", "null", null),
            _ => Transfer(Others(random, drawn), pact: true, amount: 1_000_000_000),
        };

        TransactionRequest Transfer(ReadOnlySpan<int> others, bool pact, int amount)
        {
            var access = new DeclaredAccess[others.Length + 1];
            access[0] = new DeclaredAccess(root, 1);
            var to = new string[others.Length];
            for (var i = 0; i < others.Length; i++)
            {
                access[i + 1] = new DeclaredAccess(_accounts[others[i]], 1);
                to[i] = $"\"{_accounts[others[i]].Id}\"";
            }

            var input = string.Create(CultureInfo.InvariantCulture, $"{{\"amount\":{amount},\"to\":[{string.Join(',', to)}]}}");
            return Of(root, "MultiTransfer", input, pact ? access : null);
        }

        ReadOnlySpan<int> Others(Random of, Span<int> into)
        {
            var count = of.Next(1, into.Length + 1);
            for (var i = 0; i < count; i++)
            {
                do
                {
                    into[i] = of.Next(Accounts);
                }
                while (_accounts[into[i]] == root || into[..i].Contains(into[i]));
            }

            return into[..count];
        }
    }

    private static TransactionRequest Of(ActorKey root, string method, string input, DeclaredAccess[]? access) => new()
    {
        Actor = root,
        Method = method,
        Input = System.Text.Encoding.UTF8.GetBytes(input),
        Mode = access is null ? TransactionMode.Act : TransactionMode.Pact,
        Access = access,
        Timeout = s_timeout,
    };
}
