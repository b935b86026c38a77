using System.Buffers;
using System.Globalization;
using System.IO.Pipelines;
using System.Text;

namespace Snapper.AspNetCore.Api.Events;

/// <summary>
/// Writes server-sent events to one reader, each when the one before is on its way, so that nothing queues up for a slow one. A reader that takes nothing for a while is cut off.
/// </summary>
/// <remarks>The framework's formatter writes neither comments, which keep proxies from closing a quiet stream, nor gives up a reader.</remarks>
internal sealed class EventWriter : IDisposable
{
    private readonly PipeWriter _body;
    private readonly TimeSpan _patience;
    private readonly CancellationTokenSource _over;
    private long _id;

    /// <param name="context">The request; nothing was answered yet.</param>
    /// <param name="patience">How long a reader may take nothing.</param>
    /// <param name="stopping">The worker stops.</param>
    public EventWriter(HttpContext context, TimeSpan patience, CancellationToken stopping)
    {
        _patience = patience;
        _over = CancellationTokenSource.CreateLinkedTokenSource(context.RequestAborted, stopping);
        context.Response.ContentType = "text/event-stream";
        context.Response.Headers.CacheControl = "no-store";
        _body = context.Response.BodyWriter;
    }

    /// <summary>The reader has gone or takes nothing, or the worker stops.</summary>
    public CancellationToken Over => _over.Token;

    /// <summary>When something was written last; <see cref="Environment.TickCount64"/>.</summary>
    public long WrittenAt { get; private set; } = Environment.TickCount64;

    /// <summary>Sends an event.</summary>
    /// <param name="name">What it is called.</param>
    /// <param name="isNumbered">It has an id: how many of these the reader was sent.</param>
    /// <param name="parts">Its data, in parts; line ends in them, which JSON has between its tokens only, become spaces.</param>
    public ValueTask Send(string name, bool isNumbered, params ReadOnlySpan<ReadOnlyMemory<byte>> parts)
    {
        Text(string.Create(CultureInfo.InvariantCulture, $"event: {name}\n"));
        if (isNumbered) Text(string.Create(CultureInfo.InvariantCulture, $"id: {++_id}\n"));
        Text("data: ");
        foreach (var part in parts) Line(part.Span);
        Text("\n\n");
        return Flush();
    }

    /// <summary>Sends a line that readers pass over.</summary>
    public ValueTask SendComment()
    {
        Text(":\n\n");
        return Flush();
    }

    /// <summary>Runs until the reader has gone, is cut off, or the worker stops.</summary>
    public async Task Run(Func<Task> endless)
    {
        try
        {
            await endless();
        }
        catch (OperationCanceledException) when (_over.IsCancellationRequested)
        {
            // The stream has no end of its own. Where it was being written to, the web server closes the connection: it does so whenever it is told not to wait for a reader any longer.
        }
    }

    public void Dispose() => _over.Dispose();

    private void Text(string text)
    {
        var length = Encoding.UTF8.GetBytes(text, _body.GetSpan(Encoding.UTF8.GetMaxByteCount(text.Length)));
        _body.Advance(length);
    }

    private void Line(ReadOnlySpan<byte> data)
    {
        while (data.IndexOfAny((byte)'\n', (byte)'\r') is >= 0 and var end)
        {
            _body.Write(data[..end]);
            _body.Write(" "u8);
            data = data[(end + 1)..];
        }

        _body.Write(data);
    }

    private async ValueTask Flush()
    {
        var flushing = _body.FlushAsync(_over.Token);
        if (!flushing.IsCompleted)
        {
            _over.CancelAfter(_patience);
            await flushing;
            _over.CancelAfter(Timeout.InfiniteTimeSpan);
        }
        else
        {
            await flushing;
        }

        _over.Token.ThrowIfCancellationRequested();
        WrittenAt = Environment.TickCount64;
    }
}
