using System.Diagnostics;
using System.Runtime.InteropServices;

namespace Snapper.Verify;

/// <summary>
/// SIGINT, SIGTERM and SIGHUP as a wish to end soon: whatever runs says what it has until then, and that it is not all. A second signal, a second or more
/// later, ends the process as if nobody listened.
/// </summary>
internal sealed class Interruption : IDisposable
{
    // Ctrl-C reaches the whole group, and who started us passes it on as SIGTERM: one wish arrives twice.
    private static readonly TimeSpan s_sameWish = TimeSpan.FromSeconds(1);

    private readonly CancellationTokenSource _source = new();
    private readonly List<PosixSignalRegistration> _registrations = [];
    private int _code;
    private long _first;

    /// <summary>Listens from now on.</summary>
    public Interruption()
    {
        Listen(PosixSignal.SIGHUP, 129);
        Listen(PosixSignal.SIGINT, 130);
        Listen(PosixSignal.SIGTERM, 143);
    }

    /// <summary>Cancelled by the first signal.</summary>
    public CancellationToken Token => _source.Token;

    /// <summary>What the process says at its end: what was found counts more than that the search was not finished.</summary>
    /// <param name="found">0: nothing was found so far.</param>
    public int ExitCode(int found) => found != 0 ? found : Volatile.Read(ref _code);

    public void Dispose()
    {
        _registrations.ForEach(registration => registration.Dispose());
        _source.Dispose();
    }

    private void Listen(PosixSignal signal, int code) => _registrations.Add(PosixSignalRegistration.Create(signal, context =>
    {
        var now = Stopwatch.GetTimestamp();
        if (Interlocked.CompareExchange(ref _code, code, 0) == 0)
        {
            Volatile.Write(ref _first, now);
            context.Cancel = true;
            _source.Cancel();
            return;
        }

        context.Cancel = Stopwatch.GetElapsedTime(Volatile.Read(ref _first), now) < s_sameWish;
    }));
}
