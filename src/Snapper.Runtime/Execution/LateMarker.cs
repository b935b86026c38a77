using Snapper.Storage.Log.Records;

namespace Snapper.Runtime.Execution;

/// <summary>
/// A marker that gives versions to committed changes of an actor whose place in the store was damaged when the log was
/// read (R4). No transaction waits for it.
/// </summary>
/// <param name="Marker">The record.</param>
internal sealed record LateMarker(LogRecord Marker);
