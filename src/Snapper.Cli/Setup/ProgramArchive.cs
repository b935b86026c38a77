using System.Formats.Tar;
using System.IO.Compression;

namespace Snapper.Cli.Setup;

/// <summary>Takes one program out of a tar.gz. Paths in the archive decide nothing: only the content of the one file is used.</summary>
internal static class ProgramArchive
{
    private const long MaxProgramBytes = 1L << 30;

    /// <summary>Writes the program, executable for everybody, to a file that must not exist.</summary>
    /// <exception cref="SetupException">The archive is damaged, or the program is not in it as a regular file at the top.</exception>
    public static async Task Extract(string archive, string program, string file, CancellationToken cancellation)
    {
        try
        {
            await using var compressed = File.OpenRead(archive);
            await using var plain = new GZipStream(compressed, CompressionMode.Decompress);
            await using var tar = new TarReader(plain);
            while (await tar.GetNextEntryAsync(copyData: false, cancellation) is { } entry)
            {
                if (entry.Name != program && entry.Name != "./" + program) continue;
                if (entry.EntryType is not (TarEntryType.RegularFile or TarEntryType.V7RegularFile) || entry.DataStream is null)
                {
                    throw new SetupException($"in {Path.GetFileName(archive)}, {program} is no regular file but {entry.EntryType}");
                }

                if (entry.Length > MaxProgramBytes) throw new SetupException($"in {Path.GetFileName(archive)}, {program} has {entry.Length} bytes, more than the {MaxProgramBytes} that are taken");
                await using (var into = new FileStream(file, FileMode.CreateNew, FileAccess.Write))
                {
                    await entry.DataStream.CopyToAsync(into, cancellation);
                }

                MakeExecutable(file);
                return;
            }
        }
        catch (Exception damaged) when (damaged is InvalidDataException or EndOfStreamException or FormatException)
        {
            throw new SetupException($"{Path.GetFileName(archive)} is no whole tar.gz: {damaged.Message}");
        }

        throw new SetupException($"{Path.GetFileName(archive)} holds no {program}");
    }

    /// <summary>rwxr-xr-x.</summary>
    public static void MakeExecutable(string file)
    {
        if (OperatingSystem.IsWindows()) return;
        const UnixFileMode everybody = UnixFileMode.UserRead | UnixFileMode.UserExecute | UnixFileMode.GroupRead | UnixFileMode.GroupExecute | UnixFileMode.OtherRead | UnixFileMode.OtherExecute;
        File.SetUnixFileMode(file, everybody | UnixFileMode.UserWrite);
    }
}
