using Snapper.Storage.Log;
using Snapper.Storage.Memory;
using Snapper.Storage.States;

namespace Snapper.Storage.Tests.Conformance;

public sealed class MemoryLogTests : LogConformance
{
    private readonly MemoryStorage _storage = new();

    public override Task InitializeAsync() => Task.CompletedTask;

    public override Task DisposeAsync() => Task.CompletedTask;

    private protected override ITransactionLog NewLog() => new MemoryTransactionLog(_storage);

    private protected override IStateStore NewStore(ITransactionLog log) => new MemoryStateStore(_storage, Time, StoreOptions);
}
