using System.Globalization;

namespace Snapper.Dashboard.Parts;

/// <summary>Figures and times as people read them.</summary>
public static class Fmt
{
    private static readonly CultureInfo s_culture = CultureInfo.InvariantCulture;

    /// <summary>About three digits: 0.42, 8.1, 17, 1,234, 12.3 k.</summary>
    public static string Number(double? value) => value switch
    {
        null => "–",
        0 => "0",
        { } v when Math.Abs(v) >= 1_000_000 => (v / 1_000_000).ToString("0.0#", s_culture) + " M",
        { } v when Math.Abs(v) >= 10_000 => (v / 1000).ToString("0.#", s_culture) + " k",
        { } v when Math.Abs(v) >= 100 => v.ToString("#,0", s_culture),
        { } v when Math.Abs(v) >= 10 => v.ToString("0.#", s_culture),
        { } v => v.ToString("0.##", s_culture),
    };

    /// <summary>All digits.</summary>
    public static string Whole(long? value) => value is { } number ? number.ToString("#,0", s_culture) : "–";

    /// <summary>Number of a transaction, a batch or a process: a name, so its digits are not in groups.</summary>
    public static string Id(long value) => value.ToString(s_culture);

    /// <summary>The last digits of a long number, where there is little room and its neighbours share the first ones.</summary>
    public static string ShortId(long value) => value >= 1_000_000_000 ? "…" + (value % 10_000_000).ToString("0000000", s_culture) : Id(value);

    /// <summary>At most <paramref name="letters"/> letters: the middle is left out, as names of one kind share their beginning and differ at their end.</summary>
    public static string Middle(string text, int letters)
    {
        if (letters < 3 || text.Length <= letters) return text;
        var end = (letters - 1) / 2;
        return string.Concat(text.AsSpan(0, letters - 1 - end), "…", text.AsSpan(text.Length - end));
    }

    /// <summary>A duration.</summary>
    public static string Ms(double? value) => value switch
    {
        null => "–",
        { } v when Math.Abs(v) >= 100_000 => Span(TimeSpan.FromMilliseconds(v)),
        { } v when Math.Abs(v) >= 1000 => (v / 1000).ToString("0.##", s_culture) + " s",
        { } v when Math.Abs(v) >= 1 || v == 0 => Number(v) + " ms",
        { } v => (v * 1000).ToString("0", s_culture) + " µs",
    };

    /// <summary>A long duration: 3 d 4 h, 5 min 6 s.</summary>
    public static string Span(TimeSpan span) => span switch
    {
        { TotalDays: >= 1 } => $"{(int)span.TotalDays} d {span.Hours} h",
        { TotalHours: >= 1 } => $"{span.Hours} h {span.Minutes} min",
        { TotalMinutes: >= 1 } => $"{span.Minutes} min {span.Seconds} s",
        _ => $"{span.Seconds} s",
    };

    /// <summary>12:31:05 in UTC.</summary>
    public static string Time(DateTimeOffset? at) => at is { } time ? time.UtcDateTime.ToString("HH:mm:ss", s_culture) : "–";

    /// <summary>12:31:05 in UTC, of unix milliseconds.</summary>
    public static string Time(double atMs) => Time(At(atMs));

    /// <summary>12:31:05.123 in UTC, of unix milliseconds.</summary>
    public static string TimeMs(double? atMs) => atMs is { } ms ? At(ms).UtcDateTime.ToString("HH:mm:ss.fff", s_culture) : "–";

    /// <summary>The moment that unix milliseconds mean.</summary>
    public static DateTimeOffset At(double atMs) => DateTimeOffset.UnixEpoch.AddMilliseconds(Math.Clamp(atMs, 0, 200_000_000_000_000));

    /// <summary>Bytes in KiB, MiB or GiB.</summary>
    public static string Bytes(double? bytes) => bytes switch
    {
        null => "–",
        { } b when b >= 1L << 30 => (b / (1L << 30)).ToString("0.00", s_culture) + " GiB",
        { } b when b >= 1L << 20 => (b / (1L << 20)).ToString("0.#", s_culture) + " MiB",
        { } b => (b / 1024).ToString("0.#", s_culture) + " KiB",
    };

    /// <summary>Every transaction is sampled; one transaction in 16 is sampled.</summary>
    public static string Sampled(int oneIn) => oneIn <= 1 ? "Every transaction is noted" : $"One transaction in {oneIn.ToString(s_culture)} is noted";

    /// <summary>1 worker, 2 workers.</summary>
    public static string Count(long number, string noun) => $"{Whole(number)} {noun}{(number == 1 ? "" : "s")}";

    /// <summary>A share of the whole in CSS or SVG: 12.345.</summary>
    public static string Css(double value) => (double.IsFinite(value) ? value : 0).ToString("0.###", s_culture);

    /// <summary>Address of an actor's page.</summary>
    public static string ActorLink(string actor)
    {
        var parts = actor.Split('/', 2);
        return $"/actor?type={Uri.EscapeDataString(parts[0])}&id={Uri.EscapeDataString(parts[^1])}";
    }

    /// <summary>Address of a request's page.</summary>
    public static string TransactionLink(string request) => $"/transactions?id={Uri.EscapeDataString(request)}";
}
