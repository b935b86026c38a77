using System.Text.Json;
using Snapper.Sidecar.Client;

namespace Snapper.Sidecar.Tests;

/// <summary>What tests ask of a sidecar beyond what a worker does.</summary>
internal static class SidecarCalls
{
    /// <summary>An actor call, beside others, or alone without a reentrancy id.</summary>
    public static Task<SidecarAnswer> InvokeActor(
        this DaprSidecarClient client, string type, string id, string method, ReadOnlyMemory<byte> body,
        CancellationToken cancellation, string? reentrancyId = Reentrancy.ConstantId, string? traceParent = null)
    {
        var address = client.ActorMethod(type, id, method).OriginalString;
        var path = address[client.Endpoint.GetLeftPart(UriPartial.Authority).Length..];
        var request = client.Request(HttpMethod.Put, path, body, traceParent);
        if (reentrancyId is not null)
        {
            request.Headers.TryAddWithoutValidation(DaprHeaders.ReentrancyId, reentrancyId);
        }

        return client.Send(request, cancellation);
    }

    /// <summary>{verb} /v1.0/invoke/{appId}/method/{path}.</summary>
    public static Task<SidecarAnswer> InvokeService(
        this DaprSidecarClient client, HttpMethod verb, string appId, string path, ReadOnlyMemory<byte> body,
        CancellationToken cancellation) =>
        client.Send(client.Request(verb, $"/v1.0/invoke/{appId}/method/{path}", body, null), cancellation);

    public static async Task<SidecarMetadata> GetMetadata(this DaprSidecarClient client, CancellationToken cancellation)
    {
        var answer = await client.Send(client.Request(HttpMethod.Get, "/v1.0/metadata", default, null), cancellation);
        return answer.Status == 200
            ? JsonSerializer.Deserialize(answer.Body, SidecarJson.Default.SidecarMetadata)!
            : throw new InvalidDataException($"The sidecar answered {answer.Status}.");
    }

    /// <summary>The sidecar and its way to the app are ready; false also when it cannot be reached.</summary>
    public static Task<bool> IsHealthy(this DaprSidecarClient client, CancellationToken cancellation) =>
        IsHealthy(client, "/v1.0/healthz", cancellation);

    /// <summary>The sidecar can be called, its app apart; false also when it cannot be reached.</summary>
    public static Task<bool> IsOutboundHealthy(this DaprSidecarClient client, CancellationToken cancellation) =>
        IsHealthy(client, "/v1.0/healthz/outbound", cancellation);

    private static async Task<bool> IsHealthy(DaprSidecarClient client, string path, CancellationToken cancellation)
    {
        try
        {
            var answer = await client.Send(client.Request(HttpMethod.Get, path, default, null), cancellation);
            return answer.Status is >= 200 and < 300;
        }
        catch (SidecarUnreachableException)
        {
            return false;
        }
    }
}
