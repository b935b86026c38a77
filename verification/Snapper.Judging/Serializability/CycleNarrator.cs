using System.Globalization;
using System.Text;
using Snapper.Judging.Histories;

namespace Snapper.Judging.Serializability;

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

        text.Append('\n').Append(narrator.Describe([.. cycle.Where(step => step.Kind != EdgeKind.RealTime).Select(step => step.Key)], [.. cycle.Select(step => step.From)]));
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
        foreach (var mine in Writes(step.From, step.Key))
        {
            foreach (var other in Writes(step.To, step.Key))
            {
                if (order.Position[mine] > 0 && Distance(mine, other) > 0 && !(history.IsRegister(other) && order.Position[other] == 0) && (before < 0 || Distance(mine, other) < Distance(before, after)))
                {
                    (before, after) = (mine, other);
                }
            }
        }

        if (history.IsRegister(before))
        {
            return $"{history.Id(step.From)} made {narrator.Written(before)} of {Key(step)} and {history.Id(step.To)} made {narrator.Written(after)}";
        }

        var where = order.Position[after] > 0 ? "stands before" : "was read by others, who did not see";
        return $"in {Key(step)} the {narrator.Written(before)} of {history.Id(step.From)} {where} the {narrator.Written(after)} of {history.Id(step.To)}";
    }

    private int Distance(int before, int after) => (order.Position[after] == 0 ? int.MaxValue : order.Position[after]) - order.Position[before];

    private string WriteRead(CycleStep step)
    {
        foreach (var read in Reads(step.To, step.Key))
        {
            foreach (var write in Writes(step.From, step.Key))
            {
                if (order.Position[write] > 0 && order.Position[write] <= reads.ExternalVersion[read])
                {
                    return history.IsRegister(read)
                        ? $"{narrator.ReadBy(read)}, {(order.Position[write] == reads.ExternalVersion[read] ? "which" : $"behind {narrator.Written(write)}, which")} {history.Id(step.From)} wrote"
                        : $"{narrator.ReadBy(read)}, with the {narrator.Written(write)} that {history.Id(step.From)} appended";
                }
            }
        }

        throw new InvalidOperationException("A write-read edge without its read: the checker is broken.");
    }

    private string ReadWrite(CycleStep step)
    {
        foreach (var read in Reads(step.From, step.Key))
        {
            foreach (var write in Writes(step.To, step.Key))
            {
                if (order.Position[write] > reads.ExternalVersion[read] || (order.Position[write] == 0 && (!history.IsRegister(write) || reads.ExternalVersion[read] == 0)))
                {
                    return history.IsRegister(read)
                        ? $"{narrator.ReadBy(read)}, before the {narrator.Written(write)} that {history.Id(step.To)} wrote"
                        : $"{narrator.ReadBy(read)}, without the {narrator.Written(write)} that {history.Id(step.To)} appended";
                }
            }
        }

        throw new InvalidOperationException("A read-write edge without its read: the checker is broken.");
    }

    private string Key(CycleStep step) => history.Key(step.Key).Name;

    private IEnumerable<int> Writes(int transaction, int key) =>
        Operations(transaction).Where(operation => history.OperationIsWrite[operation] && history.OperationKeys[operation] == key);

    private IEnumerable<int> Reads(int transaction, int key) =>
        Operations(transaction).Where(operation => reads.ExternalVersion[operation] != ReadChecks.None && history.OperationKeys[operation] == key);

    private IEnumerable<int> Operations(int transaction) =>
        Enumerable.Range(history.FirstOperation[transaction], history.FirstOperation[transaction + 1] - history.FirstOperation[transaction]);
}
