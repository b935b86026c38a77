namespace Snapper.Runtime.Json;

/// <summary>
/// Around code of states, inputs and results that runs outside of a call. What <c>async void</c> code throws goes to
/// the synchronization context under which it was begun; where there is none it ends the process.
/// </summary>
internal readonly ref struct ValueCode
{
    private readonly bool _isEntered;

    private ValueCode(bool isEntered) => _isEntered = isEntered;

    public static ValueCode Enter()
    {
        if (SynchronizationContext.Current is not null)
        {
            return default; // of a call, say, which hears of it
        }

        SynchronizationContext.SetSynchronizationContext(Context.Instance);
        return new ValueCode(isEntered: true);
    }

    public void Dispose()
    {
        if (_isEntered)
        {
            SynchronizationContext.SetSynchronizationContext(null);
        }
    }

    /// <summary>Runs on the pool what comes behind; what that throws is an unobserved exception of a task.</summary>
    private sealed class Context : SynchronizationContext
    {
        public static Context Instance { get; } = new();

        public override void Post(SendOrPostCallback d, object? state) => Task.Run(() =>
        {
            SetSynchronizationContext(this);
            try
            {
                d(state);
            }
            finally
            {
                SetSynchronizationContext(null);
            }
        });

        public override SynchronizationContext CreateCopy() => this;
    }
}
