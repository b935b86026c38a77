namespace Snapper.Storage.Log;

/// <summary>
/// Fewer replicas have a write than must have it: it is done on the primary, and not acknowledged. The same again is
/// answered once they have it (L6).
/// </summary>
public sealed class TooFewReplicasException(string message) : IOException(message);
