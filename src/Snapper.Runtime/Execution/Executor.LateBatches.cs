using Snapper.Protocol.Messages;

namespace Snapper.Runtime.Execution;

/// <content>A scheduling choice of simulations: batches whose messages stand long in the queues between executors.</content>
public sealed partial class Executor
{
    private readonly List<List<Message>> _late = [];

    /// <summary>
    /// Whoever waits for all that was under way waits for what stands in queues, too (M3): it goes now. Nothing is ever late in the product, where a step ends with its messages
    /// posted.
    /// </summary>
    public void SendLateNow()
    {
        foreach (var batch in _late)
        {
            Send(batch);
        }

        _late.Clear();
    }

    /// <summary>
    /// What a coordinator says about its batch goes some milliseconds later, in the same order, or what it says to the
    /// batch's actors; all else goes now.
    /// </summary>
    private void SendLate()
    {
        var announces = Worker.SchedulingPolicy.BatchSentLate();
        if (!announces && (!Worker.Peers.IsAlone || !Worker.SchedulingPolicy.SubBatchesSentLate()))
        {
            return;
        }

        var batch = new List<Message>();
        var others = new List<Output>();
        for (var i = 0; i < _outputs.Count; i++)
        {
            if (_outputs[i].Message.Kind is MessageKind.SubBatch
                || (announces && _outputs[i].Message.Kind is MessageKind.BatchFormed))
            {
                batch.Add(_outputs[i].Message);
            }
            else
            {
                others.Add(_outputs[i]);
            }
        }

        _outputs.Clear();
        foreach (var other in others)
        {
            _outputs.Add(other.Kind, other.Message.Kind, other.Index) = other.Message;
        }

        _late.Add(batch);
        Worker.After(TimeSpan.FromMilliseconds(Jitter(announces ? 8 : 40)), this, () =>
        {
            if (_late.Remove(batch))
            {
                Send(batch);
            }
        });
    }

    private void Send(List<Message> batch)
    {
        foreach (var message in batch)
        {
            if (message.Kind == MessageKind.BatchFormed)
            {
                Worker.SendToCommit(message);
            }
            else
            {
                Worker.SendToActor(message);
            }
        }
    }
}
