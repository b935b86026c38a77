namespace Snapper.Simulation.Core;

/// <summary>A simulated process: what it waits for comes late while it is paused, and never once it is dead.</summary>
internal sealed class ProcessScope
{
    public bool IsDead { get; private set; }

    public bool IsPaused { get; set; }

    /// <summary>What came while it was paused, in order.</summary>
    public Queue<Action> Missed { get; } = new();

    public void Kill()
    {
        IsDead = true;
        Missed.Clear();
    }
}
