using System.Globalization;
using System.Text;
using Snapper.Runtime.Execution;
using Snapper.Storage;
using Snapper.Storage.Log;

namespace Snapper.Cluster.Migrating;

/// <summary>
/// Keeps with each plan what its source says of its progress, so that every worker can show it, also when the source is gone. For people: nothing waits for a note, nothing is
/// decided by one, and one that the store did not take is not written again unless there is more to say.
/// </summary>
internal sealed class MigrationNotes(Worker worker, IClusterStore store)
{
    private readonly Lock _gate = new();
    private readonly List<MigrationProgress> _owed = [];
    private Task _writing = Task.CompletedTask;
    private bool _isWriting;

    /// <summary>There is more to say. Thread-safe.</summary>
    public void Owe(MigrationProgress progress)
    {
        if (!worker.Background.HasThreads)
        {
            return; // a simulator looks inside by itself, and its order of things shall not depend on this
        }

        lock (_gate)
        {
            if (!_owed.Contains(progress))
            {
                _owed.Add(progress);
            }

            if (!_isWriting)
            {
                _isWriting = true;
                _writing = worker.Background.Run(WriteAll);
            }
        }
    }

    /// <summary>What is owed has been written, or given up.</summary>
    public Task Written()
    {
        lock (_gate)
        {
            return _writing;
        }
    }

    /// <summary>A note as text: requests that are frozen now and at most, then each phase with its time.</summary>
    public static string Write(MigrationProgress progress)
    {
        var text = new StringBuilder().Append(CultureInfo.InvariantCulture, $"{progress.Frozen} {progress.MaxFrozen}");
        foreach (var (phase, at) in progress.Phases)
        {
            text.Append(CultureInfo.InvariantCulture, $" {phase.ToString().ToLowerInvariant()}:{at.ToUnixTimeMilliseconds()}");
        }

        return text.ToString();
    }

    /// <summary>Reads a note; what cannot be read, of another version perhaps, is as if it were not there.</summary>
    public static (int Frozen, int MaxFrozen, List<(string Phase, DateTimeOffset At)> Phases) Read(string note)
    {
        var words = note.Split(' ', StringSplitOptions.RemoveEmptyEntries);
        var phases = new List<(string, DateTimeOffset)>();
        for (var i = 2; i < words.Length; i++)
        {
            var colon = words[i].IndexOf(':', StringComparison.Ordinal);
            if (colon > 0 && long.TryParse(words[i].AsSpan(colon + 1), NumberStyles.None, CultureInfo.InvariantCulture, out var at) && at <= DateTimeOffset.MaxValue.ToUnixTimeMilliseconds())
            {
                phases.Add((words[i][..colon], DateTimeOffset.FromUnixTimeMilliseconds(at)));
            }
        }

        return (NumberAt(words, 0), NumberAt(words, 1), phases);
    }

    private static int NumberAt(string[] words, int at) =>
        words.Length > at && int.TryParse(words[at], NumberStyles.None, CultureInfo.InvariantCulture, out var number) ? number : 0;

    private async Task WriteAll()
    {
        while (Next() is { } progress)
        {
            try
            {
                await store.Plans.Note(progress.Plan, Write(progress), worker.Stopping).ConfigureAwait(false);
            }
            catch (OperationCanceledException) when (worker.Stopping.IsCancellationRequested)
            {
                // The worker stops; what it had noted stays.
            }
            catch (Exception exception) when (StorageFaults.IsPassing(exception) || exception is CorruptLogException)
            {
                // People see less of it. Damage of a plan is said where open plans are read.
            }
            catch (Exception exception)
            {
                worker.Fail(exception);
            }
        }
    }

    private MigrationProgress? Next()
    {
        lock (_gate)
        {
            if (_owed.Count == 0)
            {
                _isWriting = false;
                return null;
            }

            var next = _owed[0];
            _owed.RemoveAt(0);
            return next;
        }
    }
}
