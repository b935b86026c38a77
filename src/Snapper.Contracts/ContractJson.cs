using System.Text.Json;
using System.Text.Json.Serialization;

namespace Snapper.Contracts;

/// <summary>
/// How the contract is written and read: camelCase. Lists stand in an object under their name, so that fields can join
/// them later. <see cref="Default"/> is for readers of answers: unknown fields are ignored, missing ones have their
/// default, so that reader and worker may be of different versions. <see cref="Strict"/> is for what a worker is sent.
/// </summary>
[JsonSourceGenerationOptions(JsonSerializerDefaults.Web)]
[JsonSerializable(typeof(WorkerStatus))]
[JsonSerializable(typeof(ReadyView))]
[JsonSerializable(typeof(ActorTypesView))]
[JsonSerializable(typeof(ActorView))]
[JsonSerializable(typeof(ActorListView))]
[JsonSerializable(typeof(ScheduleView))]
[JsonSerializable(typeof(TimelineView))]
[JsonSerializable(typeof(BatchesView))]
[JsonSerializable(typeof(AbortsView))]
[JsonSerializable(typeof(TracesView))]
[JsonSerializable(typeof(HotView))]
[JsonSerializable(typeof(AccessView))]
[JsonSerializable(typeof(RingView))]
[JsonSerializable(typeof(WorkersView))]
[JsonSerializable(typeof(DirectoryView))]
[JsonSerializable(typeof(PartitionsView))]
[JsonSerializable(typeof(PlacementView))]
[JsonSerializable(typeof(LeftView))]
[JsonSerializable(typeof(MigrationRequest))]
[JsonSerializable(typeof(MigrationStatus))]
[JsonSerializable(typeof(MigrationsView))]
[JsonSerializable(typeof(MigrationProposals))]
[JsonSerializable(typeof(ReadsRequest))]
[JsonSerializable(typeof(ReadsView))]
[JsonSerializable(typeof(ImportsView))]
[JsonSerializable(typeof(AuditView))]
[JsonSerializable(typeof(EnvelopeView))]
[JsonSerializable(typeof(ProblemView))]
public sealed partial class ContractJson : JsonSerializerContext
{
    /// <summary>Refuses unknown fields, repeated fields, and numbers written as strings.</summary>
    public static ContractJson Strict { get; } = new(new JsonSerializerOptions(JsonSerializerDefaults.Web)
    {
        UnmappedMemberHandling = JsonUnmappedMemberHandling.Disallow,
        AllowDuplicateProperties = false, // which of two targets was meant is unknown
        NumberHandling = JsonNumberHandling.Strict,
    });
}
