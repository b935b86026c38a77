using System.Globalization;

namespace Snapper.Live.Links;

/// <summary>Finds out which of a few processes a connection on loopback belongs to, by Linux's /proc.</summary>
internal static class ConnectionOwner
{
    /// <summary>A table of the system that changes while it is read may lack what was there all the time.</summary>
    private const int Looks = 8;

    /// <summary>The name of the process whose end of a connection has this port; null: none of them.</summary>
    /// <param name="port">The port.</param>
    /// <param name="processes">Asked anew for each look: one that has just begun may not be noted yet.</param>
    public static string? Of(int port, Func<IEnumerable<(string Name, int Pid)>> processes)
    {
        for (var look = 0; look < Looks; look++)
        {
            if (InodeOf(port) is { } inode
                && processes().FirstOrDefault(one => Holds(one.Pid, $"socket:[{inode}]")).Name is { } name)
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
            return Directory.EnumerateFiles($"/proc/{pid}/fd").Any(descriptor => TargetOf(descriptor) == socket);
        }
        catch (Exception gone) when (gone is IOException or UnauthorizedAccessException)
        {
            return false; // the process has ended
        }
    }

    private static string? TargetOf(string descriptor)
    {
        try
        {
            return File.ResolveLinkTarget(descriptor, returnFinalTarget: false)?.Name;
        }
        catch (Exception gone) when (gone is IOException or UnauthorizedAccessException)
        {
            return null; // closed just now; others are still to be looked at
        }
    }
}
