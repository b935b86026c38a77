using System.Net;
using System.Net.Http.Json;
using System.Text.Json;
using Snapper.AspNetCore.Hosting;
using Snapper.Sidecar.Client;

namespace Snapper.Cli.Supervision;

/// <summary>Finds out whether a request that is sent now will succeed: the worker, then the sidecar, then the way through both.</summary>
internal sealed class ReadinessProbe : IDisposable
{
    private readonly HttpClient _http;
    private readonly string _appId;

    /// <summary>Sends <c>DAPR_API_TOKEN</c> when it is set.</summary>
    /// <param name="appId">The workers' Dapr app id.</param>
    public ReadinessProbe(string appId)
    {
        _appId = appId;
        _http = new HttpClient(new SocketsHttpHandler { UseProxy = false, PooledConnectionLifetime = TimeSpan.FromSeconds(5) }) { Timeout = TimeSpan.FromSeconds(5) };
        if (Environment.GetEnvironmentVariable("DAPR_API_TOKEN") is { Length: > 0 } token) _http.DefaultRequestHeaders.Add("dapr-api-token", token);
    }

    /// <summary>Null when requests will succeed, otherwise what is still missing.</summary>
    public async Task<string?> Missing(string worker, string sidecar, SidecarKind kind, CancellationToken cancellation)
    {
        if (await NotOk($"{worker}/readyz", cancellation) is { } notReady) return $"worker: {notReady}";
        if (kind == SidecarKind.Daprd && await NotHosting(sidecar, cancellation) is { } notHosting) return $"sidecar: {notHosting}";

        // What anybody may ask: whether the way is open, not what this one may do at its end.
        return await NotOk($"{sidecar}/v1.0/invoke/{_appId}/method/readyz", cancellation) is { } notThrough
            ? $"worker through the sidecar: {notThrough}" : null;
    }

    public void Dispose() => _http.Dispose();

    /// <summary>Whether a sidecar's metadata say that it has registered the app's actor types with placement.</summary>
    internal static bool HostsActors(SidecarMetadata? metadata) =>
        metadata?.ActorRuntime is { HostReady: true, ActiveActors.Count: > 0 };

    private async Task<string?> NotHosting(string sidecar, CancellationToken cancellation)
    {
        try
        {
            var metadata = await _http.GetFromJsonAsync<SidecarMetadata>($"{sidecar}/v1.0/metadata", cancellation);
            return HostsActors(metadata) ? null : "the actor types are not registered with placement yet";
        }
        catch (Exception problem) when (IsUnavailable(problem, cancellation))
        {
            return problem.Message;
        }
        catch (JsonException)
        {
            return "its metadata are not JSON";
        }
    }

    private async Task<string?> NotOk(string url, CancellationToken cancellation)
    {
        try
        {
            using var response = await _http.GetAsync(url, cancellation);
            if (response.StatusCode == HttpStatusCode.OK) return null;
            var body = await response.Content.ReadAsStringAsync(cancellation);
            return $"status {(int)response.StatusCode} {(body.Length > 300 ? body[..300] : body)}".TrimEnd();
        }
        catch (Exception problem) when (IsUnavailable(problem, cancellation))
        {
            return problem.Message;
        }
    }

    private static bool IsUnavailable(Exception problem, CancellationToken cancellation) =>
        problem is HttpRequestException or IOException || (problem is OperationCanceledException && !cancellation.IsCancellationRequested);
}
