using System.Net;
using System.Net.NetworkInformation;
using System.Net.Sockets;

namespace Snapper.Live.Harness;

/// <summary>
/// Random ports, so that several runs on one machine do not meet. A port that is free when it is asked for may be taken by the time its server listens, seconds
/// later; so ports are given out in blocks, and a block is nobody else's, of this process or of another one of this user, as long as a lock file is held.
/// </summary>
internal static class FreePorts
{
    /// <summary>Below the ports from 20,000 that <c>./snapper up</c> takes at random for its own servers.</summary>
    private const int First = 12_000;

    private const int BlockSize = 64;
    private const int Blocks = 125;

    /// <summary>Blocks that this process holds at most: the oldest one goes back, its servers have long stopped.</summary>
    private const int MaxHeld = 30;

    private static readonly Lock Gate = new();
    private static readonly Queue<FileStream> Held = new();

    /// <summary>A base for which every port of <paramref name="offsets"/> above it is free now.</summary>
    /// <param name="offsets">0 to 63 each.</param>
    /// <exception cref="InvalidOperationException">200 blocks, taken at random, were not free.</exception>
    public static int Base(params int[] offsets)
    {
        if (offsets.Max() >= BlockSize)
        {
            throw new ArgumentOutOfRangeException(nameof(offsets), $"A block has {BlockSize} ports.");
        }

        var locks = Directory.CreateDirectory(Path.Combine(Path.GetTempPath(), $"snapper-ports-{Environment.UserName}"));
        for (var attempt = 0; attempt < 200; attempt++)
        {
            var block = Random.Shared.Next(Blocks);
            var candidate = First + (block * BlockSize);
            if (TryHold(Path.Combine(locks.FullName, $"{candidate}.lock")) && offsets.All(offset => IsFree(candidate + offset)))
            {
                return candidate;
            }
        }

        throw new InvalidOperationException($"No free ports between {First} and {First + (Blocks * BlockSize)}.");
    }

    private static bool TryHold(string path)
    {
        try
        {
            var file = new FileStream(path, FileMode.OpenOrCreate, FileAccess.ReadWrite, FileShare.None);
            lock (Gate)
            {
                Held.Enqueue(file);
                if (Held.Count > MaxHeld)
                {
                    Held.Dequeue().Dispose();
                }
            }

            return true;
        }
        catch (IOException)
        {
            return false;
        }
    }

    private static bool IsFree(int port)
    {
        if (IPGlobalProperties.GetIPGlobalProperties().GetActiveTcpListeners().Any(listener => listener.Port == port))
        {
            return false;
        }

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
}
