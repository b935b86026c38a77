namespace Snapper.Simulation.Core;

/// <summary>One thread, one seed, one virtual time: where everything that happens later is put in its order.</summary>
internal interface ISimulation
{
    /// <summary>Virtual time in ticks of 100 ns.</summary>
    long Now { get; }

    /// <summary>What clocks show at the beginning, in ticks behind the full minute.</summary>
    long ClockOffset { get; }

    /// <summary>Decides the order of what happens at once.</summary>
    SeededChance Chance { get; }

    /// <summary>Does something later, in a process or (null) between them.</summary>
    void After(long ticks, ProcessScope? scope, Action action);
}
