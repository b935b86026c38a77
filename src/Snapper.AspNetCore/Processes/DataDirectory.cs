namespace Snapper.AspNetCore.Processes;

/// <summary>The folder that holds state, logs and run files, locked for one supervisor at a time. The lock goes with the process, however it ends.</summary>
internal sealed class DataDirectory : IDisposable
{
    /// <summary>Name of the folder where each worker remembers its log.</summary>
    public const string RememberedFolder = "remembered";

    /// <summary>Names of the folders <see cref="Logs"/>, <see cref="Run"/> and <see cref="Redis"/>, and of the workers' logs in files and records of admin actions.</summary>
    public const string LogsFolder = "logs", RunFolder = "run", RedisFolder = "redis", WorkersFolder = "workers", AuditFolder = "audit";

    /// <summary>Names of the files that are locked, name the holder, and tell the last log's kind.</summary>
    public const string LockFile = "up.lock", HolderFile = "up.pid", LogKindFile = "log-kind";

    /// <summary>Name of the file with the secret of the workers, by which they know each other's packets.</summary>
    public const string MailboxSecretFile = "mailbox-secret";

    private readonly FileStream _lock;

    private DataDirectory(string root, FileStream @lock)
    {
        Root = root;
        _lock = @lock;
    }

    /// <summary>Absolute path.</summary>
    public string Root { get; }

    /// <summary>Output of the children.</summary>
    public string Logs => Path.Combine(Root, LogsFolder);

    /// <summary>The private Redis' append-only file.</summary>
    public string Redis => Path.Combine(Root, RedisFolder);

    /// <summary>What runs now.</summary>
    public string RunStatePath => RunStateIn(Root);

    /// <summary>Where a supervisor is asked to change what runs.</summary>
    public string Run => RunIn(Root);

    /// <summary>What sidecars are told beside the component files.</summary>
    public string Dapr => Path.Combine(Run, "dapr");

    public static string RunStateIn(string root) => Path.Combine(RunIn(root), "state.json");

    public static string RunIn(string root) => Path.Combine(root, RunFolder);

    /// <summary>Which kind of log the last run used.</summary>
    private string LogKindPath => Path.Combine(Root, LogKindFile);

    /// <summary>Creates what is missing and takes the lock.</summary>
    /// <exception cref="StartupException">Not writable, not a folder, not ours alone, or another supervisor has it.</exception>
    public static DataDirectory Open(string path)
    {
        FileStream? held = null;
        try
        {
            FileModeMask.MakeFolder(path);
            DataDirectoryPermissions.Require(path);
            FileModeMask.MakeFolder(Path.Combine(path, LogsFolder));
            FileModeMask.MakeFolder(RunIn(path));
            held = Lock(path);
            FolderHolder.Sign(path, HolderFile);
            return new DataDirectory(path, held);
        }
        catch (Exception problem) when (problem is IOException or UnauthorizedAccessException)
        {
            held?.Dispose();
            throw new StartupException($"the data directory {path} cannot be used: {problem.Message.TrimEnd('.')}; {FixHints.Data}");
        }
    }

    /// <summary>Notes which log is used now and returns the one before; null at first.</summary>
    public string? ExchangeLogKind(string kind)
    {
        var before = File.Exists(LogKindPath) ? File.ReadAllText(LogKindPath).Trim() : null;
        if (before != kind) File.WriteAllText(LogKindPath, kind);
        return before;
    }

    /// <summary>Lets the workers take whatever log they find, and returns what they remembered: file and content.</summary>
    /// <exception cref="IOException">A file cannot be removed; also <see cref="UnauthorizedAccessException"/>.</exception>
    public IReadOnlyList<(string File, string Remembered)> ForgetLogs()
    {
        var folder = Path.Combine(Root, RememberedFolder);
        if (!Directory.Exists(folder)) return [];
        var forgotten = new List<(string, string)>();
        foreach (var file in Directory.GetFiles(folder, "*.json"))
        {
            forgotten.Add((file, string.Join(' ', File.ReadAllText(file).Split((char[]?)null, StringSplitOptions.RemoveEmptyEntries))));
            File.Delete(file);
        }

        return forgotten;
    }

    /// <summary>Gives the lock back.</summary>
    public void Dispose() => _lock.Dispose();

    private static FileStream Lock(string path)
    {
        try
        {
            return FolderHolder.Lock(path, LockFile);
        }
        catch (IOException) when (FolderHolder.Read(path, HolderFile) is { } holder)
        {
            throw new StartupException($"another 'snapper up' (pid {holder}) already runs on {path}; {FixHints.OtherUp}");
        }
    }
}
