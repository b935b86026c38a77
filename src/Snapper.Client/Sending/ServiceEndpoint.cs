using System.Buffers;
using System.Globalization;
using System.Net;
using System.Text;
using System.Text.Json;
using Snapper.Client.Messages;
using Snapper.Client.Wire;

namespace Snapper.Client.Sending;

/// <summary>The service door over HTTP: sends batches, asks by id, and says of every failure what it means.</summary>
internal sealed class ServiceEndpoint : IDisposable
{
    private const int MaxAnswerBytes = 256 * 1024 * 1024;
    private const int MaxQuotedChars = 300;
    private const string WorkerHeader = "Snapper-Worker";

    private readonly HttpMessageInvoker _http;
    private readonly Uri _transactions;
    private readonly string? _apiToken;
    private readonly string? _authorization;
    private readonly CancellationPool _giveUps;
    private readonly bool _learnsWorker;

    /// <param name="options">How to connect.</param>
    /// <param name="transactions">Where.</param>
    /// <param name="learnsWorker">Take note of which worker answers.</param>
    /// <param name="giveUps">End what is under way.</param>
    public ServiceEndpoint(SnapperClientOptions options, Uri transactions, bool learnsWorker, CancellationPool giveUps)
    {
        _transactions = transactions;
        _apiToken = options.UsesSidecar ? options.ApiToken : null;
        _authorization = options.Token is { } own ? "Bearer " + own : null;
        _giveUps = giveUps;
        _learnsWorker = learnsWorker;
        _http = options.Invoker();
    }

    /// <summary>Name of the worker that answered last; null: not asked for, or it is alone.</summary>
    public string? Worker { get; private set; }

    public void Dispose() => _http.Dispose();

    /// <summary>Sends a batch and ends the attempt of each of its transactions. Never throws.</summary>
    public async Task Send(ArraySegment<PendingTransaction> batch)
    {
        try
        {
            await Exchange(batch).ConfigureAwait(false);
        }
        catch (Exception e)
        {
            // Whatever went wrong, every caller must hear of it, and the sender must go on.
            EndAll(batch, AttemptAfter(e));
        }
    }

    /// <summary>Asks what became of a transaction; null: the worker says that it does not know it.</summary>
    /// <exception cref="HttpRequestException">No answer, or one that says nothing about the transaction.</exception>
    public async Task<TransactionReply?> Ask(string id, CancellationToken cancellation)
    {
        try
        {
            return await AskOnce(id, cancellation).ConfigureAwait(false);
        }
        catch (Exception e) when (e is IOException || (e is OperationCanceledException && !cancellation.IsCancellationRequested))
        {
            // The answer broke off, or no connection came about in time.
            throw new HttpRequestException("no answer: " + e.Message, e);
        }
    }

    /// <summary>An id in a path. Of "." and ".." HTTP makes other paths, escaped or not: their dots are escaped twice.</summary>
    private static string Segment(string id) => id is "." or ".." ? id.Replace(".", "%252E", StringComparison.Ordinal) : Uri.EscapeDataString(id);

    private async Task<TransactionReply?> AskOnce(string id, CancellationToken cancellation)
    {
        using var request = Request(HttpMethod.Get, new Uri(_transactions.AbsoluteUri + "/" + Segment(id)));
        using var response = await _http.SendAsync(request, cancellation).ConfigureAwait(false);
        using var answer = await Answer.Read(response, MaxAnswerBytes, cancellation).ConfigureAwait(false);
        return response.StatusCode switch
        {
            HttpStatusCode.OK => ReadAnswerAbout(id, answer),
            HttpStatusCode.NotFound when IsWorkers(response) => null,
            var status => throw new HttpRequestException(Describe((int)status, answer)),
        };
    }

    private async Task Exchange(ArraySegment<PendingTransaction> batch)
    {
        using var giveUp = _giveUps.After(TimeSpan.FromMilliseconds(LongestWait(batch)));
        using var request = Request(HttpMethod.Post, _transactions);
        request.Content = new BatchContent(batch);
        using var response = await _http.SendAsync(request, giveUp.Token).ConfigureAwait(false);
        using var answer = await Answer.Read(response, MaxAnswerBytes, giveUp.Token).ConfigureAwait(false);
        if (_learnsWorker && response.Headers.TryGetValues(WorkerHeader, out var names) && names.First() is var name && name != Worker)
        {
            Worker = name;
        }

        var status = (int)response.StatusCode;
        switch (status)
        {
            case 200:
                EndEach(batch, answer);
                break;
            case 400 or 413 or 422 when batch.Count > 1:
                // One of them may have spoilt it for all: halve until the culprit is alone. Where a worker has said
                // so, nothing was executed.
                if (!IsWorkers(response))
                {
                    NoteTurnedAway(batch, Describe(status, answer));
                }

                var half = batch.Count / 2;
                await Send(batch[..half]).ConfigureAwait(false);
                await Send(batch[half..]).ConfigureAwait(false);
                break;
            case (>= 400 and < 500 and not 408) or 503 when IsWorkers(response):
                EndAll(batch, Attempt.Refused(RejectionOf(response, answer)));
                break;
            case >= 400 and < 500 and not 408:
                EndAll(batch, Attempt.TurnedAway(RejectionOf(response, answer)));
                break;
            default:
                // Any other failure may stem from a proxy after the worker had the request.
                EndAll(batch, Attempt.Lost(Describe(status, answer)));
                break;
        }
    }

    /// <summary>
    /// A worker's refusal is a problem. What stands before it has answers of its own, also to a call that it has
    /// repeated by itself, and whose first sending the worker has.
    /// </summary>
    public static bool IsWorkers(HttpResponseMessage response) =>
        response.Content.Headers.ContentType?.MediaType == "application/problem+json";

    private static void EndEach(ArraySegment<PendingTransaction> batch, Answer answer)
    {
        var replies = ArrayPool<TransactionReply>.Shared.Rent(batch.Count);
        try
        {
            ReplyReader.ReadBatch(answer.Utf8, replies.AsSpan(0, batch.Count));
            for (var i = 0; i < batch.Count; i++)
            {
                batch[i].End(replies[i].Id == batch[i].Id || replies[i].Id.Length == 0
                    ? Attempt.Answered(replies[i])
                    : Attempt.Lost($"the answer is about '{replies[i].Id}'"));
            }
        }
        finally
        {
            ArrayPool<TransactionReply>.Shared.Return(replies, clearArray: true);
        }
    }

    private static void EndAll(ArraySegment<PendingTransaction> batch, in Attempt attempt)
    {
        for (var i = 0; i < batch.Count; i++)
        {
            batch[i].End(attempt);
        }
    }

    private static void NoteTurnedAway(ArraySegment<PendingTransaction> batch, string detail)
    {
        for (var i = 0; i < batch.Count; i++)
        {
            batch[i].TurnedAway ??= detail;
        }
    }

    private static TransactionReply ReadAnswerAbout(string id, Answer answer)
    {
        try
        {
            var reply = ReplyReader.ReadOne(answer.Utf8);
            return reply.Id == id ? reply : throw new HttpRequestException($"the answer is about '{reply.Id}'");
        }
        catch (Exception e) when (e is JsonException or InvalidOperationException)
        {
            throw new HttpRequestException("the answer is malformed: " + e.Message, e);
        }
    }

    private static Attempt AttemptAfter(Exception e) => e switch
    {
        // Without a connection nothing has been sent.
        HttpRequestException { HttpRequestError: HttpRequestError.ConnectionError or HttpRequestError.NameResolutionError or HttpRequestError.SecureConnectionError } =>
            Attempt.Refused(new RejectionDetails(503, "no connection: " + e.Message)),
        OperationCanceledException => Attempt.Lost("no answer in time"),
        JsonException or InvalidOperationException => Attempt.Lost("the answer is malformed: " + e.Message),
        _ => Attempt.Lost("the connection was lost: " + e.Message),
    };

    private static long LongestWait(ArraySegment<PendingTransaction> batch)
    {
        var until = long.MinValue;
        for (var i = 0; i < batch.Count; i++)
        {
            until = Math.Max(until, batch[i].WaitUntil);
        }

        return Math.Max(1, until - Environment.TickCount64);
    }

    private static string Describe(int status, Answer answer)
    {
        var detail = ReplyReader.ReadProblem(answer.Utf8);
        if (detail is null)
        {
            detail = Encoding.UTF8.GetString(answer.Utf8[..Math.Min(answer.Utf8.Length, MaxQuotedChars)]);
        }

        return string.Create(CultureInfo.InvariantCulture, $"HTTP {status}: {detail}");
    }

    private static RejectionDetails RejectionOf(HttpResponseMessage response, Answer answer) =>
        new((int)response.StatusCode, Describe((int)response.StatusCode, answer), RetryAfter(response));

    private static TimeSpan? RetryAfter(HttpResponseMessage response)
    {
        var header = response.Headers.RetryAfter;
        var wait = header?.Delta ?? (header?.Date - DateTimeOffset.UtcNow);
        return wait < TimeSpan.Zero ? TimeSpan.Zero : wait;
    }

    private HttpRequestMessage Request(HttpMethod method, Uri address)
    {
        var request = new HttpRequestMessage(method, address);
        if (_apiToken is not null)
        {
            request.Headers.TryAddWithoutValidation("dapr-api-token", _apiToken);
        }

        if (_authorization is not null)
        {
            request.Headers.TryAddWithoutValidation("Authorization", _authorization);
        }

        return request;
    }
}
