using System.ComponentModel;
using System.Diagnostics;
using Snapper.AspNetCore.Processes;

namespace Snapper.Cli.Supervision;

/// <summary>One child that is started again whenever it ends, until it is stopped or says that this is of no use. Thread-safe.</summary>
/// <param name="spec">How to start it.</param>
/// <param name="wrappers">What every child is wrapped in.</param>
/// <param name="spawner">Starts it.</param>
/// <param name="messages">Told of every death.</param>
/// <param name="changed">Called after every start and death, when <see cref="Identity"/> has changed.</param>
internal sealed class SupervisedProcess(ProcessSpec spec, ChildWrappers wrappers, ProcessSpawner spawner, MessageWriter messages, Action changed)
{
    private const int CrashLoop = 5;
    private const int GiveUpAtStart = 3;

    private static readonly TimeSpan s_lookAtLog = TimeSpan.FromSeconds(10);

    private readonly Lock _lock = new();
    private readonly CancellationTokenSource _stopping = new();
    private readonly TaskCompletionSource _givenUp = new(TaskCreationOptions.RunContinuationsAsynchronously);
    private Process? _process;
    private Task _keeping = Task.CompletedTask;
    private volatile bool _settled;

    public ProcessSpec Spec { get; } = spec;

    /// <summary>The running process; <see cref="ProcessIdentity.None"/> between a death and the next start.</summary>
    public ProcessIdentity Identity { get; private set; } = ProcessIdentity.None;

    /// <summary>
    /// Faults with a <see cref="StartupException"/> when it stays down: it died three times in a row before <see cref="Settle"/>, or ended with one of
    /// <see cref="ProcessSpec.FinalExitCodes"/>. Never completes otherwise.
    /// </summary>
    public Task GivenUp => _givenUp.Task;

    /// <summary>Starts it, now and after every death.</summary>
    public void Start() => _keeping = Keep();

    /// <summary>The system is up: from now on it is started again without limit.</summary>
    public void Settle() => _settled = true;

    /// <summary>SIGTERM, SIGKILL when that takes too long or <paramref name="force"/> is cancelled; returns when it has ended for good.</summary>
    public async Task Stop(CancellationToken force)
    {
        lock (_lock)
        {
            _stopping.Cancel();
            if (_process is { HasExited: false } process) Posix.Send(process.Id, Posix.Terminate);
        }

        try
        {
            await _keeping.WaitAsync(Spec.StopWithin, force);
            return;
        }
        catch (Exception impatient) when (impatient is TimeoutException or OperationCanceledException)
        {
            messages.Say(force.IsCancellationRequested
                ? $"{Spec.Name} is killed"
                : $"{Spec.Name} did not stop within {Spec.StopWithin.TotalSeconds:0} s and is killed");
        }

        lock (_lock)
        {
            if (_process is { HasExited: false } process) Posix.Send(process.Id, Posix.Kill);
        }

        await _keeping;
    }

    private async Task Keep()
    {
        var backoff = new RestartBackoff();
        while (!_stopping.IsCancellationRequested)
        {
            var started = Stopwatch.GetTimestamp();
            string ending;
            var exitCode = ExitCode.Failure;
            try
            {
                (ending, exitCode) = await RunOnce();
            }
            catch (Exception problem) when (problem is Win32Exception or IOException or UnauthorizedAccessException)
            {
                ending = $"could not be started: {problem.Message}";
            }

            if (_stopping.IsCancellationRequested) return;
            if (Spec.FinalExitCodes.Contains(exitCode))
            {
                _givenUp.TrySetException(new StartupException($"{Spec.Name} {ending} and is not started again: a person must decide.{LastLines()}", exitCode));
                return;
            }

            var wait = backoff.After(Stopwatch.GetElapsedTime(started));
            if (!_settled && backoff.YoungDeaths >= GiveUpAtStart)
            {
                _givenUp.TrySetException(new StartupException($"{Spec.Name} {ending} and does not start.{LastLines()}"));
                return;
            }

            messages.Say($"{Spec.Name} {ending}; starting it again in {wait.TotalMilliseconds:0} ms");
            if (backoff.YoungDeaths > 0 && backoff.YoungDeaths % CrashLoop == 0)
            {
                messages.Say($"{Spec.Name} keeps dying: {backoff.YoungDeaths} times in a row within {RestartBackoff.HealthyAfter.TotalSeconds:0} s of its start.{LastLines()}");
            }

            await Task.Delay(wait, _stopping.Token).ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
        }
    }

    private async Task<(string Ending, int ExitCode)> RunOnce()
    {
        Spec.Log.Rotate();
        Spec.Prepare?.Invoke();
        var process = await spawner.Start(Spec.ToStartInfo(wrappers));
        lock (_lock)
        {
            _process = process;
            Identity = ProcessIdentity.Of(process.Id);

            // Stop may have come while the process was being started and found nothing to signal.
            if (_stopping.IsCancellationRequested) Posix.Send(process.Id, Posix.Terminate);
        }

        changed();
        var ending = process.WaitForExitAsync();
        while (await Task.WhenAny(ending, Task.Delay(s_lookAtLog)) != ending)
        {
            RotateLog();
        }

        await ending;
        var ended = (Describe(process), process.ExitCode);
        lock (_lock)
        {
            _process = null;
            Identity = ProcessIdentity.None;
        }

        changed();
        process.Dispose();
        return ended;
    }

    private void RotateLog()
    {
        try
        {
            Spec.Log.RotateWhileWritten();
        }
        catch (Exception problem) when (problem is IOException or UnauthorizedAccessException)
        {
            messages.Say($"{Spec.Log.FilePath} could not be rotated: {problem.Message}");
        }
    }

    private static string Describe(Process process) =>
        process.ExitCode > 128
            ? $"(pid {process.Id}) was ended by signal {process.ExitCode - 128}"
            : $"(pid {process.Id}) ended with exit code {process.ExitCode}";

    private string LastLines()
    {
        var lines = Spec.Log.Tail(15);
        return lines.Count == 0
            ? $" It wrote nothing to {Spec.Log.FilePath}."
            : $" Last lines of {Spec.Log.FilePath}:{Environment.NewLine}    {string.Join(Environment.NewLine + "    ", lines)}";
    }
}
