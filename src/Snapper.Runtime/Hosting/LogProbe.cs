using Snapper.TransactionLog;

namespace Snapper.Runtime.Hosting;

/// <summary>
/// Asks the log once a second whether it is there and still this worker's. Appends tell the same, but only when something is
/// appended: without the probe an idle worker would call itself ready while its log is away, and requests whose actors must
/// be loaded first would wait for their deadlines instead of being refused.
/// </summary>
internal sealed class LogProbe : IAsyncDisposable
{
    private static readonly TimeSpan Pause = TimeSpan.FromSeconds(1);
    private static readonly TimeSpan PauseInOutage = TimeSpan.FromMilliseconds(200);

    private readonly Worker _worker;
    private readonly ITransactionLog _log;
    private readonly long _epoch;
    private readonly CancellationTokenSource _stop = new();
    private readonly Task _asking;

    public LogProbe(Worker worker, ITransactionLog log, long epoch)
    {
        _worker = worker;
        _log = log;
        _epoch = epoch;
        _asking = Task.Run(AskAgainAndAgain);
    }

    public async ValueTask DisposeAsync()
    {
        await _stop.CancelAsync().ConfigureAwait(false);
        await _asking.ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
        _stop.Dispose();
    }

    private async Task AskAgainAndAgain()
    {
        while (!_stop.IsCancellationRequested && _worker.Failure is null)
        {
            var pause = await IsThere().ConfigureAwait(false) ? Pause : PauseInOutage;
            await Task.Delay(pause, _worker.Time, _stop.Token).ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
        }
    }

    private async Task<bool> IsThere()
    {
        AppendResult answer;
        try
        {
            answer = await _log.CheckEpoch(_epoch, _stop.Token).ConfigureAwait(false);
        }
        catch (OperationCanceledException) when (_stop.IsCancellationRequested)
        {
            return true;
        }
        catch (Exception exception)
        {
            // Whatever it is, the log has not said that it is there.
            _worker.NoteUnreachable(exception.Message);
            return false;
        }

        switch (answer.Status)
        {
            case AppendStatus.Appended or AppendStatus.AlreadyThere:
                _worker.NoteReachable();
                return true;
            case AppendStatus.Refused:
                _worker.NoteUnreachable(answer.Detail);
                return false;
            default:
                _worker.NoteLost(answer.Status, answer.Detail);
                return false;
        }
    }
}
