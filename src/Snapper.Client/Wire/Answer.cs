using System.Buffers;

namespace Snapper.Client.Wire;

/// <summary>The body of an answer in a pooled buffer. <see cref="Utf8"/> is valid until it is disposed.</summary>
internal sealed class Answer : IDisposable
{
    private byte[] _buffer;
    private int _length;

    private Answer(int capacity) => _buffer = ArrayPool<byte>.Shared.Rent(capacity);

    public ReadOnlySpan<byte> Utf8 => _buffer.AsSpan(0, _length);

    /// <summary>Reads a body to its end.</summary>
    /// <exception cref="HttpRequestException">It is longer than allowed.</exception>
    /// <exception cref="IOException">It broke off.</exception>
    public static async Task<Answer> Read(HttpResponseMessage response, int maxBytes, CancellationToken cancellation)
    {
        var announced = response.Content.Headers.ContentLength ?? 4096;
        var answer = new Answer((int)Math.Clamp(announced + 1, 256, 1024 * 1024));
        try
        {
            var stream = await response.Content.ReadAsStreamAsync(cancellation).ConfigureAwait(false);
            while (true)
            {
                var read = await stream.ReadAsync(answer._buffer.AsMemory(answer._length), cancellation).ConfigureAwait(false);
                if (read == 0)
                {
                    return answer;
                }

                answer._length += read;
                answer.Grow(maxBytes);
            }
        }
        catch
        {
            answer.Dispose();
            throw;
        }
    }

    public void Dispose()
    {
        ArrayPool<byte>.Shared.Return(_buffer);
        _buffer = [];
        _length = 0;
    }

    private void Grow(int maxBytes)
    {
        if (_length < _buffer.Length)
        {
            return;
        }

        if (_length >= maxBytes)
        {
            throw new HttpRequestException($"the answer is longer than {maxBytes} bytes");
        }

        var larger = ArrayPool<byte>.Shared.Rent(_buffer.Length * 2);
        _buffer.AsSpan(0, _length).CopyTo(larger);
        ArrayPool<byte>.Shared.Return(_buffer);
        _buffer = larger;
    }
}
