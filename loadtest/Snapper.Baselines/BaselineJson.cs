using System.Text.Json.Serialization;

namespace Snapper.Baselines;

[JsonSerializable(typeof(string))]
internal sealed partial class BaselineJson : JsonSerializerContext;
