using System.Diagnostics;
using System.IO.Pipelines;
using Microsoft.AspNetCore.Connections;

namespace Snapper.AspNetCore.Api.Answers;

/// <summary>
/// Sends an answer in pieces, each when the one before is on its way, so that nothing queues up for a slow caller. All
/// its waiting together has a limit, by what it has been sent; one that is slower is cut off.
/// </summary>
/// <remarks>
/// The web server's own limit is one for each write: a caller that takes one at a time would stay for hours.
/// </remarks>
internal sealed class AnswerStream : IDisposable
{
    /// <summary>What is gathered before it is sent.</summary>
    public const int PieceBytes = 64 * 1024;

    private readonly CancellationTokenSource _late = new();
    private readonly HttpContext _context;
    private readonly PipeWriter _body;
    private readonly TimeSpan _grace;
    private readonly double _bytesPerSecond;
    private TimeSpan _waited;
    private long _sent;

    /// <summary>Begins the answer, without its length, which is not known.</summary>
    /// <param name="context">The request.</param>
    /// <param name="status">HTTP status.</param>
    /// <param name="contentType">Media type.</param>
    /// <param name="grace">The caller may keep it waiting so long,</param>
    /// <param name="bytesPerSecond">and a second longer for so many bytes that it was sent.</param>
    public AnswerStream(HttpContext context, int status, string contentType, TimeSpan grace, double bytesPerSecond)
    {
        _context = context;
        _grace = grace;
        _bytesPerSecond = bytesPerSecond;
        context.Response.StatusCode = status;
        context.Response.ContentType = contentType;
        _body = context.Response.BodyWriter;
    }

    /// <summary>Sends a part; its memory may be used again afterwards.</summary>
    /// <exception cref="ConnectionAbortedException">The caller takes the answer too slowly, or has gone.</exception>
    public async ValueTask Send(ReadOnlyMemory<byte> part)
    {
        while (!part.IsEmpty)
        {
            var piece = part[..Math.Min(part.Length, PieceBytes)];
            part = part[piece.Length..];
            _sent += piece.Length;
            var sending = _body.WriteAsync(piece, _late.Token);
            var flushed = sending.IsCompleted ? await sending : await Patiently(sending);
            if (flushed.IsCompleted)
            {
                throw new ConnectionAbortedException("The caller has gone.");
            }
        }
    }

    public void Dispose() => _late.Dispose();

    private async ValueTask<FlushResult> Patiently(ValueTask<FlushResult> sending)
    {
        var since = Stopwatch.GetTimestamp();
        var left = _grace + TimeSpan.FromSeconds(_sent / _bytesPerSecond) - _waited;
        _late.CancelAfter(left > TimeSpan.Zero ? left : TimeSpan.Zero);
        try
        {
            return await sending;
        }
        catch (OperationCanceledException) when (_late.IsCancellationRequested)
        {
            _context.Abort();
            throw new ConnectionAbortedException("The caller takes its answer too slowly.");
        }
        finally
        {
            _late.CancelAfter(Timeout.InfiniteTimeSpan);
            _waited += Stopwatch.GetElapsedTime(since);
        }
    }
}
