using System.Buffers;
using System.Globalization;
using System.Text.Json;

namespace Snapper.Sidecar.Hosting;

/// <summary>The answer to <c>GET /dapr/config</c>: which actor types the app hosts, and how.</summary>
internal static class DaprConfigDocument
{
    public static byte[] Write(IReadOnlyList<string> actorTypes, DaprHostOptions options)
    {
        var buffer = new ArrayBufferWriter<byte>(512);
        using (var json = new Utf8JsonWriter(buffer))
        {
            json.WriteStartObject();
            json.WriteStartArray("entities");
            for (var i = 0; i < actorTypes.Count; i++)
            {
                json.WriteStringValue(actorTypes[i]);
            }

            json.WriteEndArray();
            json.WriteString("actorIdleTimeout", Duration(options.ActorIdleTimeout));
            json.WriteString("drainOngoingCallTimeout", Duration(options.DrainOngoingCallTimeout));
            json.WriteBoolean("drainRebalancedActors", true);
            json.WriteStartObject("reentrancy");
            json.WriteBoolean("enabled", true);
            json.WriteNumber("maxStackDepth", Reentrancy.MaxStackDepth);
            json.WriteEndObject();
            json.WriteEndObject();
        }

        return buffer.WrittenSpan.ToArray();
    }

    // Go's duration syntax.
    private static string Duration(TimeSpan value) =>
        ((long)value.TotalMilliseconds).ToString(CultureInfo.InvariantCulture) + "ms";
}
