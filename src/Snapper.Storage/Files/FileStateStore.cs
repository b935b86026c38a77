using System.Globalization;
using Snapper.Protocol.Identity;
using Snapper.Storage.Log;
using Snapper.Storage.Log.Records;
using Snapper.Storage.States;

namespace Snapper.Storage.Files;

/// <summary>
/// States and copied outcomes beside a file log. States are frames appended to one data file, with an index in memory; when
/// most of the file is out of date, the living part moves to a new one. A crash at any moment leaves a state as it was or as it is now.
/// </summary>
/// <remarks>Files: <c>state-N.dat</c> (the highest N counts), <c>outcomes-M.dat</c> (M: minute of their copying), <c>state.lock</c>.</remarks>
/// <param name="log">The log that they belong to.</param>
/// <param name="time">The clock of copied outcomes.</param>
/// <param name="options">How long outcomes are kept.</param>
public sealed class FileStateStore(FileTransactionLog log, TimeProvider time, StateStoreOptions options)
    : IStateStore, IActorListing
{
    private const string LockName = "state.lock";
    private readonly LogFolder _folder = log.Folder;
    private readonly Lock _gate = new();
    private readonly FileStates _states = new(log.Folder, log.Options.DeadStateBytes);
    private readonly FileOutcomes _outcomes = new(log.Folder, time, options);
    private long _loadedEpoch = -1;

    /// <inheritdoc/>
    public Task<StoredState?> Load(ActorKey actor, CancellationToken cancellation) => _folder.Files.Run(
        this,
        () =>
        {
            lock (_gate)
            {
                Refresh();
                return _states.Load(actor);
            }
        },
        cancellation);

    /// <inheritdoc/>
    public Task<IReadOnlyList<StoredActor>> List(ActorListQuery query, CancellationToken cancellation) => _folder.Files.Run(
        this,
        () =>
        {
            lock (_gate)
            {
                Refresh();
                return _states.List(query);
            }
        },
        cancellation);

    /// <inheritdoc/>
    public Task<AppendResult> Checkpoint(long epoch, IReadOnlyList<StateCheckpoint> checkpoints, CancellationToken cancellation) =>
        _folder.Files.Run(this, () => Fenced(epoch, () => _states.Checkpoint(checkpoints)), cancellation);

    /// <inheritdoc/>
    public Task<AppendResult> SaveOutcomes(long epoch, IReadOnlyList<OutcomeRecord> outcomes, CancellationToken cancellation) =>
        _folder.Files.Run(this, () => Fenced(epoch, () => _outcomes.Save(outcomes)), cancellation);

    /// <inheritdoc/>
    public Task<AppendResult> DropOutcomes(long epoch, CancellationToken cancellation) =>
        _folder.Files.Run(this, () => Fenced(epoch, _outcomes.Drop), cancellation);

    /// <inheritdoc/>
    public Task<OutcomeRecord?> FindOutcome(string requestId, CancellationToken cancellation) => _folder.Files.Run(
        this,
        () =>
        {
            lock (_gate)
            {
                Refresh();
                return _outcomes.Find(requestId);
            }
        },
        cancellation);

    /// <inheritdoc/>
    public ValueTask DisposeAsync()
    {
        lock (_gate)
        {
            _states.Dispose();
            _outcomes.Dispose();
            _loadedEpoch = -1;
        }

        return ValueTask.CompletedTask;
    }

    private AppendResult Fenced(long epoch, Func<AppendResult> work)
    {
        lock (_gate)
        {
            _folder.Files.CreateFolder(_folder.Path);
            using var between = _folder.Lock(LockName);
            if (_folder.Fence(epoch, out _) is { } fenced)
            {
                return fenced;
            }

            Refresh(epoch);
            try
            {
                return work();
            }
            catch (IOException error) when (DiskFull.Is(error))
            {
                return new AppendResult(AppendStatus.Refused, $"no room in {_folder.Path}: {error.Message}");
            }
        }
    }

    /// <summary>An earlier owner of the epoch may have written since the index was made; only an epoch's owner writes.</summary>
    private void Refresh()
    {
        var current = (_folder.ReadMeta() ?? LogFolderMeta.None).Epoch;
        if (current != _loadedEpoch)
        {
            _folder.Files.CreateFolder(_folder.Path);
            using var between = _folder.Lock(LockName);
            Refresh((_folder.ReadMeta() ?? LogFolderMeta.None).Epoch);
        }
    }

    private void Refresh(long epoch)
    {
        if (epoch == _loadedEpoch)
        {
            return;
        }

        _loadedEpoch = -1;
        _states.LoadIndex();
        _outcomes.LoadIndex(epoch);
        _loadedEpoch = epoch;
    }
}

/// <summary>A number in the names of data files.</summary>
internal static class NumberedFiles
{
    // Minutes and counts of moves stay far below; numbers above it would overflow in what is made of them.
    private const long NumberMax = 1_000_000_000_000_000;

    public static string Name(string prefix, long number) => string.Create(CultureInfo.InvariantCulture, $"{prefix}-{number:D12}.dat");

    public static List<long> Of(LogFolder folder, string prefix)
    {
        var numbers = new List<long>();
        foreach (var name in folder.Files.List(folder.Path, prefix + "-*.dat"))
        {
            if (!long.TryParse(name.AsSpan(prefix.Length + 1, name.Length - prefix.Length - 5), NumberStyles.None, CultureInfo.InvariantCulture, out var number) || number > NumberMax || name != Name(prefix, number))
            {
                throw new CorruptLogException($"File {folder.PathOf(name)} is named like a data file, but not by a number.");
            }

            numbers.Add(number);
        }

        numbers.Sort();
        return numbers;
    }
}
