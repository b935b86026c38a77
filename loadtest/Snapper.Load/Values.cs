using System.Globalization;
using Snapper.Scenarios.Measures;

namespace Snapper.Load;

/// <summary>Values of the command line, each checked, each error naming the option.</summary>
internal static class Values
{
    public static double Number(string name, string text, double least, double most) =>
        double.TryParse(text, NumberStyles.AllowDecimalPoint, CultureInfo.InvariantCulture, out var number) && number >= least && number <= most
            ? number
            : throw new OptionsException(string.Create(CultureInfo.InvariantCulture, $"{name} must be a number from {least} to {most}, not '{text}'."));

    public static long Whole(string name, string text, long least, long most) =>
        long.TryParse(text, NumberStyles.None, CultureInfo.InvariantCulture, out var number) && number >= least && number <= most
            ? number
            : throw new OptionsException(string.Create(CultureInfo.InvariantCulture, $"{name} must be a whole number from {least} to {most}, not '{text}'."));

    /// <summary>30, 30s, 2m, 1h or 500ms.</summary>
    public static TimeSpan Time(string name, string text, TimeSpan least, TimeSpan most)
    {
        var digits = text.AsSpan().TrimEnd("hms");
        double? unit = text[digits.Length..] switch
        {
            "" or "s" => 1,
            "ms" => 0.001,
            "m" => 60,
            "h" => 3600,
            _ => null,
        };
        if (unit is { } seconds && double.TryParse(digits, NumberStyles.AllowDecimalPoint, CultureInfo.InvariantCulture, out var number)
            && number * seconds >= least.TotalSeconds && number * seconds <= most.TotalSeconds)
        {
            return TimeSpan.FromSeconds(number * seconds);
        }

        throw new OptionsException(string.Create(CultureInfo.InvariantCulture, $"{name} must be a time such as 30, 30s, 2m or 500ms, {least.TotalSeconds} to {most.TotalSeconds} s, not '{text}'."));
    }

    public static T Word<T>(string name, string text)
        where T : struct, Enum =>
        Enum.GetNames<T>().FirstOrDefault(word => word.Equals(text, StringComparison.OrdinalIgnoreCase)) is { } found
            ? Enum.Parse<T>(found)
            : throw new OptionsException($"{name} must be {string.Join(" or ", Enum.GetNames<T>().Select(static word => word.ToLowerInvariant()))}, not '{text}'.");

    public static Uri Address(string name, string text) =>
        Uri.TryCreate(text, UriKind.Absolute, out var address) && address.Scheme is "http" or "https"
            ? address
            : throw new OptionsException($"{name} must be an address such as http://127.0.0.1:5101, not '{text}'.");

    public static Threshold Bound(string text)
    {
        try
        {
            return Threshold.Parse(text);
        }
        catch (FormatException wrong)
        {
            throw new OptionsException(wrong.Message);
        }
    }
}
