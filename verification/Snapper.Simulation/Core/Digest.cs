namespace Snapper.Simulation.Core;

/// <summary>Hash over what a run showed (FNV-1a): equal for equal runs.</summary>
internal sealed class Digest
{
    private const ulong Prime = 1099511628211;

    /// <summary>The hash of what was added so far.</summary>
    public ulong Value { get; private set; } = 14695981039346656037;

    public void Add(ulong value) => Value = (Value ^ value) * Prime;

    public void Add(ReadOnlySpan<byte> bytes)
    {
        var value = Value;
        foreach (var b in bytes)
        {
            value = (value ^ b) * Prime;
        }

        Value = value;
    }
}
