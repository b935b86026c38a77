using System.Text.Json;

namespace Snapper.Benchmarks.Systems;

/// <summary>What <c>./snapper up</c> prints when requests will succeed.</summary>
/// <param name="Worker">HTTP API of the first worker.</param>
/// <param name="Sidecar">HTTP API of its sidecar.</param>
/// <param name="WorkerId">Process id of the worker.</param>
/// <param name="SidecarId">Process id of its sidecar.</param>
/// <param name="Redis">host:port.</param>
public sealed record ReadyLine(Uri Worker, Uri Sidecar, int WorkerId, int SidecarId, string Redis)
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

        var worker = workers[0];
        return new ReadyLine(
            new Uri(Text(worker, "url")), new Uri(Text(worker, "sidecar")), Number(worker, "pid"), Number(worker, "sidecarPid"), Text(root, "redis"));
    }

    private static string Text(JsonElement element, string field) =>
        element.TryGetProperty(field, out var value) && value.ValueKind == JsonValueKind.String ? value.GetString()! : throw Missing(field);

    private static int Number(JsonElement element, string field) =>
        element.TryGetProperty(field, out var value) && value.ValueKind == JsonValueKind.Number ? value.GetInt32() : throw Missing(field);

    private static InvalidOperationException Missing(string field) => new($"The ready line has no \"{field}\".");
}
