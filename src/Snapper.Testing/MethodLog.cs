using System.Text.Json;

namespace Snapper.Testing;

/// <summary>What one run of a method saw and did.</summary>
/// <param name="stateType">Of its actor.</param>
internal sealed class MethodLog(Type stateType)
{
    private object? _left;

    /// <summary>
    /// States that it was given, as JSON, in the order in which it asked; null: none was ever written.
    /// </summary>
    public List<byte[]?> Reads { get; } = [];

    /// <summary>Calls that it made, in their order.</summary>
    public List<(string What, Task Answer)> Calls { get; } = [];

    /// <summary>Ids that it was given.</summary>
    public List<Guid> Ids { get; } = [];

    /// <summary>The state that it left, as JSON; null: it asked for no change.</summary>
    public byte[]? Left { get; private set; }

    /// <summary>A state as JSON.</summary>
    public byte[]? Write(object? state) =>
        state is null ? null : JsonSerializer.SerializeToUtf8Bytes(state, stateType, TwiceActor.Json);

    /// <summary>A state from JSON.</summary>
    public object? Read(byte[]? json) =>
        json is null ? null : JsonSerializer.Deserialize(json, stateType, TwiceActor.Json);

    /// <summary>The object that is its state from now on; one that it may change in place, too.</summary>
    public void Leave(object? state) => _left = state ?? _left;

    /// <summary>It has ended.</summary>
    public void Close() => Left = Write(_left);

    /// <summary>A call by its name and its input.</summary>
    public static string Name<TInput>(string actorType, string actorId, string method, TInput input) =>
        $"{actorType}/{actorId}.{method}({JsonSerializer.Serialize(input, TwiceActor.Json)})";
}
