using Snapper.Protocol.Batches;
using Snapper.Protocol.Identity;

namespace Snapper.Runtime.Execution;

/// <summary>
/// What the parts of a log record weigh: never less than their bytes in the log, so that what fits by this measure can be
/// encoded (L6). Names count three bytes a character, the most that UTF-8 needs.
/// </summary>
public static class RecordWeight
{
    private const int PerChange = 64;
    private const int PerOutcome = 256;

    /// <summary>Of an actor's new state.</summary>
    public static long Of(ActorKey actor, int stateBytes) => PerChange + NameOf(actor) + stateBytes;

    /// <summary>Of a change whose state is bytes already, or deleted.</summary>
    public static long Of(Change change) => Of(change.Actor, change.State is byte[] bytes ? bytes.Length : 0);

    public static long OfOutcome(string id, ActorKey? abortActor, int payloadBytes) =>
        PerOutcome + (3L * id.Length) + (abortActor is null ? 0 : NameOf(abortActor)) + payloadBytes;

    private static long NameOf(ActorKey actor) => 3L * (actor.Type.Length + actor.Id.Length);
}
