using Snapper.Storage.Files;
using Snapper.Storage.Log;
using Snapper.Storage.States;

namespace Snapper.Storage.Tests.Conformance;

public sealed class FileLogTests : LogConformance
{
    private readonly string _folder = Directory.CreateTempSubdirectory("snapper-log-").FullName;
    private readonly List<IAsyncDisposable> _made = [];

    public override Task InitializeAsync() => Task.CompletedTask;

    public override async Task DisposeAsync()
    {
        foreach (var made in _made)
        {
            await made.DisposeAsync();
        }

        Directory.Delete(_folder, recursive: true);
    }

    private protected override ITransactionLog NewLog()
    {
        var log = new FileTransactionLog(_folder);
        _made.Add(log);
        return log;
    }

    private protected override IStateStore NewStore(ITransactionLog log)
    {
        var store = new FileStateStore((FileTransactionLog)log, Time, StoreOptions);
        _made.Add(store);
        return store;
    }
}
