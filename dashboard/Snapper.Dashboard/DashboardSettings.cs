using System.Globalization;

namespace Snapper.Dashboard;

/// <summary>What the dashboard is told when it starts.</summary>
/// <param name="Workers">Base addresses of workers, without a slash at the end; at least one. Others are found through them.</param>
/// <param name="Token">Bearer token of the dashboard itself, a viewer's; null: it has none.</param>
/// <param name="Port">1 to 65535, or 0: any free one.</param>
/// <param name="BeyondLoopback">Listen on all addresses instead of 127.0.0.1.</param>
/// <param name="ParentPid">End when this process ends; 0: nobody's child.</param>
public sealed record DashboardSettings(IReadOnlyList<Uri> Workers, string? Token, int Port, bool BeyondLoopback, int ParentPid)
{
    private const string OriginsVariable = "SNAPPER_DASHBOARD_ORIGINS";
    private const string ConnectionsVariable = "SNAPPER_DASHBOARD_CONNECTIONS";
    private const string PagesVariable = "SNAPPER_DASHBOARD_PAGES";
    private const int ConnectionsUnset = 4096;
    private const int PagesUnset = 256;

    /// <summary>Most connections at once, 1 to 100,000, beside those of open pages; further ones are closed at once.</summary>
    public int ConnectionsMax { get; init; } = ConnectionsUnset;

    /// <summary>A new connection on which nothing is sent is closed after this time, and one whose request's headers do not end. Default: 10 s.</summary>
    public TimeSpan SilenceMax { get; init; } = TimeSpan.FromSeconds(10);

    /// <summary>
    /// A connection on which nothing more is asked for is closed after this time, so that whoever makes thousands, asks once on each and holds them does not keep others out. The WebSockets of open
    /// pages stay. Default: 15 s.
    /// </summary>
    public TimeSpan IdleMax { get; init; } = TimeSpan.FromSeconds(15);

    /// <summary>Most WebSockets at once, one for each open page, 1 to 100,000; the browser of a page that is refused one polls.</summary>
    public int PagesMax { get; init; } = PagesUnset;

    /// <summary>
    /// A page that is drawn before its browser is connected waits this long for workers, which answer within milliseconds; after that it shows what is known. Default: 400 ms.
    /// </summary>
    public TimeSpan FirstAnswersMax { get; init; } = TimeSpan.FromMilliseconds(400);

    /// <summary>
    /// The code of all pages runs once before the dashboard is ready. A process that starts many dashboards needs
    /// it once. Default: true.
    /// </summary>
    public bool WarmsUp { get; init; } = true;

    /// <summary>How browsers see it, where something stands before it, a proxy that speaks TLS, say: <c>https://snapper.example</c>. Besides its own address.</summary>
    public IReadOnlyList<Uri> Origins { get; init; } = [];

    /// <summary>Browsers reach it by TLS.</summary>
    public bool IsBehindTls => Origins.Any(origin => origin.Scheme == Uri.UriSchemeHttps);

    private const string Usage = "usage: Snapper.Dashboard [--port PORT] [--workers URL[,URL...]] [--watch-parent PID]";

    /// <summary>Reads command line and environment; the command line wins.</summary>
    /// <exception cref="FormatException">Something is wrong; the message says what.</exception>
    public static DashboardSettings Read(IReadOnlyList<string> arguments, Func<string, string?> environment)
    {
        var given = new Dictionary<string, string>(StringComparer.Ordinal);
        for (var i = 0; i < arguments.Count; i += 2)
        {
            if (arguments[i] is not ("--port" or "--workers" or "--watch-parent")) throw new FormatException($"unknown argument '{arguments[i]}'; {Usage}");
            if (i + 1 == arguments.Count) throw new FormatException($"{arguments[i]} needs a value; {Usage}");
            if (!given.TryAdd(arguments[i], arguments[i + 1])) throw new FormatException($"{arguments[i]} is given twice");
        }

        var ports = environment("ASPNETCORE_HTTP_PORTS");
        var beyond = !given.ContainsKey("--port") && !string.IsNullOrEmpty(ports);
        var port = given.TryGetValue("--port", out var own) ? Number(own, "--port", 65535)
            : beyond ? Number(ports!, "ASPNETCORE_HTTP_PORTS", 65535)
            : 8080;
        var parent = given.TryGetValue("--watch-parent", out var pid) ? Number(pid, "--watch-parent", int.MaxValue) : 0;
        var named = given.GetValueOrDefault("--workers") ?? environment("SNAPPER_DASHBOARD_WORKERS");
        var workers = Addresses("SNAPPER_DASHBOARD_WORKERS", string.IsNullOrEmpty(named) ? "http://127.0.0.1:5101" : named, "of a worker, such as http://127.0.0.1:5101");
        if (workers.Count == 0) throw new FormatException("SNAPPER_DASHBOARD_WORKERS names no worker");
        return new DashboardSettings(workers, Set(environment("SNAPPER_TOKEN")), port, beyond, parent)
        {
            ConnectionsMax = Most(environment, ConnectionsVariable, ConnectionsUnset),
            PagesMax = Most(environment, PagesVariable, PagesUnset),
            Origins = Addresses(OriginsVariable, environment(OriginsVariable) ?? "", "at which browsers see the dashboard, such as https://snapper.example"),
        };
    }

    private static string? Set(string? value) => string.IsNullOrEmpty(value) ? null : value;

    private static int Number(string text, string name, int most) =>
        int.TryParse(text, NumberStyles.None, CultureInfo.InvariantCulture, out var number) && number <= most
            ? number
            : throw new FormatException($"{name} must be one whole number from 0 to {most}, not '{text}'");

    private static int Most(Func<string, string?> environment, string name, int unset) =>
        Set(environment(name)) is not { } text ? unset
        : int.TryParse(text, NumberStyles.None, CultureInfo.InvariantCulture, out var number) && number is >= 1 and <= 100_000 ? number
        : throw new FormatException($"{name} must be one whole number from 1 to 100000, not '{text}'");

    private static IReadOnlyList<Uri> Addresses(string variable, string text, string what)
    {
        var list = new List<Uri>();
        foreach (var one in text.Split(',', StringSplitOptions.TrimEntries | StringSplitOptions.RemoveEmptyEntries))
        {
            if (!Uri.TryCreate(one, UriKind.Absolute, out var uri) || uri.Scheme is not ("http" or "https") || uri.PathAndQuery != "/" || uri.UserInfo.Length > 0)
            {
                throw new FormatException($"{variable}: '{one}' is not the base address {what}");
            }

            list.Add(uri);
        }

        return list;
    }
}
