using System.Runtime.InteropServices;

namespace Snapper.Server.Supervision;

/// <summary>
/// SIGINT, SIGTERM, SIGHUP and SIGQUIT as two tokens: the first signal asks for an orderly stop, a second one for an immediate one.
/// None of them ends the process by itself while an instance lives.
/// </summary>
internal sealed class StopSignals : IDisposable
{
    private readonly CancellationTokenSource _stop = new();
    private readonly CancellationTokenSource _force = new();
    private readonly TaskCompletionSource _stopped = new(TaskCreationOptions.RunContinuationsAsynchronously);
    private readonly PosixSignalRegistration[] _registrations;
    private int _count;

    /// <summary>Listens from now on.</summary>
    public StopSignals()
    {
        PosixSignal[] signals = [PosixSignal.SIGINT, PosixSignal.SIGTERM, PosixSignal.SIGHUP, PosixSignal.SIGQUIT];
        _registrations = [.. signals.Select(s => PosixSignalRegistration.Create(s, OnSignal))];
    }

    /// <summary>Cancelled by the first signal.</summary>
    public CancellationToken Stop => _stop.Token;

    /// <summary>Cancelled by the second signal.</summary>
    public CancellationToken Force => _force.Token;

    /// <summary>Completes with the first signal.</summary>
    public Task Stopped => _stopped.Task;

    /// <inheritdoc/>
    public void Dispose()
    {
        foreach (var registration in _registrations) registration.Dispose();
        _stop.Dispose();
        _force.Dispose();
    }

    private void OnSignal(PosixSignalContext context)
    {
        context.Cancel = true;
        if (Interlocked.Increment(ref _count) == 1)
        {
            _stopped.TrySetResult();
            _stop.Cancel();
        }
        else
        {
            _force.Cancel();
        }
    }
}
