using Snapper.Contracts;
using Snapper.Protocol.Identity;
using Snapper.Storage.MigrationPlans;

namespace Snapper.Cluster.Migrating;

/// <summary>Shows a plan as the store has it, with what its source has noted of it.</summary>
internal static class MigrationViews
{
    public static MigrationPart Of(PlanRecord record, string note)
    {
        var (frozen, most, noted) = MigrationNotes.Read(note);
        var phases = new List<Contracts.MigrationPhase>();
        if (noted.Count == 0)
        {
            phases.Add(new Contracts.MigrationPhase("planned", record.Created)); // the source has not begun, or nothing that it said has come
        }

        foreach (var (phase, at) in noted)
        {
            phases.Add(new Contracts.MigrationPhase(phase, at));
        }

        // The plan's end is the store's to say: the source's word of it may be on its way, or the source be gone.
        var state = record.State.ToString().ToLowerInvariant();
        if (record is { State: not PlanState.Planned, Ended: { } ended } && phases[^1].Phase != state)
        {
            phases.Add(new Contracts.MigrationPhase(state, ended));
        }

        return new MigrationPart(
            record.Plan.Id, Incarnation.NameOf(record.Plan.From.Worker), Incarnation.NameOf(record.Plan.To.Worker), record.KeyCount, state, record.Created, record.Ended,
            record.Why.Length == 0 ? null : record.Why)
        {
            Phases = phases,
            FrozenRequests = record.State == PlanState.Planned ? frozen : 0,
            MostFrozenRequests = most,
        };
    }
}
