using Snapper.Runtime.Execution;
using Snapper.Storage.Log;

namespace Snapper.Runtime.Hosting;

/// <summary>
/// Asks the log once a second whether it is there and still this worker's. Appends tell the same, but only when something is
/// appended: without the probe an idle worker would call itself ready while its log is away, and requests whose actors must
/// be loaded first would wait for their deadlines instead of being refused. When numbers of ACTs run short, the question sets more apart (R1).
/// </summary>
public sealed class LogProbe : IAsyncDisposable
{
    private static readonly TimeSpan Pause = TimeSpan.FromSeconds(1);
    private static readonly TimeSpan PauseInOutage = TimeSpan.FromMilliseconds(200);

    private readonly Worker _worker;
    private readonly ITransactionLog _log;
    private readonly LogOpening _opening;
    private readonly CancellationTokenSource _stop = new();
    private readonly ITimer _timer;
    private Task _asking = Task.CompletedTask;

    public LogProbe(Worker worker, ITransactionLog log, LogOpening opening)
    {
        _worker = worker;
        _log = log;
        _opening = opening;
        _timer = worker.Time.CreateTimer(static probe => ((LogProbe)probe!).OnDue(), this, Timeout.InfiniteTimeSpan, Timeout.InfiniteTimeSpan);
        _timer.Change(TimeSpan.Zero, Timeout.InfiniteTimeSpan); // only now: the first answer sets the timer again
    }

    public async ValueTask DisposeAsync()
    {
        // Not CancelAsync, and no Task.Delay that is cancelled: they would hop to the pool, away from a simulator.
        _stop.Cancel();
        await _timer.DisposeAsync().ConfigureAwait(false);
        await _asking.ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
        _stop.Dispose();
    }

    private void OnDue()
    {
        if (!_stop.IsCancellationRequested)
        {
            _asking = Ask();
        }
    }

    private async Task Ask()
    {
        var isThere = await IsThere().ConfigureAwait(false);
        if (!_stop.IsCancellationRequested && _worker.Failure is null)
        {
            _timer.Change(isThere ? Pause : PauseInOutage, Timeout.InfiniteTimeSpan);
        }
    }

    private async Task<bool> IsThere()
    {
        AppendResult answer;
        var mark = _worker.ActsToKeep;
        try
        {
            answer = mark == 0
                ? await _log.CheckEpoch(_opening.Epoch, _stop.Token).ConfigureAwait(false)
                : await _log.Trim(_opening.Epoch, _opening.FirstSequence, new LogWatermarks(0, mark), _stop.Token).ConfigureAwait(false); // of records it trims none
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
                if (mark > 0)
                {
                    _worker.KeptActs(mark);
                }

                return true;
            case AppendStatus.Refused:
                _worker.NoteUnreachable(answer.Detail);
                return false;
            default:
                _worker.NoteLost(answer);
                return false;
        }
    }
}
