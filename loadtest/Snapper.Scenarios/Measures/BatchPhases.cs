using System.Net.Http.Json;
using System.Text.Json;

namespace Snapper.Scenarios.Measures;

/// <summary>How long the phases of a batch took, as the worker that formed it tells.</summary>
/// <param name="Batch">Its number.</param>
/// <param name="CompletedMs">From its formation until its last transaction had run.</param>
/// <param name="QueuedMs">From its formation until its commit was handed to the log.</param>
/// <param name="CommittedMs">From its formation until it was durable.</param>
public sealed record BatchPhases(long Batch, double CompletedMs, double QueuedMs, double CommittedMs);

/// <summary>Looks at the batches that a worker committed last, each once.</summary>
public sealed class BatchPhaseSampler : IDisposable
{
    private const int Limit = 50;

    private static readonly JsonSerializerOptions s_json = new(JsonSerializerDefaults.Web);

    private readonly HttpClient _http = new(new SocketsHttpHandler { UseProxy = false }) { Timeout = TimeSpan.FromSeconds(2) };
    private long _newest;

    /// <summary>Those that were committed since the last look, oldest first; none when the worker does not answer.</summary>
    public async Task<IReadOnlyList<BatchPhases>> Look(Uri worker, CancellationToken cancellation)
    {
        try
        {
            var batches = await _http.GetFromJsonAsync<BatchesAnswer>(new Uri(worker, $"v1/batches?limit={Limit}"), s_json, cancellation).ConfigureAwait(false);
            BatchPhases[] fresh = [.. (batches?.Batches ?? [])
                .Where(batch => batch.Batch > _newest && batch is { CompletedMs: not null, QueuedMs: not null, CommittedMs: not null })
                .OrderBy(static batch => batch.Batch)
                .Select(static batch => new BatchPhases(batch.Batch, batch.CompletedMs!.Value, batch.QueuedMs!.Value, batch.CommittedMs!.Value))];
            _newest = fresh.Length > 0 ? fresh[^1].Batch : _newest;
            return fresh;
        }
        catch (Exception problem) when (problem is HttpRequestException or JsonException || (problem is TaskCanceledException && !cancellation.IsCancellationRequested))
        {
            return []; // it is away, or being killed by the test: the transactions say so
        }
    }

    /// <inheritdoc/>
    public void Dispose() => _http.Dispose();

    private sealed record BatchesAnswer(IReadOnlyList<BatchAnswer> Batches);

    private sealed record BatchAnswer(long Batch, double? CompletedMs, double? QueuedMs, double? CommittedMs);
}
