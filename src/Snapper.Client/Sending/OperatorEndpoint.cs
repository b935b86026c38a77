using System.Globalization;
using System.Text;
using System.Text.Json;
using System.Text.Json.Serialization.Metadata;
using Snapper.Contracts;

namespace Snapper.Client.Sending;

/// <summary>What operators ask of any worker: plain JSON. The next address is asked when one does not answer; every question may be asked again.</summary>
internal sealed class OperatorEndpoint(SnapperClientOptions options) : IDisposable
{
    private readonly HttpMessageInvoker _http = options.Invoker();

    /// <summary>Asks.</summary>
    /// <returns>Null: there is no such thing (404), and the answer says so in the API's own words.</returns>
    /// <exception cref="OperationRefusedException">A worker answered with another status than success.</exception>
    /// <exception cref="HttpRequestException">No worker answered.</exception>
    /// <param name="method">GET or POST.</param>
    /// <param name="path">Of the worker's address.</param>
    /// <param name="form">Of the answer.</param>
    /// <param name="body">Makes the content, once per address that is asked; null: there is none.</param>
    /// <param name="timeout">For all addresses.</param>
    /// <param name="cancellation">Ends the wait.</param>
    public async Task<T?> Ask<T>(
        HttpMethod method, string path, JsonTypeInfo<T> form, Func<HttpContent>? body, TimeSpan timeout,
            CancellationToken cancellation)
        where T : class
    {
        using var limit = CancellationTokenSource.CreateLinkedTokenSource(cancellation);
        limit.CancelAfter(timeout);
        HttpRequestException? lost = null;
        foreach (var address in options.UrisOf(path))
        {
            try
            {
                return await AskOne(method, address, form, body, limit.Token).ConfigureAwait(false);
            }
            catch (HttpRequestException problem)
            {
                lost = problem;
            }
            catch (IOException broken)
            {
                lost = new HttpRequestException("no answer: " + broken.Message, broken);
            }
            catch (OperationCanceledException late) when (!cancellation.IsCancellationRequested)
            {
                throw new HttpRequestException($"no answer of {address} in time", late);
            }
        }

        throw lost!;
    }

    public void Dispose() => _http.Dispose();

    private async Task<T?> AskOne<T>(
        HttpMethod method, Uri address, JsonTypeInfo<T> form, Func<HttpContent>? body, CancellationToken cancellation)
        where T : class
    {
        using var request = new HttpRequestMessage(method, address)
        {
            Content = body?.Invoke(),
        };
        if (options.UsesSidecar && options.ApiToken is { } token)
        {
            request.Headers.TryAddWithoutValidation("dapr-api-token", token);
        }

        if (options.Token is { } own)
        {
            request.Headers.TryAddWithoutValidation("Authorization", "Bearer " + own);
        }

        using var response = await _http.SendAsync(request, cancellation).ConfigureAwait(false);
        var utf8 = await response.Content.ReadAsByteArrayAsync(cancellation).ConfigureAwait(false);
        var status = (int)response.StatusCode;
        if (status is 502 or 503 or 504)
        {
            throw new HttpRequestException($"HTTP {status.ToString(CultureInfo.InvariantCulture)} of {address}: {Detail(utf8)}");
        }

        if (!response.IsSuccessStatusCode)
        {
            if (!ServiceEndpoint.IsWorkers(response))
            {
                var number = status.ToString(CultureInfo.InvariantCulture);
                throw new HttpRequestException($"HTTP {number} of {address}, and not of a worker: {Detail(utf8)}");
            }

            return method == HttpMethod.Get && status == 404
                ? null
                : throw new OperationRefusedException(status, Detail(utf8));
        }

        try
        {
            return JsonSerializer.Deserialize(utf8, form);
        }
        catch (JsonException wrong)
        {
            throw new HttpRequestException($"the answer of {address} is malformed: {wrong.Message}", wrong);
        }
    }

    private static string Detail(byte[] utf8) => ProblemView.DetailOf(utf8) ?? Encoding.UTF8.GetString(utf8);
}
