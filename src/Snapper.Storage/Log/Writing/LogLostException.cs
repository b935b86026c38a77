namespace Snapper.Storage.Log.Writing;

/// <summary>The writer was fenced or found a gap, so what was enqueued will not become durable by it. Recover from the log.</summary>
/// <param name="status"><see cref="AppendStatus.Fenced"/>, <see cref="AppendStatus.Gap"/>, <see cref="AppendStatus.Behind"/> or <see cref="AppendStatus.RescuerFenced"/>.</param>
/// <param name="detail">Words for people.</param>
public sealed class LogLostException(AppendStatus status, string detail) : Exception($"The log's writer has stopped ({status}): {detail}")
{
    /// <summary><see cref="AppendStatus.Fenced"/>, <see cref="AppendStatus.Gap"/>, <see cref="AppendStatus.Behind"/> or <see cref="AppendStatus.RescuerFenced"/>.</summary>
    public AppendStatus Status { get; } = status;
}
