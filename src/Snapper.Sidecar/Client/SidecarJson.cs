using System.Text.Json.Serialization;

namespace Snapper.Sidecar.Client;

[JsonSourceGenerationOptions(PropertyNamingPolicy = JsonKnownNamingPolicy.CamelCase)]
[JsonSerializable(typeof(DaprConfig))]
[JsonSerializable(typeof(DaprErrorBody))]
[JsonSerializable(typeof(SidecarMetadata))]
internal sealed partial class SidecarJson : JsonSerializerContext;
