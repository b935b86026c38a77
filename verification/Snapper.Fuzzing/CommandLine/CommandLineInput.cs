using System.Text;
using Snapper.Fuzzing.Engine;

namespace Snapper.Fuzzing.CommandLine;

/// <summary>An input of the targets that read command lines.</summary>
internal sealed record CommandLineInput(string Command, IReadOnlyList<string> Arguments, IReadOnlyDictionary<string, string> Environment, IReadOnlyDictionary<string, string> Settings)
{
    private static readonly string[] Options =
    [
        "--name", "--listen-port", "--sidecar-port", "--sidecar", "--log", "--redis", "--log-place", "--data", "--fsync", "--run-state", "--watch-parent", "--workers", "--embedded", "--base-port", "--dashboard-port", "--accept-lost-log", "--stay", "--seconds", "--accounts", "--", "-", "--nope",
    ];

    private static readonly string[] Variables = ["SNAPPER_REDIS", "SNAPPER_REDIS_PASSWORD", "SNAPPER_REDIS_PASSWORD_FILE", "SNAPPER_NAME", "SNAPPER_LISTEN_PORT", "SNAPPER_LOG", "SNAPPER_DATA", "SNAPPER_FSYNC", "SNAPPER_SIDECAR", "DAPR_API_TOKEN", "APP_API_TOKEN"];

    private static readonly string[] Keys =
    [
        "Executors", "Coordinators", "TransactionsPerBatch", "OpenBatches", "TurnBound", "MaxCallDepth", "MaxStateBytes", "MaxResultBytes", "MaxTransactionBytes", "MaxInFlight", "IdempotencyWindow", "FirstBackOff", "IdleActorTimeout",
        "MaxActorBytes", "LoadsAhead", "CallerTimeShare",
    ];

    private static readonly string[] Values =
    [
        "w1", "file", "redis", "daprd", "embedded", "always", "everysec", "127.0.0.1:6379", "[::1]:6379", "redis://u:p@h:1", "redis://", "redis://%zz@h:1", "h", ":1", "h:", "h:0", "h:65536", "a:b:c", "00:00:01", "1.00:00:00", "-00:00:01", "99999999.00:00:00", "http://x", "*", ";;", "true",
    ];

    /// <summary>Reads one; the characters that no process can be given are left out.</summary>
    public static CommandLineInput Read(byte[] input)
    {
        var lines = Encoding.UTF8.GetString(input).Replace("\0", "", StringComparison.Ordinal).Split('\n').Select(line => line.TrimEnd('\r')).ToList();
        var (environment, settings, arguments) = (new Dictionary<string, string>(), new Dictionary<string, string>(StringComparer.OrdinalIgnoreCase), new List<string>());
        foreach (var line in lines.Skip(1))
        {
            var pair = line.Length > 4 ? line[4..].Split('=', 2) : [];
            if (pair.Length == 2 && pair[0].Length > 0 && line.StartsWith("env ", StringComparison.Ordinal))
            {
                environment[pair[0]] = pair[1];
            }
            else if (pair.Length == 2 && pair[0].Length > 0 && line.StartsWith("set ", StringComparison.Ordinal))
            {
                settings[pair[0]] = pair[1];
            }
            else if (line.Length > 0)
            {
                arguments.Add(line);
            }
        }

        return new CommandLineInput(lines[0], arguments, environment, settings);
    }

    public static byte[] Generate(Random random)
    {
        var text = random.One("worker", "worker", "up", "demo");
        for (var count = random.Next(6); count > 0; count--)
        {
            text += "\n" + Line(random);
        }

        return Pieces.Bytes(text);
    }

    public static byte[] Mutate(byte[] input, byte[] other, Random random)
    {
        var lines = Encoding.UTF8.GetString(input).Split('\n').ToList();
        switch (random.Next(4))
        {
            case 0: return Pieces.Break(input, other, random, Math.Min(input.Length, lines[0].Length));
            case 1 when lines.Count > 1: lines[random.Next(1, lines.Count)] = Line(random); break;
            case 2 when lines.Count > 1: lines.RemoveAt(random.Next(1, lines.Count)); break;
            default: lines.Insert(random.Next(1, lines.Count + 1), Line(random)); break;
        }

        return Pieces.Bytes(string.Join('\n', lines));
    }

    private static string Line(Random random) => random.Next(8) switch
    {
        0 => $"env {random.One(Variables)}={Value(random)}",
        1 => $"set Snapper:Worker:{random.One(Keys)}={Value(random)}",
        2 => $"set Snapper:{random.One("SmallBank:InitialBalance", "Http:AllowedHosts", "Http:AllowedOrigins")}={Value(random)}",
        3 => Value(random),
        4 => $"{random.One(Options)}={Value(random)}",
        _ => $"{random.One(Options)}\n{Value(random)}",
    };

    private static string Value(Random random) => random.Next(3) switch { 0 => Pieces.Number(random), 1 => Pieces.Word(random), _ => random.One(Values) };
}
