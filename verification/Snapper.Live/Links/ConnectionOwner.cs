using System.Globalization;

namespace Snapper.Live.Links;

/// <summary>Finds out which of a few processes a connection on loopback belongs to, by Linux's /proc.</summary>
internal static class ConnectionOwner
{
    /// <summary>The name of the process whose end of a connection has this port; null: none of them.</summary>
    public static string? Of(int port, IEnumerable<(string Name, int Pid)> processes)
    {
        if (InodeOf(port) is not { } inode)
        {
            return null;
        }

        var socket = $"socket:[{inode}]";
        foreach (var (name, pid) in processes)
        {
            if (Holds(pid, socket))
            {
                return name;
            }
        }

        return null;
    }

    private static string? InodeOf(int port)
    {
        foreach (var table in (string[])["/proc/net/tcp", "/proc/net/tcp6"])
        {
            foreach (var line in File.ReadLines(table).Skip(1))
            {
                var fields = line.Split(' ', StringSplitOptions.RemoveEmptyEntries);
                var local = fields[1];
                if (int.Parse(local.AsSpan(local.LastIndexOf(':') + 1), NumberStyles.HexNumber, CultureInfo.InvariantCulture) == port && fields[9] != "0")
                {
                    return fields[9];
                }
            }
        }

        return null;
    }

    private static bool Holds(int pid, string socket)
    {
        try
        {
            foreach (var descriptor in Directory.EnumerateFiles($"/proc/{pid}/fd"))
            {
                if (File.ResolveLinkTarget(descriptor, returnFinalTarget: false) is { } target && Path.GetFileName(target.FullName) == socket)
                {
                    return true;
                }
            }
        }
        catch (Exception gone) when (gone is IOException or UnauthorizedAccessException)
        {
            // The process, or one of its descriptors, has just ended.
        }

        return false;
    }
}
