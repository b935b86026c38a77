using System.Globalization;
using System.Text;
using System.Text.Json;
using Snapper.Actors.Generated;
using Snapper.Apps.ListAppend;
using Snapper.Apps.SmallBank;
using Snapper.Protocol.Identity;
using Snapper.Runtime.Door;
using Snapper.Runtime.Execution;
using Snapper.Runtime.Hosting;
using Snapper.Storage.Memory;
using Snapper.Storage.States;
using Xunit;

namespace Snapper.Runtime.Tests;

/// <summary>A worker on the memory log, which survives <see cref="Restart"/> as a server would.</summary>
public sealed class TestWorker : ILoadTarget, IAsyncDisposable
{
    private readonly MemoryStorage _storage = new();
    private readonly WorkerOptions _options;
    private readonly IReadOnlyList<ActorTypeDescriptor> _types;
    private WorkerHost _host = null!;

    private TestWorker(WorkerOptions options, IReadOnlyList<ActorTypeDescriptor> types)
    {
        _options = options;
        _types = types;
    }

    public WorkerHost Host => _host;

    public Exception? Failed { get; private set; }

    public static async Task<TestWorker> Start(WorkerOptions? options = null, params ActorTypeDescriptor[] more)
    {
        var types = SnapperAppsSmallBankActors.All.Concat(SnapperAppsListAppendActors.All).Concat(more).ToArray();
        var worker = new TestWorker(options ?? new WorkerOptions { Executors = 2 }, types);
        await worker.Open();
        return worker;
    }

    public async Task Restart()
    {
        await _host.DisposeAsync();
        await Open();
    }

    public Task<TransactionEnvelope> Pact(string type, string id, string method, object? input, params (string Id, int Calls)[] access) =>
        Submit(type, id, method, input, access.Select(a => new DeclaredAccess(new ActorKey(type, a.Id), a.Calls)).ToArray());

    public Task<TransactionEnvelope> Act(string type, string id, string method, object? input) => Submit(type, id, method, input, null);

    public Task<TransactionEnvelope> Submit(string type, string id, string method, object? input, DeclaredAccess[]? access, string? key = null, int timeoutMs = 30_000) =>
        _host.Door.Submit(
            new TransactionRequest
            {
                Actor = new ActorKey(type, id),
                Method = method,
                Input = input is null ? default : JsonSerializer.SerializeToUtf8Bytes(input),
                Mode = access is null ? TransactionMode.Act : TransactionMode.Pact,
                Access = access,
                Id = key,
                Timeout = TimeSpan.FromMilliseconds(timeoutMs),
            },
            CancellationToken.None);

    public async Task<decimal> Total(string id)
    {
        var envelope = await Act("Account", id, "Balance", null);
        Assert.True(envelope.Outcome == Outcome.Committed, Describe(envelope));
        using var json = JsonDocument.Parse(envelope.Result);
        return json.RootElement.GetProperty("total").GetDecimal();
    }

    public static string Describe(TransactionEnvelope envelope) => string.Create(
        CultureInfo.InvariantCulture,
        $"{envelope.Outcome} {envelope.Abort?.Reason} {envelope.Abort?.Message}{envelope.Rejection?.Detail} {Encoding.UTF8.GetString(envelope.Result.Span)}");

    public async ValueTask DisposeAsync()
    {
        await _host.DisposeAsync();
        Assert.Null(Failed);
    }

    private async Task Open()
    {
        _host = await WorkerHost.Start(
            new WorkerSetup
            {
                Options = _options,
                ActorTypes = _types,
                Log = new MemoryTransactionLog(_storage),
                Store = new MemoryStateStore(_storage, TimeProvider.System, new StateStoreOptions()),
                Failed = exception => Failed = exception,
            },
            CancellationToken.None);
    }
}
