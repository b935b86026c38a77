namespace Snapper.Storage.Log.Writing;

/// <summary>Hears what becomes of the append queue. Calls come one at a time, on the thread that completed the append; hand over and return. An implementation that throws ends the process.</summary>
public interface ILogObserver
{
    /// <summary>Everything enqueued with this ticket or a smaller one is durable, and the epoch was current after it was enqueued (L5).</summary>
    void Flushed(long ticket);

    /// <summary>The log cannot be reached or refuses; the writer goes on trying the same bytes. Called once per outage.</summary>
    void Unavailable(string detail);

    /// <summary>The outage is over.</summary>
    void Available();

    /// <summary>This writer is fenced, or the log has a gap: drop all memory and recover. Called at most once; nothing follows it.</summary>
    void Lost(AppendStatus status, string detail);
}
