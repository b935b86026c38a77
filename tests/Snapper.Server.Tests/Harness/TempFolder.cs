namespace Snapper.Server.Tests.Harness;

/// <summary>A folder with a space in its name, gone with the test.</summary>
internal sealed class TempFolder : IDisposable
{
    public string Path { get; } = Directory.CreateTempSubdirectory("snapper cli ").FullName;

    public string File(string name) => System.IO.Path.Combine(Path, name);

    /// <summary>Writes an executable shell script.</summary>
    public string Script(string name, string body)
    {
        var file = File(name);
        System.IO.File.WriteAllText(file, "#!/bin/sh\n" + body + "\n");
        if (!OperatingSystem.IsWindows()) System.IO.File.SetUnixFileMode(file, UnixFileMode.UserRead | UnixFileMode.UserWrite | UnixFileMode.UserExecute);
        return file;
    }

    public void Dispose() => Directory.Delete(Path, recursive: true);
}
