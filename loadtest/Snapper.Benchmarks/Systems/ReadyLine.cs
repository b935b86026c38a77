using System.Text.Json;

namespace Snapper.Benchmarks.Systems;

/// <summary>A worker of <c>./snapper up</c>.</summary>
/// <param name="Name"><c>w1</c>.</param>
/// <param name="Url">Its HTTP API.</param>
/// <param name="Sidecar">HTTP API of its sidecar.</param>
/// <param name="ProcessId">Its process.</param>
/// <param name="SidecarId">Process of its sidecar.</param>
public sealed record ReadyWorker(string Name, Uri Url, Uri Sidecar, int ProcessId, int SidecarId);

/// <summary>What <c>./snapper up</c> prints when requests will succeed.</summary>
/// <param name="Workers">At least one, in order.</param>
/// <param name="Redis">host:port.</param>
public sealed record ReadyLine(IReadOnlyList<ReadyWorker> Workers, string Redis)
{
    private const string Prefix = "ready ";

    /// <summary>True for the line <c>ready {json}</c>.</summary>
    public static bool IsIt(string line) => line.StartsWith(Prefix + "{", StringComparison.Ordinal);

    /// <summary>Reads the line.</summary>
    /// <exception cref="InvalidOperationException">It runs on stand-ins that are not to be measured, or lacks a field.</exception>
    public static ReadyLine Parse(string line)
    {
        using var json = JsonDocument.Parse(line[Prefix.Length..]);
        var root = json.RootElement;
        var dapr = Text(root, "dapr");
        var log = Text(root, "log");
        if (dapr != "daprd" || log != "redis")
        {
            throw new InvalidOperationException($"Only the real servers are measured, but \"up\" runs on dapr \"{dapr}\" and log \"{log}\".");
        }

        if (!root.TryGetProperty("workers", out var workers) || workers.GetArrayLength() == 0)
        {
            throw new InvalidOperationException("The ready line lists no worker.");
        }

        var found = workers.EnumerateArray().Select(static worker => new ReadyWorker(
            Text(worker, "name"), new Uri(Text(worker, "url")), new Uri(Text(worker, "sidecar")), Number(worker, "pid"), Number(worker, "sidecarPid"))).ToArray();
        return new ReadyLine(found, Text(root, "redis"));
    }

    private static string Text(JsonElement element, string field) =>
        element.TryGetProperty(field, out var value) && value.ValueKind == JsonValueKind.String ? value.GetString()! : throw Missing(field);

    private static int Number(JsonElement element, string field) =>
        element.TryGetProperty(field, out var value) && value.ValueKind == JsonValueKind.Number ? value.GetInt32() : throw Missing(field);

    private static InvalidOperationException Missing(string field) => new($"The ready line has no \"{field}\".");
}
