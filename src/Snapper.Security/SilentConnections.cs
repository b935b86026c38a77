using System.IO.Pipelines;
using System.Net;
using Microsoft.AspNetCore.Connections;
using Microsoft.AspNetCore.Server.Kestrel.Core;

namespace Snapper.Security;

/// <summary>
/// Connections that are made and say nothing: a caller that holds thousands of them must not keep others out. One that has sent no byte in time is closed, and those from other machines can
/// be made to leave some room for this one, where a worker's sidecar is.
/// </summary>
/// <param name="within">How long a new connection may be silent.</param>
/// <param name="othersMax">Most connections at once from beyond loopback; <see cref="long.MaxValue"/>: no limit but the web server's own.</param>
public sealed class SilentConnections(TimeSpan within, long othersMax)
{
    /// <summary>The web server's log that has a line for each connection beyond the limit: a caller that makes thousands would fill the disk.</summary>
    public const string RefusedLog = "Microsoft.AspNetCore.Server.Kestrel.Connections";

    private long _others;

    /// <summary>Looks at the connections of a listener before the web server does.</summary>
    public void Watch(ListenOptions listen)
    {
        ArgumentNullException.ThrowIfNull(listen);
        listen.Use(next => connection => Run(connection, next));
    }

    private async Task Run(ConnectionContext connection, ConnectionDelegate next)
    {
        var isOther = connection.RemoteEndPoint is IPEndPoint { Address: { } address } && !IPAddress.IsLoopback(address.IsIPv4MappedToIPv6 ? address.MapToIPv4() : address);
        try
        {
            if (isOther && Interlocked.Increment(ref _others) > othersMax)
            {
                connection.Abort(new ConnectionAbortedException("Too many connections."));
            }
            else if (await HasSpoken(connection))
            {
                await next(connection);
            }
        }
        finally
        {
            if (isOther) Interlocked.Decrement(ref _others);
        }
    }

    private async ValueTask<bool> HasSpoken(ConnectionContext connection)
    {
        var input = connection.Transport.Input;
        try
        {
            var reading = input.ReadAsync(CancellationToken.None);
            var result = reading.IsCompletedSuccessfully ? reading.Result : await Wait(reading, input);

            // Nothing is taken: the web server reads the same bytes again.
            input.AdvanceTo(result.Buffer.Start, result.Buffer.Start);
            if (!result.IsCanceled) return true;
            connection.Abort(new ConnectionAbortedException("Nothing was sent."));
        }
        catch (Exception gone) when (gone is ConnectionResetException or ConnectionAbortedException or OperationCanceledException)
        {
            // It went away before it said anything.
        }

        return false;
    }

    private async ValueTask<ReadResult> Wait(ValueTask<ReadResult> reading, PipeReader input)
    {
        await using var timer = new Timer(static pipe => ((PipeReader)pipe!).CancelPendingRead(), input, within, Timeout.InfiniteTimeSpan);
        return await reading;
    }
}
