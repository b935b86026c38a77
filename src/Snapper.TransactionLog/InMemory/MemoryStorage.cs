using Snapper.Protocol;
using Snapper.Protocol.Identity;
using Snapper.TransactionLog.Records;

namespace Snapper.TransactionLog.InMemory;

/// <summary>
/// What a memory log and its state store keep: <b>not durable</b>, gone with the process. Handing the same object to new
/// instances is how tests and the simulator restart a worker.
/// </summary>
public sealed class MemoryStorage
{
    internal Lock Gate { get; } = new();

    internal string Id { get; private init; } = Guid.NewGuid().ToString("N");

    internal long Epoch { get; set; }

    internal long NextSequence { get; set; } = 1;

    internal LogWatermarks Watermarks { get; set; }

    internal List<LogGroup> Groups { get; } = [];

    internal Dictionary<ActorKey, StoredState> States { get; } = [];

    internal Dictionary<string, OutcomeRecord> Outcomes { get; } = new(StringComparer.Ordinal);

    internal long FirstSequence => Groups.Count == 0 ? NextSequence : Groups[0].FirstSequence;

    /// <summary>Groups that hold this record or a later one, as they are now.</summary>
    internal LogGroup[] GroupsFrom(long sequence)
    {
        lock (Gate)
        {
            return Groups.FindAll(g => g.FirstSequence + g.Count > sequence).ToArray();
        }
    }

    /// <summary>Everything as it is now, for a simulated server that comes back with an older copy.</summary>
    internal MemoryStorage Copy()
    {
        lock (Gate)
        {
            var copy = new MemoryStorage { Id = Id, Epoch = Epoch, NextSequence = NextSequence, Watermarks = Watermarks };
            copy.Groups.AddRange(Groups);
            foreach (var (actor, state) in States)
            {
                copy.States.Add(actor, state);
            }

            foreach (var (id, outcome) in Outcomes)
            {
                copy.Outcomes.Add(id, outcome);
            }

            return copy;
        }
    }

    /// <summary>Null: the epoch is the current one.</summary>
    internal AppendResult? Fence(long epoch) =>
        epoch == Epoch || Planted.Is(PlantedFault.NoFence) ? null : new AppendResult(AppendStatus.Fenced, $"epoch {epoch} is not the current one, {Epoch}");
}
