using System.Globalization;
using System.Text;
using Snapper.Protocol.Batches;
using Snapper.Protocol.Commitment;
using Snapper.Protocol.Coordination;
using Snapper.Protocol.Identity;
using Snapper.Protocol.Messages;
using Snapper.Protocol.Scheduling;

namespace Snapper.Protocol.Tests.World;

/// <summary>What happens, in words.</summary>
internal sealed partial class MachineWorld
{
    /// <summary>A transaction by its name, a PACT with its number.</summary>
    public string Name(TransactionId tid)
    {
        foreach (var request in Requests)
        {
            if (request.Attempt is { } attempt && attempt.Tid == tid)
            {
                return tid.IsAct ? $"{attempt}" : $"{attempt}({tid})";
            }

            if (request.Ticket is { } ticket && ticket.Tid == tid && tid != TransactionId.None)
            {
                return $"{request.Name}({tid})";
            }
        }

        return tid.IsAct ? $"act{tid.Counter - 100}" : $"({tid})";
    }

    private void Tell(string machine, in Message message)
    {
        if (Trace is not null && message.Kind != MessageKind.LogProgress)
        {
            Trace($"{machine} <- {Describe(message)}");
        }
    }

    private void Tell(in Output output)
    {
        if (Trace is null || output.Message.Kind is MessageKind.LogProgress or MessageKind.BranchAbortAcknowledged)
        {
            return;
        }

        var message = output.Message;
        var text = output.Kind switch
        {
            OutputKind.SendToActor => $"-> {message.Actor!.Id}: {Describe(message)}",
            OutputKind.SendToCoordinator => $"-> ring{output.Index}: {Describe(message)}",
            OutputKind.SendToCommit => $"-> commit: {Describe(message)}",
            OutputKind.SendToRoot => $"-> root: {Describe(message)}",
            OutputKind.Invoke => $"run {message.Body}",
            OutputKind.InvokeRoot => $"run root {Name(message.Tid)}",
            OutputKind.Refuse => $"refuse {message.Body}: {message.Reason}",
            OutputKind.GrantLock => $"grant {message.Body}",
            OutputKind.Append => $"append {DescribeItem(message.Body!)}",
            OutputKind.Reply => $"reply {DescribeItem(message.Body!)}",
            _ => $"drop {((Request)((PactTicket)message.Body!).Request).Name}: {message.Reason}",
        };
        Trace("  " + text);
    }

    private string Describe(in Message message)
    {
        switch (message.Kind)
        {
            case MessageKind.NewPact:
                return $"NewPact {((Request)((PactTicket)message.Body!).Request).Name}";
            case MessageKind.Withdraw:
                return $"Withdraw {((Request)((PactTicket)message.Body!).Request).Name}";
            case MessageKind.Token:
                var token = (RingToken)message.Body!;
                return $"Token last={token.LastTid} wanted={Convert.ToString((long)token.WantedBy, 2)} actors={token.Actors}";
            case MessageKind.TokenWanted:
                return $"TokenWanted by ring{message.Count}";
            case MessageKind.SubBatch:
                return Describe((SubBatch)message.Body!);
            case MessageKind.Call:
            case MessageKind.CallEnded:
                return $"{message.Kind} {message.Body}";
            case MessageKind.Ended:
                return $"Ended {Name(message.Tid)} {(message.Flag ? "committed" : "aborted")} calls={message.Count}";
            case MessageKind.ActCollect:
            case MessageKind.ActEnd:
                return $"{message.Kind} {Name(message.Tid)} {(message.Flag ? "committed" : "aborted")}";
            case MessageKind.Undo:
                return $"Undo {string.Join(' ', ((UndoOrder)message.Body!).Tids.Select(Name))}";
            case MessageKind.UndoDone:
                return $"UndoDone {message.Value}";
            case MessageKind.BatchFormed:
                var batch = (Batch)message.Body!;
                return $"BatchFormed {batch.Bid} after {batch.Previous}";
            case MessageKind.SubBatchCompleted:
                return $"SubBatchCompleted {message.Bid} slot={message.Count} undo={message.Value} change={Describe((Change?)message.Body)}";
            case MessageKind.PactDecided:
                return $"PactDecided {Name(message.Tid)} {(message.Flag ? "committed" : "aborted")}";
            case MessageKind.ActVisited:
                return $"ActVisited {Name(message.Tid)} behind {message.Bid} on {message.Actor!.Id}";
            case MessageKind.ActOvertaken:
                return $"ActOvertaken {Name(message.Tid)} ahead of {message.Bid} on {message.Actor!.Id}";
            case MessageKind.ActWaits:
                return $"ActWaits {Name(message.Tid)} for {string.Join(' ', ((TransactionId[])message.Body!).Select(Name))}";
            case MessageKind.ActFinished:
                return $"ActFinished {Name(message.Tid)} {(((ActOutcome)message.Body!).Committed ? "committed" : "aborted")}";
            case MessageKind.ActChanges:
                return $"ActChanges {Name(message.Tid)} of {message.Actor!.Id} change={Describe((Change?)message.Body)}";
            case MessageKind.BranchAbortAcknowledged:
                return $"BranchAbortAcknowledged {Name(message.Tid)}{(message.Body is null ? " (over already)" : "")}";
            case MessageKind.UndoAcknowledged:
                var victims = (List<Victim>?)message.Body;
                return $"UndoAcknowledged by {message.Actor!.Id}{(victims is null ? "" : " victims: " + string.Join(' ', victims.Select(victim => Name(victim.Tid))))}";
            case MessageKind.Flushed:
                return $"Flushed {message.Value}";
            case MessageKind.Die:
                return $"Die {Name(message.Tid)}: {message.Reason} floor={message.Value} ceil={message.Bid}";
            default:
                return $"{message.Kind} {Name(message.Tid)}";
        }
    }

    private static string Describe(SubBatch subBatch)
    {
        var text = new StringBuilder();
        text.Append(CultureInfo.InvariantCulture, $"SubBatch {subBatch.Bid} after {subBatch.Previous} [");
        for (var i = 0; i < subBatch.Count; i++)
        {
            var entry = subBatch[i];
            text.Append(CultureInfo.InvariantCulture, $"{(i > 0 ? " " : "")}{entry.Tid}:{entry.Calls}{(entry.Marked ? " marked" : "")}{(entry.Ticket is null ? "" : " root")}");
        }

        return text.Append(']').ToString();
    }

    private static string Describe(Change? change)
    {
        if (change is null)
        {
            return "none";
        }

        var writers = new List<string>();
        for (var at = (Appended?)change.State; at is not null; at = at.Before)
        {
            writers.Add(at.Writer.ToString());
        }

        writers.Reverse();
        return $"v{change.Version}[{string.Join(' ', writers)}]";
    }

    private string DescribeItem(object item)
    {
        if (item is ActOutcome act)
        {
            return $"act {Name(act.Tid)} {(act.Committed ? "committed" : "aborted")}: {string.Join(' ', act.Changes.Select(change => change.Actor.Id + "=" + Describe(change)))}".TrimEnd(' ', ':');
        }

        var set = (CommitSet)item;
        var batch = set.Batch;
        var changes = Enumerable.Range(0, batch.SlotCount).Where(slot => batch.ChangeOf(slot) is not null && set.Components.Any(component => Has(component, slot)))
            .Select(slot => batch.SubBatchOf(slot).Actor.Id + "=" + Describe(batch.ChangeOf(slot)));
        return $"batch {batch.Bid}: {string.Join(' ', changes)}".TrimEnd(' ', ':');
    }

    private static bool Has(Component component, int wanted)
    {
        var slot = component.FirstSlot;
        while (slot >= 0 && slot != wanted)
        {
            slot = component.Batch.NextSlot(slot);
        }

        return slot == wanted;
    }
}
