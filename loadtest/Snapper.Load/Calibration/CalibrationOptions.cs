namespace Snapper.Load.Calibration;

/// <summary>How this program measures itself.</summary>
internal sealed record CalibrationOptions
{
    /// <summary>Of each of its two parts.</summary>
    public TimeSpan Duration { get; init; } = TimeSpan.FromSeconds(10);

    /// <summary>Requests at once.</summary>
    public int Connections { get; init; } = 64;
}
