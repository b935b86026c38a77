using System.Net;
using System.Net.NetworkInformation;
using System.Net.Sockets;

namespace Snapper.Live.Harness;

/// <summary>Random ports, so that several runs on one machine do not meet.</summary>
internal static class FreePorts
{
    /// <summary>A base for which every port of <paramref name="offsets"/> above it is free now. Below the range from which systems give ports to clients.</summary>
    public static int Base(params int[] offsets)
    {
        for (var attempt = 0; attempt < 200; attempt++)
        {
            var candidate = Random.Shared.Next(12_000, 32_000);
            if (offsets.All(offset => IsFree(candidate + offset)))
            {
                return candidate;
            }
        }

        throw new InvalidOperationException("No free ports between 12000 and 32000.");
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
