using System.Globalization;
using Snapper.Live.Running;

namespace Snapper.Live.Cluster;

/// <summary>
/// Clocks of single processes, by libfaketime (Debian: <c>libfaketime</c>), which is loaded into a process at its start and changes what it is told of the time of day, not the
/// time by which it waits. A script stands in for <c>setsid</c>, by which <c>up</c> starts everything.
/// </summary>
internal sealed class Clocks
{
    private const string Program = "/usr/bin/setsid";

    private readonly StandFolder _folder;

    public Clocks(StandFolder folder)
    {
        _folder = folder;
        Setsid = folder.Write(
            "setsid",
            "--name) name=$word;;",
            first: "name=",
            then: $"""
            case " $* " in *"/redis-server "*) name=redis;; *" worker --name "*) ;; *) name=;; esac
            if [ -n "$name" ] && [ -e '{folder.PathOf("clock-")}'"$name" ]; then
              export LD_PRELOAD='{Library}' FAKETIME_TIMESTAMP_FILE='{folder.PathOf("clock-")}'"$name" FAKETIME_DONT_FAKE_MONOTONIC=1 FAKETIME_CACHE_DURATION=1
            fi
            """,
            program: Program);
    }

    /// <summary>The library, by SNAPPER_FAKETIME or where Debian has it; null: it is not there.</summary>
    public static string? Library { get; } = new[] { Environment.GetEnvironmentVariable("SNAPPER_FAKETIME") }.Concat(
        Directory.Exists("/usr/lib") ? Directory.EnumerateDirectories("/usr/lib").Prepend("/usr/lib").Select(static folder => Path.Combine(folder, "faketime", "libfaketimeMT.so.1")) : [])
        .FirstOrDefault(File.Exists);

    /// <summary>Why clocks cannot be set here; null: they can.</summary>
    public static string? WhyNot => Library is null ? "libfaketime is not there (Debian: libfaketime)" : !File.Exists(Program) ? $"{Program} is not there" : null;

    /// <summary>The script to name by SNAPPER_SETSID.</summary>
    public string Setsid { get; }

    /// <summary>A life of this process that begins from now on, or one that has such a clock already, is so much ahead within a second; null: lives that begin have the machine's clock.</summary>
    public void Set(string process, TimeSpan? ahead)
    {
        var file = _folder.PathOf($"clock-{process}");
        if (ahead is { } by)
        {
            File.WriteAllText(file + ".next", by.TotalSeconds.ToString("+0;-0;+0", CultureInfo.InvariantCulture) + "\n");
            File.Move(file + ".next", file, overwrite: true);
        }
        else
        {
            File.Delete(file);
        }
    }
}
