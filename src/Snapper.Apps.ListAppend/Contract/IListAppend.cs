using System.Collections.Immutable;
using Snapper.Actors;

namespace Snapper.Apps.ListAppend.Contract;

/// <summary>
/// A list of integers per key, for outside checkers of serializability (Jepsen's list-append): every append is visible
/// in the list, in its place, so a history of appends and reads shows the order of transactions.
/// </summary>
/// <remarks>As JSON, members are camelCase and read without regard to case; unknown members are refused.</remarks>
public interface IListAppend : ITransactionalActor
{
    /// <summary>
    /// Runs operations on any keys, this actor's own included, through calls of <see cref="Append"/> and
    /// <see cref="Read"/> on the keys' actors. Returns the same operations, each read with what the transaction saw.
    /// Aborts for an unknown operation (before any has run), and when the input asks for it (after all have).
    /// </summary>
    Task<ExecuteResult> Execute(ExecuteInput input);

    /// <summary>Appends a value to this key's list.</summary>
    Task Append(AppendInput input);

    /// <summary>This key's list. Changes nothing.</summary>
    Task<ImmutableList<long>> Read();
}
