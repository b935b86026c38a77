using System.Text.Json;

namespace Snapper.Live.Harness;

/// <summary>What <c>up</c> says when requests will succeed.</summary>
internal sealed record ReadyLine(IReadOnlyList<ReadyWorker> Workers, string Log, string? Redis, int? RedisPid, string Dapr)
{
    public static ReadyLine Parse(string line)
    {
        using var document = JsonDocument.Parse(line["ready ".Length..]);
        var json = document.RootElement;
        return new ReadyLine(
            [.. json.GetProperty("workers").EnumerateArray().Select(worker => new ReadyWorker(
                worker.GetProperty("name").GetString()!,
                new Uri(worker.GetProperty("url").GetString()!),
                new Uri(worker.GetProperty("sidecar").GetString()!),
                worker.GetProperty("pid").GetInt32(),
                worker.GetProperty("sidecarPid").GetInt32()))],
            json.GetProperty("log").GetString()!,
            json.GetProperty("redis").GetString(),
            json.GetProperty("redisPid") is { ValueKind: JsonValueKind.Number } pid ? pid.GetInt32() : null,
            json.GetProperty("dapr").GetString()!);
    }
}

/// <summary>One worker of the ready line.</summary>
internal sealed record ReadyWorker(string Name, Uri Url, Uri Sidecar, int Pid, int SidecarPid);
