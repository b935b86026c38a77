using System.Globalization;
using System.Text;
using System.Text.Json;
using System.Text.Json.Serialization.Metadata;
using Snapper.Actors.Generated;
using Snapper.Runtime.Json;

namespace Snapper.Runtime.Execution;

/// <summary>
/// Writes states of one actor type as JSON, and reads them, older versions too. The JSON of a class that numbers its
/// states carries the number as its first property; JSON without one is of version 1.
/// </summary>
internal sealed class StateCodec
{
    /// <summary>The number's property.</summary>
    public const string Property = "$stateVersion";

    private const int Unnumbered = 1;

    private readonly string _type;
    private readonly JsonTypeInfo _state;
    private readonly int _version;
    private readonly int _oldest;
    private readonly Step[] _steps; // from the oldest version on
    private readonly byte[]? _head; // null: the class numbers no versions, and writes none

    public StateCodec(ActorTypeDescriptor descriptor, JsonSerializerOptions json)
    {
        _type = descriptor.Type;
        _state = json.GetTypeInfo(descriptor.StateType);
        var evolution = descriptor.Evolution;
        _version = evolution?.Version ?? Unnumbered;
        _oldest = evolution?.Oldest ?? Unnumbered;
        _steps = [.. (evolution?.Upcasts ?? []).Select(upcast =>
            new Step(upcast, json.GetTypeInfo(upcast.Old), json.GetTypeInfo(upcast.Next)))];
        _head = evolution is null
            ? null
            : Encoding.UTF8.GetBytes(string.Create(CultureInfo.InvariantCulture, $"{{\"{Property}\":{_version}"));
        if (_oldest < 1 || _steps.Length != _version - _oldest
            || _steps.Where((step, i) => step.Upcast.From != _oldest + i).Any())
        {
            throw new ArgumentException(
                $"The state of {_type} has version {_version}: it needs a step from each version from {_oldest} on.",
                nameof(descriptor));
        }
    }

    /// <summary>The newest version, which it writes.</summary>
    public int Version => _version;

    public byte[] Encode(object state)
    {
        var json = JsonSerializer.SerializeToUtf8Bytes(state, _state);
        if (_head is null)
        {
            return json;
        }

        if (json[0] != '{')
        {
            throw new NotSupportedException("a state with a version is written as a JSON object");
        }

        var rest = json.AsSpan(1).TrimStart(" \r\n\t"u8);
        var isEmpty = rest[0] == '}';
        var numbered = new byte[_head.Length + (isEmpty ? 0 : 1) + rest.Length];
        _head.CopyTo(numbered, 0);
        if (!isEmpty)
        {
            numbered[_head.Length] = (byte)',';
        }

        rest.CopyTo(numbered.AsSpan(numbered.Length - rest.Length));
        return numbered;
    }

    /// <summary>The state, of the newest version.</summary>
    /// <exception cref="NewerStateException">It is of a version that this program does not know.</exception>
    /// <exception cref="JsonException">It does not fit its version's type.</exception>
    public object Decode(ReadOnlySpan<byte> json)
    {
        var (version, body) = Split(json);
        if (version > _version)
        {
            throw new NewerStateException(_type, version, _version);
        }

        if (version < _oldest)
        {
            throw new JsonException(string.Create(
                CultureInfo.InvariantCulture,
                $"it has version {version}, and the oldest that this program's {_type} still reads is {_oldest}"));
        }

        if (version == _version)
        {
            return JsonSerializer.Deserialize(body, _state) ?? throw new JsonException("The state is null.");
        }

        object? state = null;
        for (var i = version - _oldest; i < _steps.Length; i++)
        {
            var step = _steps[i];
            var old = state is null
                ? JsonSerializer.Deserialize(body, step.Old)
                : As(state, _steps[i - 1].Next, step.Old);
            state = step.Upcast.Run(old ?? throw new JsonException("The state is null.")) ?? throw new JsonException(
                string.Create(
                    CultureInfo.InvariantCulture, $"the step from version {step.Upcast.From} made null of it"));
        }

        return As(state!, _steps[^1].Next, _state)!;
    }

    /// <summary>Another object of the same content, of the newest version.</summary>
    public object Copy(object state) =>
        JsonSerializer.Deserialize(JsonSerializer.SerializeToUtf8Bytes(state, _state), _state)
        ?? throw new JsonException("The state is null.");

    /// <summary>What is wrong with the JSON of a state that a caller sent, in the caller's words.</summary>
    /// <param name="json">What was sent.</param>
    /// <param name="failure">What reading it threw.</param>
    public string WhyUnread(ReadOnlySpan<byte> json, Exception failure)
    {
        int version;
        byte[] body;
        try
        {
            (version, var rest) = Split(json);
            body = rest.ToArray();
        }
        catch (JsonException)
        {
            return _head is null ? InputProblem.Find(json, _state, failure) : failure.Words();
        }

        return version == _version
            ? InputProblem.Find(body, _state, failure)
            : string.Create(
                CultureInfo.InvariantCulture,
                $"it was read as version {version} of {_version}, as its \"{Property}\" says (missing: 1): ")
                + failure.Words();
    }

    private static object? As(object value, JsonTypeInfo made, JsonTypeInfo wanted) =>
        wanted.Type.IsInstanceOfType(value) ? value
        : JsonSerializer.Deserialize(JsonSerializer.SerializeToUtf8Bytes(value, made), wanted);

    // The number is first where this class has written it. In a state that a caller sent, or that was repaired by hand,
    // it may stand elsewhere: for a class that numbers its states it is searched there, too.
    private JsonAndVersion Split(ReadOnlySpan<byte> json)
    {
        var reader = new Utf8JsonReader(json, new JsonReaderOptions { MaxDepth = _state.Options.MaxDepth });
        if (!reader.Read() || reader.TokenType != JsonTokenType.StartObject)
        {
            return new JsonAndVersion(Unnumbered, json);
        }

        var isFirst = true;
        while (reader.Read() && reader.TokenType == JsonTokenType.PropertyName)
        {
            if (reader.ValueTextEquals(Property))
            {
                return new JsonAndVersion(Without(json, ref reader, isFirst, out var rest), rest);
            }

            if (_head is null)
            {
                break;
            }

            reader.Skip();
            isFirst = false;
        }

        return new JsonAndVersion(Unnumbered, json);
    }

    private static int Without(ReadOnlySpan<byte> json, scoped ref Utf8JsonReader reader, bool isFirst, out byte[] rest)
    {
        var name = (int)reader.TokenStartIndex;
        if (!reader.Read() || reader.TokenType != JsonTokenType.Number
            || !reader.TryGetInt32(out var version) || version < 1)
        {
            throw new JsonException($"its \"{Property}\" is not a number from 1 on");
        }

        var end = (int)reader.BytesConsumed;
        reader.Read();
        var next = (int)reader.TokenStartIndex;

        // A comma goes with it: the one behind it when it is the first, else the one before it, which stays blank.
        rest = json.ToArray();
        var until = isFirst && reader.TokenType == JsonTokenType.PropertyName ? next : end;
        rest.AsSpan(name, until - name).Fill((byte)' ');
        if (!isFirst)
        {
            rest[rest.AsSpan(0, name).LastIndexOf((byte)',')] = (byte)' ';
        }

        return version;
    }

    private readonly ref struct JsonAndVersion(int version, ReadOnlySpan<byte> json)
    {
        private readonly ReadOnlySpan<byte> _json = json;

        public void Deconstruct(out int of, out ReadOnlySpan<byte> body)
        {
            of = version;
            body = _json;
        }
    }

    private sealed record Step(StateUpcast Upcast, JsonTypeInfo Old, JsonTypeInfo Next);
}
