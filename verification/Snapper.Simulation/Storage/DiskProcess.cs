using Snapper.Simulation.Core;
using Snapper.Simulation.Faults;
using Snapper.Storage.Files;

namespace Snapper.Simulation.Storage;

/// <summary>
/// One process' way to the disk: the file system of its file log. Calls are carried out at their virtual time, most of them at once, some step by step, with
/// other processes (and other calls of this one) between the steps. A process can end, and the machine fail, at any step.
/// </summary>
internal sealed partial class DiskProcess(World world, ProcessScope scope, Action<FaultKind> crashed) : ILogFileSystem
{
    private const int ComeBetweenPercent = 35; // of a call's steps: standing still costs the simulator far more than the step itself
    private static readonly long s_millisecond = TimeSpan.TicksPerMillisecond;

    private readonly SimulatedDisk _disk = world.Machine.Disk;
    private readonly SeededChance _chance = world.Machine.Chance;
    private readonly Dictionary<object, Queue<Action>> _waiting = [];
    private readonly List<DiskCall> _standing = [];
    private DiskCall? _call;

    public TimeProvider Time { get; } = new VirtualTime(world, scope);

    public Task<T> Run<T>(object by, Func<T> work, CancellationToken cancellation)
    {
        // Continuations run inline: there is one thread, and the order of things is the seed's.
        var answer = new TaskCompletionSource<T>();
        Begin(by, call =>
        {
            if (cancellation.IsCancellationRequested)
            {
                return () => answer.TrySetCanceled(cancellation);
            }

            try
            {
                var result = work();
                return () => answer.TrySetResult(result);
            }
            catch (ProcessEndedException)
            {
                return null;
            }
            catch (Exception exception)
            {
                return () => answer.TrySetException(exception);
            }
        });
        return answer.Task;
    }

    /// <summary>Waiting for a lock that another process holds.</summary>
    public void Wait(TimeSpan time)
    {
        world.Faults.Note(FaultKind.DiskLockAwaited);
        Stand(_call!, _chance.Between(time.Ticks, 5 * time.Ticks));
    }

    public void CreateFolder(string folder)
    {
        var above = SimulatedDisk.FolderOf(folder);
        if (!_disk.HasFolder(above))
        {
            CreateFolder(above);
        }

        if (!_disk.HasFolder(folder))
        {
            Step(DiskStep.Name);
            _disk.CreateFolder(folder);
        }
    }

    public bool HasFolder(string folder) => _disk.HasFolder(folder);

    public IReadOnlyList<string> List(string folder, string pattern)
    {
        Step(DiskStep.Read);
        DemandFolder(folder);
        var star = pattern.IndexOf('*', StringComparison.Ordinal);
        return _disk.List(folder).FindAll(name =>
            name.StartsWith(pattern[..star], StringComparison.Ordinal) && name.EndsWith(pattern[(star + 1)..], StringComparison.Ordinal));
    }

    public ILogFile Open(string path, bool create)
    {
        DemandFolder(SimulatedDisk.FolderOf(path));
        if (_disk.Find(path) is { } there)
        {
            Step(DiskStep.Read);
            return new OpenFile(this, _disk.Find(path) ?? there);
        }

        if (!create)
        {
            throw new FileNotFoundException($"simulated: there is no file {path}");
        }

        Step(DiskStep.Name);
        return new OpenFile(this, _disk.Find(path) ?? _disk.Create(path));
    }

    public byte[]? ReadAll(string path)
    {
        Step(DiskStep.Read);
        DemandFolder(SimulatedDisk.FolderOf(path));
        return _disk.Find(path)?.Seen.Span.ToArray();
    }

    public void Rename(string source, string target)
    {
        Step(DiskStep.Name);
        if (_disk.Find(source) is null)
        {
            throw new FileNotFoundException($"simulated: there is no file {source}");
        }

        _disk.Rename(source, target);
    }

    public void Delete(string path)
    {
        Step(DiskStep.Name);
        _disk.Delete(path);
    }

    public void FlushFolder(string folder)
    {
        if (Step(DiskStep.FlushFolder))
        {
            _disk.FailToFlushFolder();
            throw Broken();
        }

        _disk.FlushFolder(folder);
    }

    public IDisposable? TryLock(string path)
    {
        Step(DiskStep.Lock);
        return _disk.TryLock(path, this) ? new HeldLock(this, path) : null;
    }

    private void DemandLife()
    {
        if (scope.IsDead)
        {
            throw new ProcessEndedException();
        }
    }

    private void DemandFolder(string folder)
    {
        if (!_disk.HasFolder(folder))
        {
            throw new DirectoryNotFoundException($"simulated: there is no folder {folder}");
        }
    }

    private static IOException Broken() => new("simulated: input/output error", 5);

    private static IOException Full() => new("simulated: no space left on device", DiskFull.NoSpace);

    private bool IsDead => scope.IsDead;

    private void Note(FaultKind kind)
    {
        world.Faults.Note(kind);
        world.Machine.Struck(kind);
    }

    private void NoteFull() => world.Faults.Note(FaultKind.StorageFull);

    private bool IsFullNow => _call is not null && world.Machine.IsFull;

    private sealed class OpenFile(DiskProcess process, DiskFile file) : ILogFile
    {
        public long Length => file.Seen.Length;

        public int Read(Span<byte> into, long position)
        {
            process.Step(DiskStep.Read);
            var from = file.Seen.Span[(int)Math.Min(position, file.Seen.Length)..];
            from = from[..Math.Min(from.Length, into.Length)];
            from.CopyTo(into);
            return from.Length;
        }

        public void Write(ReadOnlySpan<byte> bytes, long position)
        {
            var lives = !process.IsDead;
            var fails = false;
            try
            {
                fails = process.Step(DiskStep.Write);
            }
            catch (ProcessEndedException) when (lives && process._call is { Crashed: not null })
            {
                // Killed in the middle of it.
                file.Write(bytes[..process._chance.Next(bytes.Length + 1)], position);
                throw;
            }

            var isFull = process.IsFullNow;
            if (fails || isFull)
            {
                file.Write(bytes[..process._chance.Next(bytes.Length + 1)], position);
                if (isFull && !fails)
                {
                    process.NoteFull();
                }

                throw isFull || process._call!.Fate.Fault == FaultKind.DiskFull ? Full() : Broken();
            }

            file.Write(bytes, position);
        }

        public void Truncate(long length)
        {
            if (process.Step(DiskStep.Write))
            {
                throw Broken();
            }

            file.Truncate(length);
        }

        public void Flush()
        {
            if (process.Step(DiskStep.Flush))
            {
                file.FailToFlush(process._chance);
                throw Broken();
            }

            file.Flush();
        }

        public void Dispose()
        {
        }
    }

    private sealed class HeldLock(DiskProcess process, string path) : IDisposable
    {
        public void Dispose()
        {
            if (!process.IsDead)
            {
                process._disk.Unlock(path);
            }
        }
    }
}
