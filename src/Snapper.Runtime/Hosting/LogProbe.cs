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
    private readonly Repeated _asking;

    public LogProbe(Worker worker, ITransactionLog log, LogOpening opening)
    {
        _worker = worker;
        _log = log;
        _opening = opening;
        _asking = new Repeated(worker.Time, Ask);
    }

    public ValueTask DisposeAsync() => _asking.DisposeAsync();

    private async Task<TimeSpan?> Ask(CancellationToken stop)
    {
        var isThere = await IsThere(stop).ConfigureAwait(false);
        return _worker.Failure is not null ? null : isThere ? Pause : PauseInOutage;
    }

    private async Task<bool> IsThere(CancellationToken stop)
    {
        AppendResult answer;
        var mark = _worker.ActsToKeep;
        try
        {
            answer = mark == 0
                ? await _log.CheckEpoch(_opening.Epoch, stop).ConfigureAwait(false)
                : await _log.Trim(_opening.Epoch, _opening.FirstSequence, new LogWatermarks(0, mark), stop)
                    .ConfigureAwait(false); // of records it trims none
        }
        catch (OperationCanceledException) when (stop.IsCancellationRequested)
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
