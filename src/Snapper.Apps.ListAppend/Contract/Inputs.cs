using System.Text.Json.Serialization;

namespace Snapper.Apps.ListAppend.Contract;

/// <summary><c>{"value": 3}</c></summary>
/// <param name="Value">Checkers use each value once per key; the actor does not ask for it.</param>
public sealed record AppendInput([property: JsonRequired] long Value);

/// <summary>What <c>Execute</c> is to do.</summary>
/// <param name="Ops">The operations, in order.</param>
/// <param name="Parallel">All operations are started at once; those on one key still run in order.</param>
/// <param name="Abort">Abort after the last operation; the abort's message tells what the operations saw, as far as it has room for it.</param>
/// <param name="DelayMs">Milliseconds to wait before the first operation; 0 or more.</param>
public sealed record ExecuteInput(
    [property: JsonRequired] IReadOnlyList<Operation> Ops, bool Parallel = false, bool Abort = false, int DelayMs = 0);

/// <summary><c>{"f": "append", "key": "k7", "value": 3}</c> or <c>{"f": "r", "key": "k9"}</c></summary>
/// <param name="F"><see cref="Append"/> or <see cref="Read"/>.</param>
/// <param name="Key">Id of the actor that holds the list.</param>
/// <param name="Value">What to append; null for a read.</param>
public sealed record Operation([property: JsonRequired] string F, [property: JsonRequired] string Key, long? Value = null)
{
    /// <summary>Name of the append.</summary>
    public const string Append = "append";

    /// <summary>Name of the read.</summary>
    public const string Read = "r";
}
