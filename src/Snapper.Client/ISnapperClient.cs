using Snapper.Client.Messages;
using Snapper.Protocol.Identity;

namespace Snapper.Client;

/// <summary>
/// What <see cref="SnapperClient"/> does, for code whose tests put something of their own in its place. Typed calls
/// (<see cref="SnapperClientCalls.Actor{TActor}(ISnapperClient, string)"/>) come down to <see cref="Submit"/>.
/// </summary>
public interface ISnapperClient
{
    /// <inheritdoc cref="SnapperClient.Submit"/>
    Task<TransactionReply> Submit(TransactionRequestMessage request, CancellationToken cancellation = default);

    /// <inheritdoc cref="SnapperClient.Find"/>
    Task<TransactionReply?> Find(string id, CancellationToken cancellation = default);

    /// <inheritdoc cref="SnapperClient.Read"/>
    Task<StatesRead> Read(
        IReadOnlyList<ActorKey> actors, TimeSpan? timeout = null, CancellationToken cancellation = default);
}
