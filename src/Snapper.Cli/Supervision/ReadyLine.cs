using System.Text.Json;

namespace Snapper.Cli.Supervision;

/// <summary>One worker as callers see it. <paramref name="Url"/> and <paramref name="Sidecar"/> are base addresses without a slash at the end.</summary>
internal sealed record ReadyWorker(string Name, string Url, string Sidecar, int Pid, int SidecarPid);

/// <summary>The line on standard output that programs wait for.</summary>
/// <param name="Workers">In order.</param>
/// <param name="Dashboard">Base address; null: there is none.</param>
/// <param name="Log">redis or file.</param>
/// <param name="Redis">host:port; null: none.</param>
/// <param name="RedisPid">Null: not ours.</param>
/// <param name="Dapr">daprd or embedded.</param>
internal sealed record ReadyLine(IReadOnlyList<ReadyWorker> Workers, string? Dashboard, string Log, string? Redis, int? RedisPid, string Dapr)
{
    private static readonly JsonSerializerOptions Json = new(JsonSerializerDefaults.Web);

    /// <summary><c>ready {json}</c>, one line, nulls included.</summary>
    public string ToLine() => "ready " + JsonSerializer.Serialize(this, Json);

    /// <summary>Reads the line again; null when it is another one.</summary>
    public static ReadyLine? Parse(string line) =>
        line.StartsWith("ready {", StringComparison.Ordinal) ? JsonSerializer.Deserialize<ReadyLine>(line.AsSpan(6), Json) : null;
}
