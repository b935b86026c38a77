using System.Diagnostics;

namespace Snapper.Scenarios.Changes;

/// <summary>What part of a run an arrival falls into.</summary>
public enum Window
{
    /// <summary>Nothing has been changed yet.</summary>
    Before,

    /// <summary>What the change needs is being made ready: workers start.</summary>
    Preparing,

    /// <summary>The change is under way.</summary>
    During,

    /// <summary>It is over.</summary>
    After,
}

/// <summary>Something that happened, for the time axis.</summary>
/// <param name="AtSeconds">Since the measured time began.</param>
/// <param name="Text">What.</param>
public sealed record Mark(double AtSeconds, string Text);

/// <summary>A stretch of time in which the system was being changed.</summary>
/// <param name="Name">What was done.</param>
/// <param name="FromSeconds">Since the measured time began.</param>
/// <param name="ToSeconds">The same; above <paramref name="FromSeconds"/>.</param>
public sealed record Band(string Name, double FromSeconds, double ToSeconds);

/// <summary>The clock of a run, and what happened on it. Thread-safe.</summary>
public sealed class RunLog
{
    private readonly Lock _gate = new();
    private readonly List<Mark> _marks = [];
    private readonly List<Band> _bands = [];
    private readonly Action<string> _say;
    private (string Name, double From)? _open;
    private volatile int _window;
    private long _origin;
    private DateTimeOffset _wall;

    /// <param name="say">Hears of each mark; null: nobody does.</param>
    public RunLog(Action<string>? say = null)
    {
        _say = say ?? (static _ => { });
        Begin(Stopwatch.GetTimestamp());
    }

    /// <summary>When the measured time began or begins, in ticks of <see cref="Stopwatch"/>.</summary>
    public long Origin => Volatile.Read(ref _origin);

    /// <summary>Now, in seconds since the measured time began; below 0 in the warm-up.</summary>
    public double Now => Seconds(Stopwatch.GetTimestamp());

    /// <summary>The part of the run that is now.</summary>
    public Window Window
    {
        get => (Window)_window;
        set => _window = (int)value;
    }

    /// <summary>All marks, in order of time.</summary>
    public IReadOnlyList<Mark> Marks
    {
        get
        {
            lock (_gate)
            {
                return [.. _marks.OrderBy(static mark => mark.AtSeconds)];
            }
        }
    }

    /// <summary>All changes that were made, in order.</summary>
    public IReadOnlyList<Band> Bands
    {
        get
        {
            lock (_gate)
            {
                return [.. _bands];
            }
        }
    }

    /// <summary>Sets the clock.</summary>
    /// <param name="origin">When the measured time begins, in ticks of <see cref="Stopwatch"/>.</param>
    public void Begin(long origin)
    {
        Volatile.Write(ref _origin, origin);
        _wall = DateTimeOffset.UtcNow - Stopwatch.GetElapsedTime(origin);
    }

    /// <summary>A moment in seconds since the measured time began.</summary>
    public double Seconds(long timestamp) => (timestamp - Origin) / (double)Stopwatch.Frequency;

    /// <summary>Notes that something happens now.</summary>
    public void Note(string text) => Note(Now, text);

    /// <summary>Notes that something happened.</summary>
    /// <param name="atSeconds">Since the measured time began.</param>
    /// <param name="text">What.</param>
    public void Note(double atSeconds, string text)
    {
        lock (_gate)
        {
            _marks.Add(new Mark(atSeconds, text));
        }

        _say(text);
    }

    /// <summary>Notes that something happened by the clock of this machine.</summary>
    public void Note(DateTimeOffset at, string text) => Note((at - _wall).TotalSeconds, text);

    /// <summary>The change begins now.</summary>
    public void BeginChange(string name)
    {
        Window = Window.During;
        lock (_gate)
        {
            _open = (name, Now);
        }

        Note(name + " begins");
    }

    /// <summary>The change is over now.</summary>
    public void EndChange()
    {
        string name;
        lock (_gate)
        {
            var (what, from) = _open ?? throw new InvalidOperationException("No change has begun.");
            name = what;
            _bands.Add(new Band(what, from, Math.Max(Now, from + 0.001)));
            _open = null;
        }

        Window = Window.After;
        Note(name + " is over");
    }
}
