using System.Net;
using System.Net.Http.Headers;

namespace Snapper.Client.Sending;

/// <summary>The body <c>{"transactions":[...]}</c> of requests that were written before, without copying them together.</summary>
internal sealed class BatchContent : HttpContent
{
    private static readonly byte[] Prefix = "{\"transactions\":["u8.ToArray();
    private static readonly byte[] Separator = ","u8.ToArray();
    private static readonly byte[] Suffix = "]}"u8.ToArray();
    private static readonly MediaTypeHeaderValue Json = new("application/json");

    private readonly ArraySegment<PendingTransaction> _transactions;

    public BatchContent(ArraySegment<PendingTransaction> transactions)
    {
        _transactions = transactions;
        Headers.ContentType = Json;
    }

    protected override async Task SerializeToStreamAsync(Stream stream, TransportContext? context, CancellationToken cancellationToken)
    {
        // The handler's stream buffers; these writes mostly copy.
        await stream.WriteAsync(Prefix, cancellationToken).ConfigureAwait(false);
        for (var i = 0; i < _transactions.Count; i++)
        {
            if (i > 0)
            {
                await stream.WriteAsync(Separator, cancellationToken).ConfigureAwait(false);
            }

            await stream.WriteAsync(_transactions[i].Body, cancellationToken).ConfigureAwait(false);
        }

        await stream.WriteAsync(Suffix, cancellationToken).ConfigureAwait(false);
    }

    protected override Task SerializeToStreamAsync(Stream stream, TransportContext? context) =>
        SerializeToStreamAsync(stream, context, CancellationToken.None);

    protected override bool TryComputeLength(out long length)
    {
        length = Prefix.Length + Suffix.Length + Math.Max(0, _transactions.Count - 1);
        for (var i = 0; i < _transactions.Count; i++)
        {
            length += _transactions[i].Body.Length;
        }

        return true;
    }
}
