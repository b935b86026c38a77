using System.Text.Json;
using Snapper.Contracts;
using Snapper.Protocol.Identity;

namespace Snapper.Client.Messages;

/// <summary>States of several actors at one point in the order of all transactions.</summary>
public sealed class StatesRead
{
    /// <summary>Most actors in one read.</summary>
    public const int MostActors = 256;

    private readonly Dictionary<ActorKey, ActorStateView> _states = [];
    private readonly JsonSerializerOptions _json;

    /// <summary>Takes an answer of <c>POST /v1/reads</c>.</summary>
    /// <param name="view">The answer.</param>
    /// <param name="json">Reads the states; null: as web APIs write them.</param>
    public StatesRead(ReadsView view, JsonSerializerOptions? json = null)
    {
        ArgumentNullException.ThrowIfNull(view);
        _json = json ?? JsonSerializerOptions.Web;
        Transaction = view.AsOf.Transaction;
        foreach (var state in view.Actors)
        {
            _states[new ActorKey(state.Type, state.Id)] = state;
        }
    }

    /// <summary>Number of the transaction that read.</summary>
    public long Transaction { get; }

    /// <summary>The state of an actor; null: it was never written, or was deleted.</summary>
    /// <exception cref="KeyNotFoundException">The actor was not read.</exception>
    /// <exception cref="JsonException">It is no <typeparamref name="TState"/>.</exception>
    public TState? StateOf<TState>(ActorKey actor)
        where TState : class => _states[actor].State?.Deserialize<TState>(_json);

    /// <summary>
    /// Number of the actor's changes up to this state; never smaller in a later read. Transactions of one batch share
    /// one.
    /// </summary>
    /// <exception cref="KeyNotFoundException">The actor was not read.</exception>
    public long VersionOf(ActorKey actor) => _states[actor].Version;
}
