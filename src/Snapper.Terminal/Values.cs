using System.Globalization;

namespace Snapper.Terminal;

/// <summary>Readers of values. What is wrong is a <see cref="UsageException"/> that begins with "must be".</summary>
public static class Values
{
    /// <summary>Digits only.</summary>
    public static Func<string, int> Whole(int least, int most)
    {
        var read = Long(least, most);
        return text => (int)read(text);
    }

    /// <summary>Digits only.</summary>
    public static Func<string, long> Long(long least, long most) => text =>
        long.TryParse(text, NumberStyles.None, CultureInfo.InvariantCulture, out var number)
        && number >= least && number <= most
            ? number
            : throw new UsageException($"must be a whole number from {least} to {most}");

    /// <summary>Digits with or without a point.</summary>
    public static Func<string, double> Number(double least, double most) => text =>
        double.TryParse(text, NumberStyles.AllowDecimalPoint, CultureInfo.InvariantCulture, out var number)
        && number >= least && number <= most
            ? number
            : throw new UsageException(string.Create(
                CultureInfo.InvariantCulture, $"must be a number from {least} to {most}"));

    /// <summary>One of some words.</summary>
    public static Func<string, string> Word(params string[] words) => text =>
        words.Contains(text) ? text : throw new UsageException($"must be {string.Join(" or ", words)}");

    /// <summary>Parts between commas, each read by <paramref name="read"/>.</summary>
    public static Func<string, T[]> List<T>(Func<string, T> read) => text =>
        [.. text.Split(',', StringSplitOptions.RemoveEmptyEntries | StringSplitOptions.TrimEntries).Select(read)];

    /// <summary>An absolute address, <c>http</c> or <c>https</c>.</summary>
    public static Uri Address(string text) =>
        Uri.TryCreate(text, UriKind.Absolute, out var address) && address.Scheme is "http" or "https"
            ? address
            : throw new UsageException("must be an address such as http://127.0.0.1:5101");

    /// <summary>A time such as <c>30</c>, <c>30s</c>, <c>2m</c>, <c>1h</c> or <c>500ms</c>.</summary>
    public static Func<string, TimeSpan> Time(TimeSpan least, TimeSpan most) => text =>
    {
        var digits = text.AsSpan().TrimEnd("hms");
        double? unit = text[digits.Length..] switch
        {
            "" or "s" => 1, "ms" => 0.001, "m" => 60, "h" => 3600, _ => null,
        };
        return unit is { } seconds
            && double.TryParse(digits, NumberStyles.AllowDecimalPoint, CultureInfo.InvariantCulture, out var number)
            && number * seconds >= least.TotalSeconds && number * seconds <= most.TotalSeconds
                ? TimeSpan.FromSeconds(number * seconds)
                : throw new UsageException(string.Create(
                    CultureInfo.InvariantCulture,
                    $"must be a time such as 30, 30s, 2m or 500ms, {least.TotalSeconds} to {most.TotalSeconds} s"));
    };
}
