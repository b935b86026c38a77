using System.Net;
using System.Net.Sockets;

namespace Snapper.Benchmarks.Systems;

/// <summary>Free ports on the loopback interface, below the range that the system gives to outgoing connections.</summary>
public static class Ports
{
    private const int First = 12_000;
    private const int Last = 32_000;
    private const int TriesMax = 200;
    private static readonly HashSet<int> Given = [];

    /// <summary>A port that nobody listens on now.</summary>
    public static int Free() => FreeRun(1);

    /// <summary>The first of several free ports in a row.</summary>
    /// <exception cref="InvalidOperationException">None found.</exception>
    public static int FreeRun(int length)
    {
        for (var attempt = 0; attempt < TriesMax; attempt++)
        {
            var port = Random.Shared.Next(First, Last - length);
            lock (Given)
            {
                // Never the same port twice: whoever got it may not listen on it yet.
                if (Enumerable.Range(port, length).All(static each => !Given.Contains(each) && IsFree(each)))
                {
                    Given.UnionWith(Enumerable.Range(port, length));
                    return port;
                }
            }
        }

        throw new InvalidOperationException($"No {length} free ports in a row between {First} and {Last} on the loopback interface.");
    }

    private static bool IsFree(int port)
    {
        using var listener = new TcpListener(IPAddress.Loopback, port) { ExclusiveAddressUse = true };
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
