namespace Snapper.Storage.States;

/// <summary>How much of its memory a store uses.</summary>
/// <param name="UsedBytes">What counts against the limit.</param>
/// <param name="MaxBytes">The limit; 0: it has none.</param>
public readonly record struct StoreMemory(long UsedBytes, long MaxBytes);
