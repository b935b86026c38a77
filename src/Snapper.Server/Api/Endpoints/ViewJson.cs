using System.Text.Json.Serialization;
using Snapper.Runtime.Inspection;

namespace Snapper.Server.Api.Endpoints;

/// <summary>
/// The inspection views as JSON (docs/http-api.md). Lists stand in an object under their name, so that fields can join
/// them later.
/// </summary>
[JsonSourceGenerationOptions(PropertyNamingPolicy = JsonKnownNamingPolicy.CamelCase)]
[JsonSerializable(typeof(WorkerStatus))]
[JsonSerializable(typeof(ActorTypesView))]
[JsonSerializable(typeof(ActorView))]
[JsonSerializable(typeof(ActorListView))]
[JsonSerializable(typeof(ScheduleView))]
[JsonSerializable(typeof(BatchesView))]
[JsonSerializable(typeof(AbortsView))]
internal sealed partial class ViewJson : JsonSerializerContext;

/// <summary>GET /v1/actor-types.</summary>
internal sealed record ActorTypesView(IReadOnlyList<ActorTypeView> Types);

/// <summary>GET /v1/batches.</summary>
internal sealed record BatchesView(IReadOnlyList<BatchView> Batches);

/// <summary>GET /v1/aborts.</summary>
internal sealed record AbortsView(IReadOnlyList<AbortView> Aborts);
