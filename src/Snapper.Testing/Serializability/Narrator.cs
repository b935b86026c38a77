using System.Globalization;
using System.Text;
using Snapper.Testing.Histories;

namespace Snapper.Testing.Serializability;

/// <summary>Says in words what transactions did.</summary>
internal sealed class Narrator(History history)
{
    private const int ElementsShown = 10;

    /// <summary>"t7 read k3 as [1 2 3]".</summary>
    public string ReadBy(int read) =>
        $"{history.Id(TransactionOf(read))} read {history.Key(history.OperationKeys[read]).Name} as {List(history.ReadResult(read))}";

    /// <summary>One line per transaction: who ran it, when, and all its operations.</summary>
    public string Describe(params ReadOnlySpan<int> transactions)
    {
        var text = new StringBuilder();
        foreach (var transaction in transactions)
        {
            var observed = history[transaction];
            text.Append(text.Length == 0 ? "" : "\n");
            text.Append(CultureInfo.InvariantCulture, $"  {observed.Id} ({observed.Outcome}");
            text.Append(observed.Mode == ObservedMode.Unspecified ? "" : observed.Mode == ObservedMode.Pact ? " PACT" : " ACT");
            text.Append(CultureInfo.InvariantCulture, $", process {observed.Process}, invoked {observed.Invoked}, ");
            text.Append(observed.Completed is { } completed ? string.Create(CultureInfo.InvariantCulture, $"completed {completed}") : "no answer");
            text.Append(observed.Attempts > 1 ? string.Create(CultureInfo.InvariantCulture, $", {observed.Attempts} attempts") : "");
            text.Append(observed.Parallel ? ", parallel): " : "): ");
            text.AppendJoin("; ", observed.Operations.Select(operation => operation.IsAppend || operation.List is null
                ? operation.ToString()
                : $"read {operation.Key} {List(operation.List.ToArray())}"));
        }

        return text.ToString();
    }

    /// <summary>The list, only its end when it is long, for differences are there.</summary>
    public static string List(ReadOnlySpan<long> list)
    {
        var shown = list[Math.Max(0, list.Length - ElementsShown)..];
        var text = new StringBuilder("[");
        if (shown.Length < list.Length)
        {
            text.Append(CultureInfo.InvariantCulture, $"...{list.Length - shown.Length} more... ");
        }

        return text.AppendJoin(' ', shown.ToArray()).Append(']').ToString();
    }

    /// <summary>The last transaction that begins at or before the operation; those without operations share their beginning with the next one.</summary>
    private int TransactionOf(int operation)
    {
        var (low, high) = (0, history.Count - 1);
        while (low < high)
        {
            var middle = low + (high - low + 1) / 2;
            (low, high) = history.FirstOperation[middle] <= operation ? (middle, high) : (low, middle - 1);
        }

        return low;
    }
}
