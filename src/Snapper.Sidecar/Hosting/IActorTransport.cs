using Microsoft.AspNetCore.Routing;

namespace Snapper.Sidecar.Hosting;

/// <summary>
/// The road on which a sidecar's actor calls come to an <see cref="IActorHost"/>. Hosts know nothing of it.
/// </summary>
/// <remarks>
/// <see cref="HttpActorTransport"/> is the one that exists. Dapr 1.18 has another: the app opens one gRPC stream
/// (<c>SubscribeActorEventsAlpha1</c>), announces its types in the first frame, and gets calls as frames with correlation
/// ids; measured at 1.7 to 3.2 times the throughput. It fits here so: <see cref="Map"/> adds only what daprd still asks
/// over HTTP, a hosted service keeps the stream open, the transport starts <see cref="IActorHost.Invoke"/> for each frame
/// without awaiting it, and one writer sends the answers back as they come.
/// </remarks>
public interface IActorTransport
{
    /// <summary>Value for daprd's <c>--app-protocol</c> unless the app sets up its port otherwise.</summary>
    string AppProtocol { get; }

    /// <summary>Adds the endpoints that the sidecar calls.</summary>
    void Map(IEndpointRouteBuilder endpoints, IActorHost host);
}
