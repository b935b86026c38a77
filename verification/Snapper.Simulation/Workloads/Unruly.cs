using System.Runtime.CompilerServices;

namespace Snapper.Simulation.Workloads;

/// <summary>
/// States whose writing as JSON fails. A side table: their types stay what they are, immutable or not.
/// </summary>
internal static class Unruly
{
    private static readonly ConditionalWeakTable<object, Writings> s_spoiled = [];

    /// <summary>Spoils a state that no other attempt has.</summary>
    /// <param name="state">The state.</param>
    /// <param name="writing">The writing that fails, from 1; 0: all do.</param>
    public static void Spoil(object state, int writing) => s_spoiled.AddOrUpdate(state, new Writings(writing));

    /// <summary>A state is being written.</summary>
    /// <returns>0, always.</returns>
    /// <exception cref="MuteException">This writing fails.</exception>
    public static int Written(object state)
    {
        if (!s_spoiled.TryGetValue(state, out var left) || left.Value < 0 || (left.Value > 0 && --left.Value > 0))
        {
            return 0;
        }

        left.Value = left.IsAlways ? 0 : -1;
        throw new MuteException();
    }

    private sealed class Writings(int fails)
    {
        public bool IsAlways { get; } = fails == 0;

        public int Value { get; set; } = fails;
    }
}

/// <summary>An exception that throws whatever it is asked.</summary>
public sealed class MuteException : Exception
{
    /// <inheritdoc/>
    public override string Message => throw new InvalidOperationException("scripted, in a message");

    /// <inheritdoc/>
    public override string ToString() => throw new InvalidOperationException("scripted, in a description");
}
