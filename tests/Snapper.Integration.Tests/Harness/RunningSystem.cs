using Xunit;

[assembly: CollectionBehavior(DisableTestParallelization = true)]

namespace Snapper.Integration.Tests.Harness;

/// <summary>
/// One system that the tests of a collection share; collections run one after the other, so there is never more than one. Every test uses names
/// of its own (<see cref="Name"/>), so that they do not meet.
/// </summary>
public abstract class RunningSystem(bool embedded) : IAsyncLifetime
{
    private static int _names;

    private SnapperProcess? _process;
    private SnapperClient? _client;

    internal bool Embedded => embedded;

    internal SnapperProcess Process => _process ?? throw new InvalidOperationException("The system is not running.");

    internal SnapperClient Client => _client ?? throw new InvalidOperationException("The system is not running.");

    /// <summary>A name that no other test of this run uses.</summary>
    internal static string Name(string stem) => $"{stem}-{Interlocked.Increment(ref _names)}";

    /// <inheritdoc/>
    public async Task InitializeAsync()
    {
        if (!embedded && ServerPrograms.Missing is not null && !ServerPrograms.MustBeThere)
        {
            // Every test of the collection is shown as not run.
            return;
        }

        _process = await SnapperProcess.Start(UpOptions.Random(embedded));
        _client = new SnapperClient(_process.Worker.Url, _process.Worker.Sidecar);
    }

    /// <inheritdoc/>
    public async Task DisposeAsync()
    {
        _client?.Dispose();
        if (_process is not null)
        {
            await using (_process)
            {
                await _process.Stop();
            }

            Directory.Delete(_process.Options.Data, recursive: true);
        }
    }
}

/// <summary>The stand-ins: one process, a log in a file.</summary>
public sealed class EmbeddedSystem() : RunningSystem(embedded: true);

/// <summary>The real thing.</summary>
public sealed class DaprAndRedisSystem() : RunningSystem(embedded: false);

/// <summary>Tests that share the embedded system.</summary>
[CollectionDefinition(Name)]
public sealed class OnEmbedded : ICollectionFixture<EmbeddedSystem>
{
    /// <summary>The collection's name.</summary>
    public const string Name = "embedded";
}

/// <summary>Tests that share the real system.</summary>
[CollectionDefinition(Name)]
public sealed class OnDaprAndRedis : ICollectionFixture<DaprAndRedisSystem>
{
    /// <summary>The collection's name.</summary>
    public const string Name = "daprd and Redis";
}
