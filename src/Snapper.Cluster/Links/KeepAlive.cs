using System.Net.Sockets;

namespace Snapper.Cluster.Links;

/// <summary>
/// A connection on which nothing happens is looked at by the system now and then, so that one whose other end has
/// vanished is closed.
/// </summary>
internal static class KeepAlive
{
    private const int IdleSeconds = 15;
    private const int IntervalSeconds = 5;
    private const int Probes = 3;

    public static void Set(Socket socket)
    {
        socket.SetSocketOption(SocketOptionLevel.Socket, SocketOptionName.KeepAlive, true);
        socket.SetSocketOption(SocketOptionLevel.Tcp, SocketOptionName.TcpKeepAliveTime, IdleSeconds);
        socket.SetSocketOption(SocketOptionLevel.Tcp, SocketOptionName.TcpKeepAliveInterval, IntervalSeconds);
        socket.SetSocketOption(SocketOptionLevel.Tcp, SocketOptionName.TcpKeepAliveRetryCount, Probes);
    }
}
