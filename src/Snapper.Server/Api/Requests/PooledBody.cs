using System.Buffers;
using System.IO.Pipelines;

namespace Snapper.Server.Api.Requests;

/// <summary>A request's body in a pooled buffer, or the news that it is too long.</summary>
/// <remarks>Grows with what arrives, not with what a header promises: a caller pays for the memory it takes by sending.</remarks>
internal sealed class PooledBody : IDisposable
{
    private const int FirstBytes = 4 * 1024;

    private byte[] _buffer = ArrayPool<byte>.Shared.Rent(FirstBytes);
    private int _length;

    private readonly bool _holdsTransactions;

    private PooledBody(bool holdsTransactions) => _holdsTransactions = holdsTransactions;

    /// <summary>The whole body; empty when <see cref="TooLong"/>.</summary>
    public ReadOnlySpan<byte> Bytes => TooLong is null ? _buffer.AsSpan(0, _length) : default;

    /// <summary>Says which limit was passed; null when the body is whole.</summary>
    public string? TooLong { get; private set; }

    /// <summary>Reads the body, and no more of it than it takes to know that it is too long.</summary>
    /// <exception cref="BadHttpRequestException">The body came too slowly, in broken chunks, or not to its end.</exception>
    /// <exception cref="IOException">The connection was lost.</exception>
    /// <param name="request">The request.</param>
    /// <param name="options">Limits.</param>
    /// <param name="holdsTransactions">It may be a batch, which may be longer; false: an operator's request.</param>
    public static async ValueTask<PooledBody> Read(HttpRequest request, ApiOptions options, bool holdsTransactions = true)
    {
        var body = new PooledBody(holdsTransactions);
        try
        {
            if (request.ContentLength > body.Most(options))
            {
                body.TooLong = TooLarge(body.Most(options));
            }
            else
            {
                await body.Fill(request.BodyReader, options);
            }

            return body;
        }
        catch
        {
            body.Dispose();
            throw;
        }
    }

    public void Dispose()
    {
        if (_buffer.Length > 0)
        {
            ArrayPool<byte>.Shared.Return(_buffer);
            _buffer = [];
        }
    }

    private async Task Fill(PipeReader reader, ApiOptions options)
    {
        var isBatch = false;
        while (TooLong is null)
        {
            var read = await reader.ReadAsync();
            var arrived = read.Buffer;
            if (arrived.Length > Most(options) - _length)
            {
                TooLong = TooLarge(Most(options));
            }
            else
            {
                Append(arrived);
                if (_holdsTransactions && _length > options.TransactionBodyBytesMax && !isBatch)
                {
                    isBatch = TransactionRequestReader.IsBatch(_buffer.AsSpan(0, _length));
                    TooLong = isBatch ? null : TransactionRequestReader.TooLarge(options);
                }
            }

            reader.AdvanceTo(arrived.End);
            if (read.IsCompleted)
            {
                return;
            }
        }
    }

    private void Append(in ReadOnlySequence<byte> arrived)
    {
        var count = (int)arrived.Length;
        if (count > _buffer.Length - _length)
        {
            var larger = ArrayPool<byte>.Shared.Rent(Math.Max(_buffer.Length * 2, _length + count));
            _buffer.AsSpan(0, _length).CopyTo(larger);
            ArrayPool<byte>.Shared.Return(_buffer);
            _buffer = larger;
        }

        arrived.CopyTo(_buffer.AsSpan(_length));
        _length += count;
    }

    private int Most(ApiOptions options) => _holdsTransactions ? options.BatchBodyBytesMax : options.TransactionBodyBytesMax;

    private static string TooLarge(int most) => $"The body is longer than {most} bytes.";
}
