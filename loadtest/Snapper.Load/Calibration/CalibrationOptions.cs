namespace Snapper.Load.Calibration;

/// <summary>How this program measures itself.</summary>
internal sealed record CalibrationOptions
{
    /// <summary>Of each of its two parts.</summary>
    public TimeSpan Duration { get; init; } = TimeSpan.FromSeconds(10);

    /// <summary>Requests at once.</summary>
    public int Connections { get; init; } = 64;

    /// <exception cref="OptionsException">It is wrong.</exception>
    public static CalibrationOptions Parse(IReadOnlyList<string> arguments)
    {
        var options = new CalibrationOptions();
        for (var i = 0; i < arguments.Count; i++)
        {
            if (i + 1 == arguments.Count)
            {
                throw new OptionsException($"{arguments[i]} is unknown or needs a value.");
            }

            options = arguments[i] switch
            {
                "--duration" => options with { Duration = Values.Time(arguments[i], arguments[++i], TimeSpan.FromSeconds(1), TimeSpan.FromMinutes(10)) },
                "--connections" => options with { Connections = (int)Values.Whole(arguments[i], arguments[++i], 1, 256) },
                _ => throw new OptionsException($"'load --calibrate' has no option '{arguments[i]}'."),
            };
        }

        return options;
    }
}
