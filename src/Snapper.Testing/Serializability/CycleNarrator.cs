using System.Globalization;
using System.Text;
using Snapper.Testing.Histories;

namespace Snapper.Testing.Serializability;

/// <summary>Says in words why a cycle is one.</summary>
internal sealed class CycleNarrator(History history, VersionOrder order, ReadChecks reads, Narrator narrator)
{
    public string Explain(List<CycleStep> cycle)
    {
        var text = new StringBuilder();
        text.Append(history.Id(cycle[0].From));
        foreach (var step in cycle)
        {
            text.Append(" -> ").Append(history.Id(step.To));
        }

        text.Append('\n').Append(narrator.Describe([.. cycle.Select(step => step.From)]));
        for (var index = 0; index < cycle.Count; index++)
        {
            var step = cycle[index];
            text.Append(CultureInfo.InvariantCulture, $"\n  {index + 1}. {Why(step)}, so {history.Id(step.From)} comes before {history.Id(step.To)}.");
        }

        return text.Append(CultureInfo.InvariantCulture, $"\n  So {history.Id(cycle[0].From)} would have to come before itself: no serial order explains this.").ToString();
    }

    private string Why(CycleStep step) => step.Kind switch
    {
        EdgeKind.WriteWrite => WriteWrite(step),
        EdgeKind.WriteRead => WriteRead(step),
        EdgeKind.ReadWrite => ReadWrite(step),
        EdgeKind.RealTime => string.Create(
            CultureInfo.InvariantCulture,
            $"{history.Id(step.From)} was acknowledged at {history.Completed[step.From]}, before {history.Id(step.To)} was invoked at {history.Invoked[step.To]}"),
        _ => throw new InvalidOperationException($"A step of kind {step.Kind} between transactions: the checker is broken."),
    };

    private string WriteWrite(CycleStep step)
    {
        var (before, after) = (-1, -1);
        foreach (var mine in Appends(step.From, step.Key))
        {
            foreach (var other in Appends(step.To, step.Key))
            {
                if (order.Position[mine] > 0 && Distance(mine, other) > 0 && (before < 0 || Distance(mine, other) < Distance(before, after)))
                {
                    (before, after) = (mine, other);
                }
            }
        }

        var values = history.OperationValues;
        var where = order.Position[after] > 0 ? $"stands before the {values[after]}" : $"was read by others, who did not see the {values[after]}";
        return $"in {Key(step)} the {values[before]} of {history.Id(step.From)} {where} of {history.Id(step.To)}";
    }

    private int Distance(int before, int after) => (order.Position[after] == 0 ? int.MaxValue : order.Position[after]) - order.Position[before];

    private string WriteRead(CycleStep step)
    {
        foreach (var read in Reads(step.To, step.Key))
        {
            foreach (var append in Appends(step.From, step.Key))
            {
                if (order.Position[append] > 0 && order.Position[append] <= reads.ExternalVersion[read])
                {
                    return $"{narrator.ReadBy(read)}, with the {history.OperationValues[append]} that {history.Id(step.From)} appended";
                }
            }
        }

        throw new InvalidOperationException("A write-read edge without its read: the checker is broken.");
    }

    private string ReadWrite(CycleStep step)
    {
        foreach (var read in Reads(step.From, step.Key))
        {
            foreach (var append in Appends(step.To, step.Key))
            {
                if (order.Position[append] == 0 || order.Position[append] > reads.ExternalVersion[read])
                {
                    return $"{narrator.ReadBy(read)}, without the {history.OperationValues[append]} that {history.Id(step.To)} appended";
                }
            }
        }

        throw new InvalidOperationException("A read-write edge without its read: the checker is broken.");
    }

    private string Key(CycleStep step) => history.Key(step.Key).Name;

    private IEnumerable<int> Appends(int transaction, int key) =>
        Operations(transaction).Where(operation => history.OperationIsAppend[operation] && history.OperationKeys[operation] == key);

    private IEnumerable<int> Reads(int transaction, int key) =>
        Operations(transaction).Where(operation => reads.ExternalVersion[operation] != ReadChecks.None && history.OperationKeys[operation] == key);

    private IEnumerable<int> Operations(int transaction) =>
        Enumerable.Range(history.FirstOperation[transaction], history.FirstOperation[transaction + 1] - history.FirstOperation[transaction]);
}
