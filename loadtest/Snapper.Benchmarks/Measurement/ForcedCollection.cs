using System.Buffers.Binary;
using System.Net.Sockets;
using System.Text;

namespace Snapper.Benchmarks.Measurement;

/// <summary>
/// Makes a .NET process on this machine collect all its garbage, through the diagnostic socket that every one of them has and that only its own
/// user can open. So the measured server needs no door that forces collections.
/// </summary>
public static class ForcedCollection
{
    private const ulong ManagedHeapCollect = 0x800000;
    private const uint Informational = 4;
    private const byte EventPipeCommands = 0x02;
    private const byte StopTracing = 0x01;
    private const byte CollectTracing = 0x02;
    private const int HeaderBytes = 20;

    // "DOTNET_IPC_V1" and a zero; then length, command set, command, reserved.
    private static ReadOnlySpan<byte> Magic => "DOTNET_IPC_V1\0"u8;

    /// <summary>Starts a tracing session that asks for a full, blocking collection, and ends it; the collection is over when this returns.</summary>
    /// <exception cref="InvalidOperationException">The process has no diagnostic socket, or refuses.</exception>
    public static async Task RunAsync(int processId, CancellationToken cancellation = default)
    {
        using var session = await AskAsync(processId, CollectTracing, Provider(), cancellation);
        var id = new byte[8];
        await session.ReadExactlyAsync(id, cancellation);

        // The session's events must be taken from the socket, or the process cannot end it.
        var drained = session.CopyToAsync(Stream.Null, cancellation);
        using (await AskAsync(processId, StopTracing, id, cancellation))
        {
            await drained;
        }
    }

    private static async Task<NetworkStream> AskAsync(int processId, byte command, byte[] payload, CancellationToken cancellation)
    {
        var socket = new Socket(AddressFamily.Unix, SocketType.Stream, ProtocolType.Unspecified);
        try
        {
            await socket.ConnectAsync(new UnixDomainSocketEndPoint(SocketOf(processId)), cancellation);
            var stream = new NetworkStream(socket, ownsSocket: true);
            var message = new byte[HeaderBytes + payload.Length];
            Magic.CopyTo(message);
            BinaryPrimitives.WriteUInt16LittleEndian(message.AsSpan(14), (ushort)message.Length);
            message[16] = EventPipeCommands;
            message[17] = command;
            payload.CopyTo(message, HeaderBytes);
            await stream.WriteAsync(message, cancellation);

            var answer = new byte[HeaderBytes];
            await stream.ReadExactlyAsync(answer, cancellation);
            return answer[17] == 0
                ? stream
                : throw new InvalidOperationException($"Process {processId} refused the diagnostic command {command}.");
        }
        catch
        {
            socket.Dispose();
            throw;
        }
    }

    private static byte[] Provider()
    {
        using var payload = new MemoryStream();
        using var writer = new BinaryWriter(payload, Encoding.Unicode);
        writer.Write(16u); // megabytes of buffer
        writer.Write(1u); // format: nettrace
        writer.Write(1u); // providers
        writer.Write(ManagedHeapCollect);
        writer.Write(Informational);
        const string Name = "Microsoft-Windows-DotNETRuntime\0";
        writer.Write((uint)Name.Length);
        writer.Write(Name.ToCharArray());
        writer.Write(0u); // no filter
        writer.Flush();
        return payload.ToArray();
    }

    private static string SocketOf(int processId)
    {
        // A process that died without a farewell leaves its socket behind; the start time in the name tells them apart, the newest one lives.
        string? newest = null;
        foreach (var path in Directory.EnumerateFiles(Path.GetTempPath(), $"dotnet-diagnostic-{processId}-*-socket"))
        {
            newest = newest is null || File.GetLastWriteTimeUtc(path) > File.GetLastWriteTimeUtc(newest) ? path : newest;
        }

        return newest ?? throw new InvalidOperationException($"Process {processId} has no diagnostic socket: it is no .NET process of this user, or DOTNET_EnableDiagnostics is 0.");
    }
}
