namespace Snapper.Storage.Log.Writing;

/// <summary>Keeps a caller's ambient values (trace context) out of work that is done for many callers.</summary>
internal readonly ref struct FlowSuppression
{
    private readonly AsyncFlowControl _control;
    private readonly bool _active;

    private FlowSuppression(AsyncFlowControl control)
    {
        _control = control;
        _active = true;
    }

    public static FlowSuppression Start() =>
        ExecutionContext.IsFlowSuppressed() ? default : new FlowSuppression(ExecutionContext.SuppressFlow());

    public void Dispose()
    {
        if (_active)
        {
            _control.Dispose();
        }
    }
}
