namespace Snapper.Simulation.Core;

/// <summary>A simulated process: what it waits for comes late while it is paused, and never once it is dead.</summary>
internal sealed class ProcessScope
{
    private readonly Queue<Action> _missed = new();

    public bool IsDead { get; private set; }

    public bool IsPaused { get; private set; }

    /// <summary>Does something in the process now, or when it goes on.</summary>
    public void Do(Action action)
    {
        if (IsDead)
        {
            return;
        }

        if (IsPaused)
        {
            _missed.Enqueue(action);
            return;
        }

        action();
    }

    /// <summary>It stands still.</summary>
    public void Pause() => IsPaused = true;

    /// <summary>It goes on as if nothing had been: what came meanwhile is done in order, until it stands still again.</summary>
    public void GoOn()
    {
        IsPaused = false;
        while (!IsPaused && !IsDead && _missed.TryDequeue(out var missed))
        {
            missed();
        }
    }

    public void Kill()
    {
        IsDead = true;
        _missed.Clear();
    }
}
