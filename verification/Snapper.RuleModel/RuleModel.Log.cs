namespace Snapper.RuleModel;

/// <summary>The queues of the workers and of the master: what is queued, sent, durable (L1, L5, L6).</summary>
internal sealed partial class RuleModel
{
    private readonly int[] _logLength = new int[W + 1];
    private readonly int[] _durable = new int[W + 1];
    private readonly int[] _inFlight = new int[W + 1];
    private readonly int[] _logKind = new int[(W + 1) * MaxRecords];
    private readonly int[] _logSubject = new int[(W + 1) * MaxRecords];
    private readonly int[] _batchRecord = new int[MaxBatches * W];
    private readonly int[] _decisionRecord = new int[MaxBatches];
    private readonly int[] _finalAt = new int[MaxBatches];
    private readonly int[] _preparedAt = new int[MaxBatches];
    private readonly int[] _acknowledged = new int[MaxBatches];
    private readonly bool[] _decided = new bool[MaxBatches];
    private readonly bool[] _lost = new bool[MaxBatches];
    private readonly int[] _completionSent = new int[MaxBatches];
    private readonly int[] _completionFlying = new int[MaxBatches];
    private readonly int[] _completionStale = new int[MaxBatches];
    private readonly int[] _completionIn = new int[MaxBatches];
    private readonly int[] _statesFlying = new int[MaxBatches * A];
    private readonly int[] _statesIn = new int[MaxBatches * A];
    private readonly int[] _orderHead = new int[W];

    private enum Record
    {
        LocalBatch,
        Components,
        PreparedBatch,
        ActCommitted,
        ActPrepared,
        Decision,
        MovedIn,
    }

    private int Master => _workers;

    private void ResetLogs()
    {
        Array.Clear(_logLength);
        Array.Clear(_durable);
        Array.Clear(_inFlight);
    }

    private void ResetCommit(int batch)
    {
        Array.Fill(_batchRecord, -1, batch * W, W);
        _decisionRecord[batch] = -1;
        _finalAt[batch] = 0;
        _preparedAt[batch] = 0;
        _acknowledged[batch] = 0;
        _decided[batch] = false;
        _lost[batch] = false;
        _takenAt[batch] = 0;
        _completionSent[batch] = 0;
        _completionFlying[batch] = 0;
        _completionStale[batch] = 0;
        _completionIn[batch] = 0;
    }

    private int Queue(int log, Record kind, int subject)
    {
        if (_logLength[log] == MaxRecords)
        {
            _exhausted = true;
            return -1;
        }

        _logKind[log * MaxRecords + _logLength[log]] = (int)kind;
        _logSubject[log * MaxRecords + _logLength[log]] = subject;
        return _logLength[log]++;
    }

    private bool IsDurable(int log, int record) => record >= 0 && record < _durable[log];

    private void OfferLogs()
    {
        for (var log = 0; log <= _workers; log++)
        {
            if (_inFlight[log] != 0)
            {
                Offer(Kind.FlushEnds, log);
            }
            else if (_logLength[log] > _durable[log])
            {
                Offer(Kind.FlushStarts, log);
            }
        }
    }

    private void FlushStarts(int log)
    {
        _inFlight[log] = _logLength[log];
        Say($"{LogName(log)} sends everything queued to its log.");
    }

    private void FlushEnds(int log)
    {
        _durable[log] = _inFlight[log];
        _inFlight[log] = 0;
        Say($"What {LogName(log).ToLowerInvariant()} has sent to its log is durable.");
    }

    private string LogName(int log) => log == Master ? "The master" : $"Worker {log + 1}";
}
