using Microsoft.AspNetCore.Http;

namespace Snapper.Sidecar.Embedded;

/// <summary>Reads whole request bodies within a limit.</summary>
internal static class BodyReader
{
    /// <exception cref="BodyTooLargeException">The body is over the limit; it was not read to its end.</exception>
    public static async ValueTask<ReadOnlyMemory<byte>> ReadAll(HttpContext context, long maxBytes)
    {
        if (context.Request.ContentLength > maxBytes)
        {
            throw new BodyTooLargeException();
        }

        using var buffer = new MemoryStream((int)(context.Request.ContentLength ?? 0));
        await new LimitedStream(context.Request.Body, maxBytes).CopyToAsync(buffer, context.RequestAborted);
        return buffer.GetBuffer().AsMemory(0, (int)buffer.Length);
    }
}

/// <summary>The body is over the limit.</summary>
internal sealed class BodyTooLargeException() : IOException("stream too large");

/// <summary>A readable stream that breaks off beyond a limit.</summary>
internal sealed class LimitedStream(Stream inner, long maxBytes) : Stream
{
    private long _read;

    public override bool CanRead => true;

    public override bool CanSeek => false;

    public override bool CanWrite => false;

    public override long Length => throw new NotSupportedException();

    public override long Position
    {
        get => throw new NotSupportedException();
        set => throw new NotSupportedException();
    }

    public override async ValueTask<int> ReadAsync(Memory<byte> buffer, CancellationToken cancellationToken = default)
    {
        var count = await inner.ReadAsync(buffer, cancellationToken);
        _read += count;
        return _read <= maxBytes ? count : throw new BodyTooLargeException();
    }

    public override int Read(byte[] buffer, int offset, int count) => throw new NotSupportedException("Read asynchronously.");

    public override void Flush() => throw new NotSupportedException();

    public override long Seek(long offset, SeekOrigin origin) => throw new NotSupportedException();

    public override void SetLength(long value) => throw new NotSupportedException();

    public override void Write(byte[] buffer, int offset, int count) => throw new NotSupportedException();
}
