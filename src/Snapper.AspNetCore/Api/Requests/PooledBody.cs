using System.Buffers;
using System.IO.Pipelines;
using Snapper.AspNetCore.Api.Access;
using Snapper.Runtime.Door;

namespace Snapper.AspNetCore.Api.Requests;

/// <summary>A request's body in a pooled buffer, or why it was not read to its end.</summary>
/// <remarks>Grows with what arrives, not with what a header promises: a caller pays for the memory it takes by sending.</remarks>
internal sealed class PooledBody : IDisposable
{
    private const int FirstBytes = 4 * 1024;

    // The pool would keep larger ones beside what requests hold.
    private const int KeptBytesMax = 1024 * 1024;

    private byte[] _buffer = ArrayPool<byte>.Shared.Rent(FirstBytes);
    private int _length;

    private readonly bool _holdsTransactions;

    private readonly int? _most;

    private PooledBody(bool holdsTransactions, int? most) => (_holdsTransactions, _most) = (holdsTransactions, most);

    /// <summary>The whole body; empty when <see cref="Refused"/>.</summary>
    public ReadOnlySpan<byte> Bytes => Refused is null ? _buffer.AsSpan(0, _length) : default;

    /// <summary>Says which limit was passed, or that there is no room; null when the body is whole.</summary>
    public Rejection? Refused { get; private set; }

    /// <summary>Reads the body, and no more of it than it takes to know that it is refused.</summary>
    /// <exception cref="BadHttpRequestException">The body came too slowly, in broken chunks, or not to its end.</exception>
    /// <exception cref="IOException">The connection was lost.</exception>
    /// <param name="request">The request.</param>
    /// <param name="options">Limits.</param>
    /// <param name="held">Takes the room for it, until the answer: what is read of a body lives on in inputs.</param>
    /// <param name="holdsTransactions">It may be a batch, which may be longer; false: an operator's request.</param>
    /// <param name="most">Its largest length; null: that of its kind.</param>
    public static async ValueTask<PooledBody> Read(
        HttpRequest request, ApiOptions options, HeldBytes held, bool holdsTransactions = true, int? most = null)
    {
        var body = new PooledBody(holdsTransactions, most);
        try
        {
            if (request.ContentLength > body.Most(options))
            {
                body.Refused = TooLarge(body.Most(options));
            }
            else
            {
                await body.Fill(request.BodyReader, options, held);
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
        Return(_buffer);
        _buffer = [];
    }

    private static void Return(byte[] buffer)
    {
        if (buffer.Length is > 0 and <= KeptBytesMax)
        {
            ArrayPool<byte>.Shared.Return(buffer);
        }
    }

    private async Task Fill(PipeReader reader, ApiOptions options, HeldBytes held)
    {
        var isBatch = false;
        while (Refused is null)
        {
            var read = await reader.ReadAsync();
            var arrived = read.Buffer;
            if (arrived.Length > Most(options) - _length)
            {
                Refused = TooLarge(Most(options));
            }
            else if (!held.TryTake((int)arrived.Length))
            {
                Refused = held.Refused;
            }
            else
            {
                Append(arrived);
                if (_holdsTransactions && _length > options.TransactionBodyBytesMax && !isBatch)
                {
                    isBatch = TransactionRequestReader.IsBatch(_buffer.AsSpan(0, _length));
                    Refused = isBatch
                        ? null
                        : new Rejection(RejectionKind.TooLarge, TransactionRequestReader.TooLarge(options));
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
            Return(_buffer);
            _buffer = larger;
        }

        arrived.CopyTo(_buffer.AsSpan(_length));
        _length += count;
    }

    private int Most(ApiOptions options) => _most
        ?? (_holdsTransactions ? options.BatchBodyBytesMax : options.TransactionBodyBytesMax);

    private static Rejection TooLarge(int most) =>
        new(RejectionKind.TooLarge, $"The body is longer than {most} bytes.");
}
