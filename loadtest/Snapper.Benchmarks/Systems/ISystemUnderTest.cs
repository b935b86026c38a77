using Snapper.Benchmarks.Measurement;

namespace Snapper.Benchmarks.Systems;

/// <summary>A system that runs in processes of its own behind a sidecar.</summary>
public interface ISystemUnderTest : IAsyncDisposable
{
    /// <summary>What the tables call it.</summary>
    string Name { get; }

    /// <summary>The HTTP API of its sidecar.</summary>
    Uri Sidecar { get; }

    /// <summary>All its processes, whose CPU time counts.</summary>
    IReadOnlyList<MeasuredProcess> Processes { get; }

    /// <summary>Settings that a number depends on.</summary>
    IReadOnlyDictionary<string, string> Facts { get; }
}
