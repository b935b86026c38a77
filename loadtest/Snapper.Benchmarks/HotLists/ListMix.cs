using Snapper.Runtime.Door;

namespace Snapper.Benchmarks.HotLists;

/// <summary>Which transactions of a load are PACTs. Thread-safe.</summary>
public sealed class ListMix
{
    private readonly Func<int, TransactionMode> _mode;
    private int _count;

    private ListMix(string name, bool hasActs, Func<int, TransactionMode> mode)
    {
        Name = name;
        HasActs = hasActs;
        _mode = mode;
    }

    /// <summary>All.</summary>
    public static ListMix Pacts => new("PACT", false, static _ => TransactionMode.Pact);

    /// <summary>None.</summary>
    public static ListMix Acts => new("ACT", true, static _ => TransactionMode.Act);

    /// <summary>Every other one.</summary>
    public static ListMix Mixed => new(
        "PACT and ACT mixed", true, static count => count % 2 == 0 ? TransactionMode.Pact : TransactionMode.Act);

    /// <summary>What the tables call it.</summary>
    public string Name { get; }

    /// <summary>Conflicts may abort some.</summary>
    public bool HasActs { get; }

    /// <summary>How the next one runs.</summary>
    public TransactionMode Next() => _mode(Interlocked.Increment(ref _count) & int.MaxValue);
}
