using System.Globalization;
using System.Net;
using System.Net.Sockets;
using Snapper.AspNetCore.Processes;

namespace Snapper.Cli.Supervision;

/// <summary>Ports on loopback: free ones, and who holds one.</summary>
internal static class Ports
{
    // Below the range from which the kernel takes ports for outgoing connections: a server that is restarted finds its port still free.
    private const int Lowest = 20_000;
    private const int Highest = 32_000;
    private const int Apart = 8;

    /// <summary>Random free ports, so far apart that each can be the first of several workers' ports.</summary>
    /// <param name="count">How many.</param>
    /// <param name="taken">Ports that are free now and shall be used by others; null: none.</param>
    public static int[] Free(int count, Func<int, bool>? taken = null)
    {
        var found = new HashSet<int>();
        for (var tries = 0; found.Count < count; tries++)
        {
            if (tries > 10_000) throw new StartupException($"no free port between {Lowest} and {Highest} on 127.0.0.1; {FixHints.PrivatePorts}");
            var port = Random.Shared.Next(Lowest, Highest);
            var own = taken is null || !taken(port);
            if (own && found.All(other => Math.Abs(other - port) >= Apart) && IsFree(port)) found.Add(port);
        }

        return [.. found];
    }

    /// <summary>Whether a server could listen there now.</summary>
    public static bool IsFree(int port)
    {
        using var listener = new TcpListener(IPAddress.Loopback, port);
        try
        {
            listener.Start();
            return true;
        }
        catch (SocketException)
        {
            return false;
        }
    }

    /// <summary>The process that listens on a port, as <c>name (pid 12)</c>; null when it cannot be found out (not ours, or no /proc).</summary>
    public static string? Holder(int port)
    {
        var inodes = new HashSet<string>(StringComparer.Ordinal);
        foreach (var table in (string[])["/proc/net/tcp", "/proc/net/tcp6"])
        {
            if (!File.Exists(table)) continue;
            foreach (var line in File.ReadLines(table).Skip(1))
            {
                var fields = line.Split(' ', StringSplitOptions.RemoveEmptyEntries);
                var local = fields[1];
                const string listening = "0A";
                if (fields[3] == listening
                    && int.Parse(local.AsSpan(local.LastIndexOf(':') + 1), NumberStyles.HexNumber, CultureInfo.InvariantCulture) == port)
                {
                    inodes.Add($"socket:[{fields[9]}]");
                }
            }
        }

        return inodes.Count == 0 ? null : ProcessWith(inodes);
    }

    private static string? ProcessWith(HashSet<string> sockets)
    {
        foreach (var process in Directory.EnumerateDirectories("/proc"))
        {
            if (!int.TryParse(Path.GetFileName(process), NumberStyles.None, CultureInfo.InvariantCulture, out var pid)) continue;
            try
            {
                if (Directory.EnumerateFiles(Path.Combine(process, "fd")).Any(descriptor => IsOneOf(sockets, descriptor)))
                {
                    return $"{File.ReadAllText(Path.Combine(process, "comm")).Trim()} (pid {pid})";
                }
            }
            catch (Exception problem) when (problem is IOException or UnauthorizedAccessException)
            {
                // The process ended meanwhile, or belongs to another account: then it is not the one that can be named.
            }
        }

        return null;
    }

    private static bool IsOneOf(HashSet<string> sockets, string descriptor)
    {
        try
        {
            return File.ResolveLinkTarget(descriptor, returnFinalTarget: false) is { } target && sockets.Contains(Path.GetFileName(target.FullName));
        }
        catch (IOException)
        {
            // Closed while the others were looked at; a busy process closes some all the time.
            return false;
        }
    }
}
