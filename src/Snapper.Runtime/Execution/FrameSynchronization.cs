namespace Snapper.Runtime.Execution;

/// <summary>The synchronization context of one call: continuations of its user code run on its actor's executor, one at a time.</summary>
public sealed class FrameSynchronization(CallFrame frame) : SynchronizationContext
{
    public override void Post(SendOrPostCallback d, object? state) => frame.Cell!.Executor.PostContinuation(frame, d, state);

    public override void Send(SendOrPostCallback d, object? state) =>
        throw new NotSupportedException("An actor's code never waits for another thread.");

    public override SynchronizationContext CreateCopy() => this;
}
