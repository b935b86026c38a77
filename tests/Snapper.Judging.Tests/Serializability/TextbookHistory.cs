using System.Text.Json;
using Snapper.Judging.Histories;
using Snapper.Judging.Serializability;

namespace Snapper.Judging.Tests.Serializability;

/// <summary>An anomaly that a textbook history has; transactions in any order.</summary>
public sealed record ExpectedAnomaly(AnomalyKind Kind, string? Pattern, IReadOnlyList<string> Transactions)
{
    public override string ToString() => $"{Kind}{(Pattern is null ? "" : $" ({Pattern})")}: {string.Join(' ', Transactions.Order(StringComparer.Ordinal))}";
}

/// <summary>A small history of the folder Textbook, with the verdict it deserves, which stands in its first line.</summary>
public sealed record TextbookHistory(string Name, string About, IReadOnlyList<ExpectedAnomaly> Expected, List<ObservedTransaction> Transactions)
{
    public static IReadOnlyList<TextbookHistory> All { get; } =
        [.. Directory.GetFiles(Path.Combine(AppContext.BaseDirectory, "Textbook"), "*.jsonl").Order(StringComparer.Ordinal).Select(Load)];

    public static TextbookHistory Named(string name) => All.Single(history => history.Name == name);

    public static History ToHistory(IEnumerable<ObservedTransaction> transactions)
    {
        var history = new History();
        foreach (var transaction in transactions)
        {
            history.Add(transaction);
        }

        return history;
    }

    private static TextbookHistory Load(string path)
    {
        using var header = JsonDocument.Parse(File.ReadLines(path).First());
        var info = header.RootElement.GetProperty("info");
        var history = HistoryFile.Read(path);
        return new TextbookHistory(
            Path.GetFileNameWithoutExtension(path),
            info.GetProperty("about").GetString()!,
            [.. info.GetProperty("expect").EnumerateArray().Select(Anomaly)],
            [.. Enumerable.Range(0, history.Count).Select(index => history[index])]);
    }

    private static ExpectedAnomaly Anomaly(JsonElement json) => new(
        Enum.Parse<AnomalyKind>(json.GetProperty("kind").GetString()!),
        json.TryGetProperty("pattern", out var pattern) ? pattern.GetString() : null,
        [.. json.GetProperty("transactions").EnumerateArray().Select(id => id.GetString()!)]);
}
