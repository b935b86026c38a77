using Snapper.Actors;
using Snapper.Actors.Generated;
using Snapper.Client.Calls;
using Snapper.Client.Wire;

namespace Snapper.Client;

/// <summary>Typed calls by any <see cref="ISnapperClient"/>.</summary>
public static class SnapperClientCalls
{
    /// <inheritdoc cref="SnapperClient.Actor{TActor}(string)"/>
    public static ActorClient<TActor> Actor<TActor>(this ISnapperClient client, string id)
        where TActor : class, ITransactionalActor =>
        client.Actor<TActor>(ActorProxies.DefaultActorType<TActor>(), id);

    /// <inheritdoc cref="SnapperClient.Actor{TActor}(string, string)"/>
    public static ActorClient<TActor> Actor<TActor>(this ISnapperClient client, string type, string id)
        where TActor : class, ITransactionalActor
    {
        ArgumentNullException.ThrowIfNull(client);
        ArgumentException.ThrowIfNullOrEmpty(type);
        ArgumentException.ThrowIfNullOrEmpty(id);
        RequestWriter.CheckText(type, nameof(type));
        RequestWriter.CheckText(id, nameof(id));
        return new ActorClient<TActor>(client, type, id);
    }
}
