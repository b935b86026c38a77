using System.Net;
using System.Net.Http.Headers;
using System.Text;

namespace Snapper.Baselines;

/// <summary>Calls actors through the sidecar, as an application of Dapr does: one HTTP request per call.</summary>
public sealed class SidecarCaller : IDisposable
{
    /// <summary>
    /// Every call carries this one reentrancy id, so that Dapr lets calls to one actor interleave. With turn-based actors two transfers that call
    /// each other would wait for each other until a timeout.
    /// </summary>
    public const string ReentrancyId = "plain";

    private static readonly MediaTypeHeaderValue Json = new("application/json");

    private readonly HttpMessageInvoker invoker;
    private readonly string actors;

    /// <param name="sidecarPort">Port of the sidecar's HTTP API on the loopback interface.</param>
    public SidecarCaller(int sidecarPort)
    {
        actors = $"http://127.0.0.1:{sidecarPort}/v1.0/actors/{ActorEndpoint.ActorType}/";

        // An invoker instead of an HttpClient: no timeout timer, no default headers and no response buffering per call.
        invoker = new HttpMessageInvoker(new SocketsHttpHandler
        {
            MaxConnectionsPerServer = 1024,
            PooledConnectionIdleTimeout = TimeSpan.FromMinutes(10),
            PooledConnectionLifetime = Timeout.InfiniteTimeSpan,
            AllowAutoRedirect = false,
            AutomaticDecompression = DecompressionMethods.None,
            UseCookies = false,
            UseProxy = false,
            ActivityHeadersPropagator = null,
        });
    }

    /// <summary>The body of a deposit, made once per transfer and shared by its calls.</summary>
    public static byte[] DepositBody(decimal amount) =>
        Encoding.UTF8.GetBytes(string.Create(System.Globalization.CultureInfo.InvariantCulture, $"{{\"amount\":{amount}}}"));

    /// <summary>Calls <c>Deposit</c> on another account.</summary>
    /// <exception cref="HttpRequestException">The sidecar could not be reached or answered anything but 200.</exception>
    public async Task DepositAsync(string account, byte[] body)
    {
        using var request = new HttpRequestMessage(HttpMethod.Put, actors + Uri.EscapeDataString(account) + "/method/Deposit");
        request.Headers.TryAddWithoutValidation("Dapr-Reentrancy-Id", ReentrancyId);
        request.Content = new ByteArrayContent(body);
        request.Content.Headers.ContentType = Json;
        using var response = await invoker.SendAsync(request, CancellationToken.None);
        if (response.StatusCode != HttpStatusCode.OK)
        {
            var answer = await response.Content.ReadAsStringAsync();
            throw new HttpRequestException($"The deposit to {account} was answered {(int)response.StatusCode}: {answer}");
        }

        // The connection returns to the pool only when the body was read.
        await response.Content.CopyToAsync(Stream.Null);
    }

    /// <inheritdoc />
    public void Dispose() => invoker.Dispose();
}
