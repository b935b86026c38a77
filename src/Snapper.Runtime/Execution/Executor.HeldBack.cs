namespace Snapper.Runtime.Execution;

/// <summary>
/// Under a simulator a step is one move, and all that it sends would arrive at once. On threads the first message may be handled, and answered, before the second
/// is sent. Here a step's messages to other executors wait in their order, and each is a move of its own; until the last one is sent, this executor
/// is still in that step.
/// </summary>
public sealed partial class Executor
{
    private Queue<(Executor To, WorkItem Item)>? _heldBack;

    private bool HoldsBack => _heldBack is { Count: > 0 };

    private bool IsHeldBack(in WorkItem item)
    {
        if (t_pump?.Executor is not { } sender || sender == this || !(sender.HoldsBack || Worker.SchedulingPolicy.SentOneByOne()))
        {
            return false;
        }

        (sender._heldBack ??= new()).Enqueue((this, item));
        return true;
    }

    private void SendOne()
    {
        var (to, item) = _heldBack!.Dequeue();
        to.Receive(item);
    }
}
