using System.Text.Json;

namespace Snapper.Live.Running;

/// <summary>Which processes <c>up</c> has running, as it writes them down.</summary>
internal sealed class RunFile(string data)
{
    private readonly string _path = Path.Combine(data, "run", "state.json");

    /// <summary>The process that plays a part now; null: it is down, or its successor has not started yet.</summary>
    public int? Pid(Part part)
    {
        try
        {
            using var state = JsonDocument.Parse(File.ReadAllBytes(_path));
            var worker = state.RootElement.GetProperty("workers")[0];
            var process = part switch
            {
                Part.Server => worker.GetProperty("worker"),
                Part.Daprd => worker.GetProperty("sidecar"),
                Part.Placement => state.RootElement.GetProperty("placement"),
                _ => state.RootElement.GetProperty("redis"),
            };
            return process.ValueKind == JsonValueKind.Object && process.GetProperty("pid").GetInt32() is > 1 and var pid ? pid : null;
        }
        catch (Exception early) when (early is IOException or JsonException or ArgumentOutOfRangeException or IndexOutOfRangeException)
        {
            return null;
        }
    }
}
