namespace Snapper.Cli.Setup;

/// <summary>A folder beside the programs in which they are made, so that each comes into its place whole, by one rename. Gone at the end, and at the next start if not.</summary>
internal sealed class SetupStage : IDisposable
{
    private readonly string _target;
    private readonly string _folder;
    private readonly FileStream _lock;

    private SetupStage(string target, FileStream held)
    {
        _target = target;
        _folder = Path.Combine(target, ".setup");
        _lock = held;
    }

    /// <summary>Makes both folders, and takes the lock: one setup at a time.</summary>
    /// <exception cref="SetupException">Another one runs.</exception>
    /// <exception cref="IOException">Not writable; also <see cref="UnauthorizedAccessException"/>.</exception>
    public static SetupStage Open(string target)
    {
        Directory.CreateDirectory(target);
        FileStream held;
        try
        {
            held = new FileStream(Path.Combine(target, ".setup.lock"), FileMode.OpenOrCreate, FileAccess.ReadWrite, FileShare.None, 1, FileOptions.DeleteOnClose);
        }
        catch (IOException)
        {
            throw new SetupException($"another setup works in {target}, or its file .setup.lock cannot be written");
        }

        var stage = new SetupStage(target, held);
        stage.Clear();
        Directory.CreateDirectory(stage._folder);
        return stage;
    }

    /// <summary>A path in the stage.</summary>
    public string File(string name) => Path.Combine(_folder, name);

    /// <summary>Renames a finished program into its place.</summary>
    public void Place(string program) => System.IO.File.Move(File(program), Path.Combine(_target, program), overwrite: true);

    /// <inheritdoc/>
    public void Dispose()
    {
        Clear();
        _lock.Dispose();
    }

    private void Clear()
    {
        if (Directory.Exists(_folder)) Directory.Delete(_folder, recursive: true);
    }
}
