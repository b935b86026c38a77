using System.Collections.Concurrent;
using System.Net;

namespace Snapper.Integration.Tests.Telemetry;

/// <summary>A span as it was received.</summary>
internal sealed record ReceivedSpan(string Service, string Instance, string TraceId, string SpanId, string ParentId, string Name, IReadOnlyDictionary<string, string> Tags);

/// <summary>A collector in a few lines: takes OTLP over HTTP (protobuf) on loopback, and keeps the spans and the names of the metrics.</summary>
internal sealed class FakeCollector : IDisposable
{
    private readonly HttpListener _listener = new();

    public FakeCollector()
    {
        Url = $"http://127.0.0.1:{FreePorts.Base(0)}/";
        _listener.Prefixes.Add(Url);
        _listener.Start();
        _ = Serve();
    }

    public string Url { get; }

    public ConcurrentQueue<ReceivedSpan> Spans { get; } = new();

    /// <summary>Names of metrics with their units.</summary>
    public ConcurrentDictionary<string, string> Metrics { get; } = new();

    public ConcurrentQueue<Exception> Problems { get; } = new();

    public void Dispose() => _listener.Close();

    private async Task Serve()
    {
        while (_listener.IsListening)
        {
            try
            {
                var context = await _listener.GetContextAsync();
                using var body = new MemoryStream();
                await context.Request.InputStream.CopyToAsync(body);
                Read(context.Request.Url!.AbsolutePath, body.ToArray());
                context.Response.ContentType = "application/x-protobuf";
                context.Response.Close(); // an empty message: everything was taken
            }
            catch (Exception closed) when (closed is HttpListenerException or ObjectDisposedException)
            {
                return;
            }
            catch (InvalidDataException wrong)
            {
                Problems.Enqueue(wrong);
            }
        }
    }

    private void Read(string path, byte[] body)
    {
        foreach (var resource in Wire.Messages(body, 1)) // ResourceSpans, ResourceMetrics
        {
            var facts = Wire.Messages(resource, 1).SelectMany(Tags).ToDictionary();
            foreach (var scope in Wire.Messages(resource, 2))
            {
                foreach (var item in Wire.Messages(scope, 2))
                {
                    if (path.EndsWith("/v1/traces", StringComparison.Ordinal))
                    {
                        Spans.Enqueue(new ReceivedSpan(
                            facts["service.name"], facts["service.instance.id"], Hex(item, 1), Hex(item, 2), Hex(item, 4), Wire.Text(item, 5), Wire.Messages(item, 9).Select(Tag).ToDictionary()));
                    }
                    else
                    {
                        Metrics[Wire.Text(item, 1)] = Wire.Text(item, 3);
                    }
                }
            }
        }
    }

    private static IEnumerable<KeyValuePair<string, string>> Tags(byte[] resource) => Wire.Messages(resource, 1).Select(Tag);

    private static KeyValuePair<string, string> Tag(byte[] pair)
    {
        var value = Wire.Messages(pair, 2).Single(); // AnyValue
        return new(Wire.Text(pair, 1), Wire.Messages(value, 1).FirstOrDefault() is { } text ? System.Text.Encoding.UTF8.GetString(text) : Wire.Number(value, 3)?.ToString(System.Globalization.CultureInfo.InvariantCulture) ?? "?");
    }

    private static string Hex(byte[] message, int field) => Convert.ToHexStringLower(Wire.Messages(message, field).FirstOrDefault() ?? []);

    /// <summary>Fields of protobuf messages, without their schemas.</summary>
    private static class Wire
    {
        public static IEnumerable<byte[]> Messages(byte[] message, int field) => Fields(message).Where(found => found.Field == field && found.Bytes is not null).Select(found => found.Bytes!);

        public static string Text(byte[] message, int field) => System.Text.Encoding.UTF8.GetString(Messages(message, field).FirstOrDefault() ?? []);

        public static ulong? Number(byte[] message, int field) => Fields(message).Where(found => found.Field == field && found.Bytes is null).Select(found => (ulong?)found.Number).FirstOrDefault();

        private static List<(int Field, byte[]? Bytes, ulong Number)> Fields(byte[] message)
        {
            var fields = new List<(int, byte[]?, ulong)>();
            for (var at = 0; at < message.Length;)
            {
                var key = Varint(message, ref at);
                var field = (int)(key >> 3);
                switch (key & 7)
                {
                    case 0:
                        fields.Add((field, null, Varint(message, ref at)));
                        break;
                    case 1:
                        at += 8;
                        break;
                    case 2:
                        var length = (int)Varint(message, ref at);
                        fields.Add((field, message[at..(at + length)], 0));
                        at += length;
                        break;
                    case 5:
                        at += 4;
                        break;
                    default:
                        throw new InvalidDataException($"Wire type {key & 7} at {at}.");
                }
            }

            return fields;
        }

        private static ulong Varint(byte[] message, ref int at)
        {
            var value = 0UL;
            for (var shift = 0; ; shift += 7)
            {
                var next = message[at++];
                value |= (ulong)(next & 0x7F) << shift;
                if (next < 0x80)
                {
                    return value;
                }
            }
        }
    }
}
