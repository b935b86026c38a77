using System.Text.Json;
using Snapper.Actors;
using Snapper.Actors.Generated;

namespace Snapper.Runtime.Execution;

/// <summary>Input of <see cref="Door.StateMethods.ReadAll"/>.</summary>
/// <param name="Actors">
/// Whose states, 1 or more; the root's may be among them. One that is named twice is read once.
/// </param>
public sealed record ActorsToRead(IReadOnlyList<ActorName> Actors);

/// <summary>The name of an actor, as JSON has it.</summary>
/// <param name="Type">Name of its type.</param>
/// <param name="Id">Id within the type.</param>
public sealed record ActorName(string Type, string Id);

/// <summary>The state of an actor as a transaction saw it.</summary>
/// <param name="Type">Name of its type.</param>
/// <param name="Id">Id within the type.</param>
/// <param name="Version">
/// Number of the actor's changes up to this state (L7). Transactions of one batch share one, so that two states within
/// a batch may have the same.
/// </param>
/// <param name="State">As JSON; null: the actor was never written, or is deleted.</param>
public sealed record StateSeen(string Type, string Id, long Version, JsonElement? State);

/// <summary>The states of several actors, in the order in which they were asked for.</summary>
/// <param name="Actors">One for each.</param>
public sealed record StatesSeen(IReadOnlyList<StateSeen> Actors);

/// <summary>
/// Reads states as they are, as methods that every actor type has beside its own: a read is a PACT like any other, and
/// what it tells is one cut in the order of all transactions. As
/// with <see cref="StateReplacementMethod"/>, no caller may name them: <c>POST /v1/reads</c> starts them.
/// </summary>
public sealed class StateReader : TransactionalActor<object>
{
    private static readonly ActorMethodKey s_read =
        new(Door.StateMethods.Read) { InputIsImmutable = true, ResultIsImmutable = true };

    /// <summary>Reads one: its own.</summary>
    internal static ActorMethod<Nothing, StateSeen> ReadOne { get; } = new(
        Door.StateMethods.Read, mayAbort: false, readOnly: true, static (actor, _) =>
            ((StateReader)actor).Read()) { InputIsImmutable = true };

    /// <summary>Reads those that its input names, from any actor.</summary>
    internal static ActorMethod<ActorsToRead, StatesSeen> ReadAll { get; } = new(
        Door.StateMethods.ReadAll, mayAbort: false, readOnly: true, static (actor, input) =>
            ((StateReader)actor).Read(input)) { InputIsImmutable = true };

    /// <inheritdoc/>
    protected override object InitialState() => throw new NotSupportedException("It has none of its own.");

    private async Task<StateSeen> Read()
    {
        var frame = (CallFrame)Context;
        var state = await frame.ReadState();
        var version = frame.VersionSeen();
        JsonElement? seen = null;
        if (state is not null)
        {
            using var json = JsonDocument.Parse(frame.Cell!.Type.Encode(state));
            seen = json.RootElement.Clone();
        }

        return new StateSeen(frame.Actor.Type, frame.Actor.Id, version, seen);
    }

    private async Task<StatesSeen> Read(ActorsToRead input)
    {
        var reads = new Task<StateSeen>[input.Actors.Count];
        var known = new Dictionary<ActorName, Task<StateSeen>>();
        for (var i = 0; i < reads.Length; i++)
        {
            var actor = input.Actors[i];
            if (!known.TryGetValue(actor, out var read))
            {
                var isOwn = actor.Type == Context.Actor.Type && actor.Id == Context.Actor.Id;
                read = isOwn ? Read() : Context.Call<Nothing, StateSeen>(actor.Type, actor.Id, s_read, default);
                known.Add(actor, read);
            }

            reads[i] = read;
        }

        return new StatesSeen(await Task.WhenAll(reads));
    }
}
