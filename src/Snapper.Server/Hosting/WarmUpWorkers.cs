using System.Globalization;
using Snapper.Apps.SmallBank;
using Snapper.Cluster;
using Snapper.Protocol.Identity;
using Snapper.Runtime.Door;
using Snapper.Runtime.Hosting;
using Snapper.Storage.Membership;
using Snapper.Storage.Memory;
using Snapper.Storage.States;

namespace Snapper.Server.Hosting;

/// <summary>Two workers in memory that share the accounts of a bank, for as long as a warm-up takes. Packets between them are handed over in the process.</summary>
internal sealed class WarmUpWorkers : IAsyncDisposable
{
    private const int Workers = 2;
    private const int Accounts = 64;

    // So few that batches are small, as on a worker that has little to do, and so many that ACTs meet.
    private const int AtOnce = 8;
    private const int OverHttp = 4;

    private static readonly TimeSpan s_startWithin = TimeSpan.FromSeconds(30);
    private static readonly TimeSpan s_timeout = TimeSpan.FromSeconds(5);

    private readonly WorkerHost?[] _hosts = new WorkerHost?[Workers];
    private readonly MailboxHub?[] _hubs = new MailboxHub?[Workers + 1];
    private readonly List<IAsyncDisposable> _storage = [];
    private WarmUpWeb? _web;
    private readonly ActorKey[] _accounts = [.. Enumerable.Range(0, Accounts).Select(static i => new ActorKey("Account", string.Create(CultureInfo.InvariantCulture, $"warm-{i}")))];

    private WarmUpWorkers()
    {
    }

    /// <summary>Starts them.</summary>
    public static async Task<WarmUpWorkers> Start(CancellationToken cancellation)
    {
        var made = new WarmUpWorkers();
        var options = new ClusterOptions();
        var shared = new MemoryCluster(TimeProvider.System, options);
        using var end = CancellationTokenSource.CreateLinkedTokenSource(cancellation);
        end.CancelAfter(s_startWithin);
        try
        {
            await Task.WhenAll(Enumerable.Range(1, Workers).Select(Open));
            made._web = await WarmUpWeb.Start(made._hosts[0]!, cancellation);
            return made;
        }
        catch
        {
            await made.DisposeAsync();
            throw;
        }

        async Task Open(int number)
        {
            var log = new MemoryTransactionLog(shared.Log(number));
            var store = new MemoryStateStore(shared.Log(number), TimeProvider.System, new StateStoreOptions());
            made._storage.Add(store);
            made._storage.Add(log);
            made._hosts[number - 1] = await WorkerHost.Start(
                new WorkerSetup
                {
                    Options = new WorkerOptions { Name = string.Create(CultureInfo.InvariantCulture, $"w{number}"), Number = number },
                    ActorTypes = SnapperAppsSmallBankActors.All,
                    Log = log,
                    Store = store,
                    Cluster = new ClusterSetup
                    {
                        OpenStore = self => shared.Open(self, new StateStoreOptions()),
                        ArchiveOf = worker => new MemoryStateStore(shared.Log(worker), TimeProvider.System, new StateStoreOptions()),
                        Transport = new Road(made._hubs),
                        Opened = hub => Volatile.Write(ref made._hubs[number], hub),
                        Address = new MemberAddress("warm-up", "", Environment.ProcessId, "warm-up"),
                        Options = options,
                        FirstWorkers = Workers,
                    },
                },
                end.Token);
        }
    }

    /// <summary>Runs so many transactions of all kinds, some at once: some callers over HTTP, as services do, some at a worker's door, as others pass them on.</summary>
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
                    : (await _hosts[random.Next(Workers)]!.Door.Submit(request, cancellation)).Outcome == Outcome.Committed)
                {
                    Interlocked.Increment(ref committed);
                }
            }
        }
    }

    /// <inheritdoc/>
    public async ValueTask DisposeAsync()
    {
        await (_web?.DisposeAsync() ?? ValueTask.CompletedTask);
        foreach (var host in _hosts)
        {
            await (host?.DisposeAsync() ?? ValueTask.CompletedTask);
        }

        foreach (var storage in _storage)
        {
            await storage.DisposeAsync();
        }
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

            return Of(root, "MultiTransfer", string.Create(CultureInfo.InvariantCulture, $"{{\"amount\":{amount},\"to\":[{string.Join(',', to)}]}}"), pact ? access : null);
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

    private sealed class Road(MailboxHub?[] hubs) : IMailboxTransport
    {
        // Off the caller's thread, as every real road is; the packet is valid until the answer is there.
        public async Task<ReadOnlyMemory<byte>> Deliver(int worker, ReadOnlyMemory<byte> packet, CancellationToken cancellation)
        {
            await Task.Yield();
            return Volatile.Read(ref hubs[worker])?.Deliver(packet) ?? MailboxHub.NotReady;
        }
    }
}
