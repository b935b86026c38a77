using System.Text.Json;
using Snapper.Actors;
using Snapper.Actors.Generated;
using Snapper.Client.Messages;
using Snapper.Client.Wire;
using Snapper.Protocol.Identity;

namespace Snapper.Client.Calls;

/// <summary>
/// A typed call as the request that it comes down to, for clients that are no <see cref="SnapperClient"/>.
/// </summary>
internal static class UntypedCall
{
    /// <exception cref="InvalidOperationException">The lambda is anything but one call.</exception>
    public static TransactionRequestMessage Of<TActor>(
        string type, string id, Func<TActor, Task> call, TransactionMode mode, Action<Touches>? touches,
        CallOptions? options)
        where TActor : class, ITransactionalActor
    {
        ArgumentNullException.ThrowIfNull(call);
        using var writer = PooledWriter.Rent();
        writer.Json.WriteStartObject();
        var capture = new RootCapture(writer.Json, JsonSerializerOptions.Web);
        capture.Check(call(ActorProxies.Create<TActor>(capture, type, id)));
        writer.Json.WriteEndObject();
        using var written = JsonDocument.Parse(writer.ToBytes());
        Touches? access = null;
        if (mode == TransactionMode.Pact)
        {
            access = new Touches(type, id);
            touches?.Invoke(access);
        }

        return new TransactionRequestMessage
        {
            Actor = new ActorKey(type, id),
            Method = capture.Method,
            Input = written.RootElement.TryGetProperty("input", out var input)
                ? JsonSerializer.SerializeToUtf8Bytes(input)
                : default(ReadOnlyMemory<byte>),
            Mode = mode,
            AccessMode = options?.AccessMode ?? AccessMode.Strict,
            Access = access?.Calls,
            Id = options?.Id,
            Timeout = options?.Timeout,
        };
    }
}
