using System.Collections.Immutable;
using System.Text.Json.Serialization;

namespace Snapper.Apps.ListAppend.Contract;

/// <summary>What <c>Execute</c> did.</summary>
/// <param name="Ops">The operations in the order of the input.</param>
public sealed record ExecuteResult(IReadOnlyList<OperationResult> Ops);

/// <summary><c>{"f": "append", "key": "k7", "value": 3}</c> or <c>{"f": "r", "key": "k9", "value": [1, 2]}</c></summary>
/// <param name="F">As in the operation.</param>
/// <param name="Key">As in the operation.</param>
/// <param name="Appended">Of an append: the value. Null for a read.</param>
/// <param name="Seen">Of a read: the list, this transaction's own earlier appends included. Null for an append.</param>
[JsonConverter(typeof(OperationResultConverter))]
public sealed record OperationResult(string F, string Key, long? Appended, ImmutableList<long>? Seen);
