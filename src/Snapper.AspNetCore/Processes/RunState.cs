using System.Text.Json;

namespace Snapper.AspNetCore.Processes;

/// <summary>A process and the moment it started, so that a reused pid is not taken for it.</summary>
/// <param name="Pid">0: not running.</param>
/// <param name="StartTicks">See <see cref="Posix.StartTicks"/>.</param>
internal sealed record ProcessIdentity(int Pid, long StartTicks)
{
    public static readonly ProcessIdentity None = new(0, 0);

    public static ProcessIdentity Of(int pid) => new(pid, Posix.StartTicks(pid));

    /// <summary>Whether that very process still runs.</summary>
    public bool IsAlive() => Pid > 0 && StartTicks > 0 && Posix.StartTicks(Pid) == StartTicks;
}

/// <summary>One worker and its sidecar; with the embedded sidecar both are the same process.</summary>
/// <param name="Name">w1.</param>
/// <param name="Worker">Its process.</param>
/// <param name="Sidecar">Its sidecar's.</param>
/// <param name="Url">Base address of the worker's own HTTP API; null: written by an earlier version.</param>
internal sealed record WorkerRunState(string Name, ProcessIdentity Worker, ProcessIdentity Sidecar, string? Url = null);

/// <summary>What a supervisor has running at a moment.</summary>
/// <param name="Supervisor">The <c>up</c> process.</param>
/// <param name="Workers">All workers, in order.</param>
/// <param name="Placement">Null: none was started.</param>
/// <param name="Redis">Null: none was started.</param>
/// <param name="Dashboard">Null: none was started.</param>
internal sealed record RunState(ProcessIdentity Supervisor, IReadOnlyList<WorkerRunState> Workers, ProcessIdentity? Placement, ProcessIdentity? Redis, ProcessIdentity? Dashboard = null)
{
    /// <summary>All children, each once.</summary>
    public IEnumerable<(string Name, ProcessIdentity Process)> Children()
    {
        foreach (var worker in Workers)
        {
            yield return ($"worker {worker.Name}", worker.Worker);
            if (worker.Sidecar.Pid != worker.Worker.Pid) yield return ($"sidecar of {worker.Name}", worker.Sidecar);
        }

        if (Placement is not null) yield return ("placement", Placement);
        if (Redis is not null) yield return ("redis-server", Redis);
        if (Dashboard is not null) yield return ("dashboard", Dashboard);
    }
}

/// <summary>The run state in a file: one writer replaces it atomically, readers see the old or the new one, never half of one. Thread-safe.</summary>
internal sealed class RunStateFile(string path)
{
    private static readonly JsonSerializerOptions Json = new(JsonSerializerDefaults.Web);

    private readonly Lock _lock = new();

    public string FilePath { get; } = path;

    public void Write(RunState state)
    {
        lock (_lock)
        {
            var next = FilePath + ".next";
            File.WriteAllBytes(next, JsonSerializer.SerializeToUtf8Bytes(state, Json));
            File.Move(next, FilePath, overwrite: true);
        }
    }

    /// <summary>The newest state; null when there is none or it is unreadable. Reads a small file: meant for status requests, not for a hot path.</summary>
    public RunState? Read()
    {
        try
        {
            return JsonSerializer.Deserialize<RunState>(File.ReadAllBytes(FilePath), Json);
        }
        catch (Exception problem) when (problem is IOException or UnauthorizedAccessException or JsonException)
        {
            // Only process ids are lost to the reader; they are information for people.
            return null;
        }
    }
}
