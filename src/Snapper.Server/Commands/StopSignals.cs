using System.Diagnostics;
using System.Runtime.InteropServices;

namespace Snapper.Server.Commands;

/// <summary>
/// SIGINT, SIGTERM, SIGHUP and SIGQUIT as two tokens: the first signal asks for an orderly stop, a later one for an immediate one.
/// None of them ends the process by itself while an instance lives.
/// </summary>
internal sealed class StopSignals : IDisposable
{
    // Whoever stops a process group often signals the process and its group, so one wish to stop arrives twice.
    private static readonly TimeSpan SameWish = TimeSpan.FromSeconds(1);

    private readonly CancellationTokenSource _stop = new();
    private readonly CancellationTokenSource _force = new();
    private readonly TaskCompletionSource _stopped = new(TaskCreationOptions.RunContinuationsAsynchronously);
    private readonly PosixSignalRegistration[] _registrations;
    private long _first;

    public StopSignals()
    {
        PosixSignal[] signals = [PosixSignal.SIGINT, PosixSignal.SIGTERM, PosixSignal.SIGHUP, PosixSignal.SIGQUIT];
        _registrations = [.. signals.Select(s => PosixSignalRegistration.Create(s, OnSignal))];
    }

    /// <summary>Cancelled by the first signal.</summary>
    public CancellationToken Stop => _stop.Token;

    /// <summary>Cancelled by a signal that comes a second or more after the first.</summary>
    public CancellationToken Force => _force.Token;

    /// <summary>Completes with the first signal.</summary>
    public Task Stopped => _stopped.Task;

    public void Dispose()
    {
        foreach (var registration in _registrations) registration.Dispose();
        _stop.Dispose();
        _force.Dispose();
    }

    private void OnSignal(PosixSignalContext context)
    {
        context.Cancel = true;
        var now = Stopwatch.GetTimestamp();
        var first = Interlocked.CompareExchange(ref _first, now, 0);
        if (first == 0)
        {
            _stopped.TrySetResult();
            _stop.Cancel();
        }
        else if (Stopwatch.GetElapsedTime(first, now) >= SameWish)
        {
            _force.Cancel();
        }
    }
}
