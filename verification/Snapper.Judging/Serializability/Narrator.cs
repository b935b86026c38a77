using System.Globalization;
using System.Text;
using Snapper.Judging.Histories;

namespace Snapper.Judging.Serializability;

/// <summary>Says in words what transactions did.</summary>
internal sealed class Narrator(History history)
{
    private const int ElementsShown = 10;
    private const int OperationsShown = 12;

    /// <summary>"t7 read k3 as [1 2 3]", "t7 read k3 at version 4 = 100".</summary>
    /// <param name="read">A read whose result was seen.</param>
    /// <param name="around">Where a long list is of interest; -1: at its end.</param>
    public string ReadBy(int read, int around = -1) =>
        $"{history.Id(TransactionOf(read))} read {history.Key(history.OperationKeys[read]).Name} {(history.IsRegister(read) ? "at" : "as")} {Result(read, around)}";

    /// <summary>What a read returned, or the version and value of a register's write.</summary>
    public string Result(int operation, int around = -1)
    {
        if (!history.IsRegister(operation))
        {
            return List(history.ReadResult(operation), around);
        }

        var (version, value) = (history.Register(operation).Version, history.Register(operation).Value);
        return (version is null ? "an unknown version" : $"version {version}") + (value is null ? "" : $" = {value}");
    }

    /// <summary>What a write is known by: the appended value, or the version made.</summary>
    public string Written(int write) => history.IsRegister(write) ? Result(write) : history.OperationValues[write].ToString(CultureInfo.InvariantCulture);

    /// <summary>One line per transaction: who ran it, when, and its operations; of very many only those on the key.</summary>
    public string Describe(int key, params ReadOnlySpan<int> transactions) => Describe([key], transactions);

    /// <summary>One line per transaction: who ran it, when, and its operations; of very many only those on the keys.</summary>
    public string Describe(IReadOnlyCollection<int> keys, ReadOnlySpan<int> transactions)
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
            DescribeOperations(text, keys, transaction);
        }

        return text.ToString();
    }

    private void DescribeOperations(StringBuilder text, IReadOnlyCollection<int> keys, int transaction)
    {
        var (first, end) = (history.FirstOperation[transaction], history.FirstOperation[transaction + 1]);
        var shown = 0;
        for (var operation = first; operation < end && shown < OperationsShown; operation++)
        {
            if (end - first > OperationsShown && !keys.Contains(history.OperationKeys[operation]))
            {
                continue;
            }

            text.Append(shown++ == 0 ? "" : "; ");
            var isList = !history.OperationIsWrite[operation] && !history.IsRegister(operation) && history.OperationValues[operation] != History.Unseen;
            text.Append(isList ? $"read {history.Key(history.OperationKeys[operation]).Name} {List(history.ReadResult(operation), -1)}" : history.Operation(operation).ToString());
        }

        if (shown < end - first)
        {
            text.Append(CultureInfo.InvariantCulture, $"; and {end - first - shown} other operations");
        }
    }

    /// <summary>The list; of a long one only a part, its end by default, for differences are there.</summary>
    private static string List(ReadOnlySpan<long> list, int around)
    {
        var start = Math.Max(0, Math.Min(list.Length - ElementsShown, around < 0 ? list.Length : around - (ElementsShown / 2)));
        var shown = list[start..Math.Min(list.Length, start + ElementsShown)];
        var text = new StringBuilder("[");
        text.Append(start == 0 ? "" : string.Create(CultureInfo.InvariantCulture, $"...{start} more... "));
        text.AppendJoin(' ', shown.ToArray());
        var behind = list.Length - start - shown.Length;
        return text.Append(behind == 0 ? "" : string.Create(CultureInfo.InvariantCulture, $" ...{behind} more...")).Append(']').ToString();
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
