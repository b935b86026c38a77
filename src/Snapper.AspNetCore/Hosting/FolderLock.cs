using System.Diagnostics;
using Snapper.AspNetCore.Processes;

namespace Snapper.AspNetCore.Hosting;

/// <summary>
/// One process has a worker's folder. Two would fence each other in turn, each time that one is started again.
/// </summary>
internal sealed class FolderLock : IDisposable
{
    private const string LockFile = "process.lock";
    private const string HolderFile = "process.pid";

    // An application that is told to stop finishes what is under way within 10 s.
    private static readonly TimeSpan s_patience = TimeSpan.FromSeconds(15);
    private static readonly TimeSpan s_between = TimeSpan.FromMilliseconds(100);

    private readonly FileStream _held;

    private FolderLock(FileStream held) => _held = held;

    /// <summary>Takes the folder, and waits for another process that is about to end.</summary>
    /// <param name="folder">The worker's; it is made if it is not there.</param>
    /// <param name="waits">Is told once, when it has to wait: the other's process id.</param>
    /// <param name="cancellation">Ends the wait.</param>
    /// <param name="patience">How long it waits; null: 15 s.</param>
    /// <exception cref="StartupException">Another process has it, and keeps it.</exception>
    public static async Task<FolderLock> Take(
        string folder, Action<string> waits, CancellationToken cancellation, TimeSpan? patience = null)
    {
        FileModeMask.MakeFolder(folder);
        var began = Stopwatch.GetTimestamp();
        for (var tries = 0; ; tries++)
        {
            if (TryTake(folder) is { } taken)
            {
                return taken;
            }

            var holder = FolderHolder.Read(folder, HolderFile) ?? "unknown";
            if (Stopwatch.GetElapsedTime(began) > (patience ?? s_patience))
            {
                throw new StartupException(
                    $"another process (pid {holder}) works in {folder}; {FixHints.OtherProcess}");
            }

            if (tries == 0) waits(holder);
            await Task.Delay(s_between, cancellation);
        }
    }

    /// <inheritdoc/>
    public void Dispose() => _held.Dispose();

    private static FolderLock? TryTake(string folder)
    {
        FileStream held;
        try
        {
            held = FolderHolder.Lock(folder, LockFile);
        }
        catch (IOException) when (File.Exists(Path.Combine(folder, LockFile)))
        {
            return null;
        }

        try
        {
            FolderHolder.Sign(folder, HolderFile);
            return new FolderLock(held);
        }
        catch
        {
            held.Dispose();
            throw;
        }
    }
}
