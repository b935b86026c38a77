using System.Text;

namespace Snapper.Cli.Supervision;

/// <summary>The file that takes one child's output. The child writes it itself; no byte passes through the supervisor.</summary>
internal sealed class LogFile(string path)
{
    private const long RotateAtBytes = 10 * 1024 * 1024;
    private const int TailBytes = 8 * 1024;

    private long _startedAt;

    public string FilePath { get; } = path;

    /// <summary>Before a start: one older file is kept once this one has grown beyond 10 MB; what it holds now is of older starts.</summary>
    public void Rotate()
    {
        var file = new FileInfo(FilePath);
        _startedAt = file.Exists ? file.Length : 0;
        if (_startedAt <= RotateAtBytes) return;
        File.Move(FilePath, FilePath + ".1", overwrite: true);
        _startedAt = 0;
    }

    /// <summary>
    /// While the child writes it: what has grown beyond 10 MB becomes the older file, and the child, which appends,
    /// goes on at the beginning. A line that is written within the moment between copying and emptying is lost.
    /// </summary>
    public void RotateWhileWritten()
    {
        if (new FileInfo(FilePath) is not { Exists: true, Length: > RotateAtBytes }) return;
        using var file = new FileStream(
            FilePath, FileMode.Open, FileAccess.ReadWrite, FileShare.ReadWrite | FileShare.Delete);
        using (var older = File.Create(FilePath + ".1"))
        {
            file.CopyTo(older); // to its end, which moves with what is written meanwhile
        }

        file.SetLength(0);
        _startedAt = 0;
    }

    /// <summary>The last lines since the last start, at most <paramref name="lines"/> of them and 8 KB; empty when there are none.</summary>
    public IReadOnlyList<string> Tail(int lines)
    {
        if (!File.Exists(FilePath)) return [];
        using var file = new FileStream(FilePath, FileMode.Open, FileAccess.Read, FileShare.ReadWrite | FileShare.Delete);
        file.Seek(Math.Max(Math.Min(_startedAt, file.Length), file.Length - TailBytes), SeekOrigin.Begin);
        var text = new StreamReader(file, Encoding.UTF8).ReadToEnd();
        return [.. text.Split('\n').Select(l => l.TrimEnd('\r')).Where(l => l.Length > 0).TakeLast(lines)];
    }
}
