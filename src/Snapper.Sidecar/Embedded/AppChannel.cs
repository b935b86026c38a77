using System.Globalization;
using System.Net;
using Microsoft.AspNetCore.Http;

namespace Snapper.Sidecar.Embedded;

/// <summary>The way from the stand-in to the app: plain HTTP/1.1 on loopback, as daprd's <c>--app-protocol http</c>.</summary>
internal sealed class AppChannel : IDisposable
{
    private static readonly UriCreationOptions KeepPath = new() { DangerousDisablePathAndQueryCanonicalization = true };

    private readonly HttpClient _http;
    private readonly string? _token;

    public AppChannel(int port, string? appApiToken)
    {
        Base = string.Create(CultureInfo.InvariantCulture, $"http://127.0.0.1:{port}");
        _token = string.IsNullOrEmpty(appApiToken) ? null : appApiToken;
        _http = new HttpClient(
            new SocketsHttpHandler
            {
                // daprd's own bound on callbacks at a time.
                MaxConnectionsPerServer = 1024,
                AllowAutoRedirect = false,
                UseCookies = false,
                UseProxy = false,
                ActivityHeadersPropagator = null,
            })
        {
            Timeout = Timeout.InfiniteTimeSpan,
        };
    }

    public string Base { get; }

    /// <summary>A request to the app.</summary>
    /// <param name="verb">HTTP verb.</param>
    /// <param name="pathAndQuery">From the slash on, encoded.</param>
    public HttpRequestMessage Request(HttpMethod verb, string pathAndQuery)
    {
        var request = new HttpRequestMessage(verb, new Uri(Base + pathAndQuery, KeepPath)) { Version = HttpVersion.Version11 };
        if (_token is not null)
        {
            request.Headers.TryAddWithoutValidation(DaprHeaders.ApiToken, _token);
        }

        return request;
    }

    public Task<HttpResponseMessage> Send(HttpRequestMessage request, CancellationToken cancellation) =>
        _http.SendAsync(request, HttpCompletionOption.ResponseHeadersRead, cancellation);

    /// <summary>Passes a caller's headers on, less those of its connection and those that are the sidecar's to set.</summary>
    public static void CopyRequestHeaders(IHeaderDictionary from, HttpRequestMessage to)
    {
        foreach (var (name, value) in from)
        {
            if (IsOfConnection(name)
                || name.Equals(DaprHeaders.ApiToken, StringComparison.OrdinalIgnoreCase)
                || name.Equals(DaprHeaders.AppId, StringComparison.OrdinalIgnoreCase))
            {
                continue;
            }

            var values = (IEnumerable<string?>)value;
            if (!to.Headers.TryAddWithoutValidation(name, values))
            {
                to.Content?.Headers.TryAddWithoutValidation(name, values);
            }
        }
    }

    /// <summary>Passes the app's headers back.</summary>
    public static void CopyResponseHeaders(HttpResponseMessage from, HttpResponse to)
    {
        foreach (var (name, values) in from.Headers.NonValidated)
        {
            if (!IsOfConnection(name))
            {
                to.Headers[name] = values.Count == 1 ? values.ToString() : string.Join(",", values);
            }
        }

        foreach (var (name, values) in from.Content.Headers.NonValidated)
        {
            if (!IsOfConnection(name))
            {
                to.Headers[name] = values.ToString();
            }
        }
    }

    public void Dispose() => _http.Dispose();

    private static bool IsOfConnection(string name) =>
        name.Equals("Connection", StringComparison.OrdinalIgnoreCase)
        || name.Equals("Keep-Alive", StringComparison.OrdinalIgnoreCase)
        || name.Equals("Proxy-Connection", StringComparison.OrdinalIgnoreCase)
        || name.Equals("Transfer-Encoding", StringComparison.OrdinalIgnoreCase)
        || name.Equals("TE", StringComparison.OrdinalIgnoreCase)
        || name.Equals("Trailer", StringComparison.OrdinalIgnoreCase)
        || name.Equals("Upgrade", StringComparison.OrdinalIgnoreCase)
        || name.Equals("Expect", StringComparison.OrdinalIgnoreCase)
        || name.Equals("Host", StringComparison.OrdinalIgnoreCase);
}
