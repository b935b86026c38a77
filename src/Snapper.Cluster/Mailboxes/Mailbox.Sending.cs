using Snapper.Protocol;
using Snapper.Protocol.Channels;
using Snapper.Protocol.Identity;

namespace Snapper.Cluster.Mailboxes;

/// <summary>Sending: one packet under way, its answer or its deadline, and the pause before it goes again.</summary>
internal sealed partial class Mailbox
{
    /// <summary>What waits for less is not late: a packet that is lost and goes again waits for as long.</summary>
    private static readonly TimeSpan s_late = TimeSpan.FromMilliseconds(100);

    // Guarded by the gate. Whoever set _pumping sees to it that something goes on: a packet under way, a pause, or the next packet.
    private CancellationTokenSource? _cancellation;
    private TimeSpan _pause;
    private bool _pumping;
    private bool _waiting;
    private long _waitingFor;
    private long _call;
    private long? _unansweredSince;
    private long? _untakenSince; // by whoever sends alone, as those below
    private long? _lateSince;
    private long _lateBelow;
    private Incarnation _lateTo;
    private long? _overfullSince;
    private long _due;
    private long _timerDue = long.MaxValue;

    // The road: who passes packets on, 0: nobody. It changes between two packets; it stays while what was sent by it is answered.
    private volatile int _via;
    private volatile bool _seeksRoad;
    private volatile bool _directAnswers;
    private int _saidVia;
    private bool _isTrying;
    private long _triedAt;

    /// <summary>On the pool: sends what is queued.</summary>
    void IThreadPoolWorkItem.Execute() => Pump();

    /// <summary>What is to be done after a change, outside of the gate.</summary>
    private readonly record struct Next(bool Pump, bool Tell, CancellationTokenSource? GiveUp);

    /// <summary>After every change of the machines; the gate is held.</summary>
    private Next Changed()
    {
        var next = new Next(Pump: false, _view.HasNotices, GiveUp: null);
        _sender.Follow();
        NoteFill();
        if (_call != 0 && _sender.Attempt != _call)
        {
            // The life that the packet under way was for is over: nobody waits for its answer.
            _call = 0;
            _untakenSince = null; // what goes to the next life was queued for it
            next = next with { Pump = true, GiveUp = _cancellation };
            _cancellation = null;
        }
        else if (_waiting && _waitingFor != _view.Known.Epoch)
        {
            _waiting = false;
            _untakenSince = null;
            next = next with { Pump = true };
        }
        else if (!_pumping && !_disposed && !_broken && _sender.HasWork)
        {
            _pumping = true;
            next = next with { Pump = true };
        }

        return next;
    }

    private void NoteFill() => _overfullSince = !_sender.IsOverfull ? null : _overfullSince ?? _time.GetTimestamp();

    private void Do(in Next next)
    {
        // Outside of all locks: it may run what waits for the packet.
        next.GiveUp?.Cancel();
        if (next.Tell)
        {
            Tell();
        }

        if (!next.Pump)
        {
            return;
        }

        if (_options.PumpsInline)
        {
            Pump();
        }
        else
        {
            // Not on the thread of whoever sends: that one has work to do, and what it sends next goes with this.
            ThreadPool.UnsafeQueueUserWorkItem(this, preferLocal: false);
        }
    }

    /// <summary>Sends packets until one is not answered at once. A loop, not recursion: a transport may answer inside the call.</summary>
    private void Pump()
    {
        Span<byte> header = stackalloc byte[ChannelPacket.HeaderBytesMax];
        while (true)
        {
            SeekRoad();
            var length = _owner.WriteHeader(_worker, Waited(), header);
            long call;
            ReadOnlyMemory<byte> packet;
            CancellationToken cancellation;
            bool tries;
            int via;
            lock (_gate)
            {
                if (_disposed || _broken || !_sender.TryTake(header[..length], out packet))
                {
                    _pumping = false;
                    return;
                }

                call = _call = _sender.Attempt;
                _unansweredSince ??= _time.GetTimestamp();
                _untakenSince ??= _time.GetTimestamp();
                _bytesSent += packet.Length;
                cancellation = (_cancellation ??= new CancellationTokenSource()).Token;
                via = _via;
                ArmTimer(AnswerWithin);
                tries = TriesDirectRoad();
            }

            if (tries)
            {
                _ = TryDirectRoad();
            }

            var answer = Start(via, packet, cancellation);
            if (!answer.IsCompleted)
            {
                // Not awaited: an await could hop to the pool, away from a simulator.
                _ = answer.ContinueWith(_answered, call, CancellationToken.None, TaskContinuationOptions.ExecuteSynchronously, TaskScheduler.Default);
                return;
            }

            if (!Complete(call, answer))
            {
                return;
            }
        }
    }

    /// <summary>How long an answer is awaited; the gate is held.</summary>
    private TimeSpan AnswerWithin => _via == 0 ? _options.AnswerTimeout : _options.PassOnTimeout * 2;

    private Task<ReadOnlyMemory<byte>> Start(int via, ReadOnlyMemory<byte> packet, CancellationToken cancellation)
    {
        try
        {
            return via == 0 ? _transport.Deliver(_worker, packet, cancellation) : _transport.Deliver(via, PassedOnPacket.Wrap(packet.Span), cancellation);
        }
        catch (Exception error)
        {
            // A transport that throws instead of returning a failed task has said just as little about the packet.
            return Task.FromException<ReadOnlyMemory<byte>>(error);
        }
    }

    private void OnAnswered(long call, Task<ReadOnlyMemory<byte>> answer)
    {
        if (Complete(call, answer))
        {
            Pump();
        }
    }

    /// <summary>Takes in what became of a packet; true: go on sending.</summary>
    private bool Complete(long call, Task<ReadOnlyMemory<byte>> task)
    {
        var problem = task.IsCompletedSuccessfully ? null : task.Exception?.GetBaseException().Message ?? "The call was given up.";
        var answer = default(ChannelAnswer);
        if (problem is null && !ChannelAnswer.TryRead(task.Result.Span, out answer))
        {
            problem = "The answer cannot be read.";
        }
        else if (problem is null && answer.To == _hub.Own && !IsBelieved(answer.From, OwnEndIn(answer)))
        {
            problem = $"{answer.From} answered {answer.Kind}, and the store knows nothing of it.";
        }

        ProtocolViolationException? violation = null;
        var goOn = false;
        int? road = null;
        lock (_gate)
        {
            if (call != _call)
            {
                return false; // given up meanwhile; whoever did that goes on
            }

            _call = 0;
            try
            {
                var step = problem is null ? _sender.Answered(call, answer) : _sender.Failed(call);
                goOn = step != SendStep.Pause;
                NoteFill();
                if (problem is null && !goOn && _sender.IsMisled)
                {
                    problem = $"{answer.From} has taken messages that {_hub.Own} has not sent.";
                }

                // One that refuses what it is sent is as good as silent: nothing else would ever end it (R5).
                var reached = goOn
                    || (problem is null && answer.From.Worker == _worker && answer.Kind != AnswerKind.Refused);
                if (reached)
                {
                    // Busy or not, an earlier life or a later one: the worker can be reached.
                    _unansweredSince = null;
                    _answeredBy = answer.From;
                    road = _saidVia == _via ? null : _saidVia = _via;
                }

                if (goOn)
                {
                    NoteTaken();
                    _pause = _options.RetryDelayMin;
                }
                else
                {
                    _lastProblem = problem ?? answer.Problem ?? $"{answer.From} answered {answer.Kind}.";
                    Wait(reached);
                }
            }
            catch (ProtocolViolationException broken)
            {
                _broken = true;
                _pumping = false;
                violation = broken;
            }
        }

        if (violation is not null)
        {
            _owner.OnViolation(violation);
        }

        if (road is { } via)
        {
            _owner.OnRoad(_worker, via);
        }

        Tell();
        return goOn;
    }

    /// <summary>Which life of this worker is said to have followed this one; none: epoch 0.</summary>
    private Incarnation OwnEndIn(in ChannelAnswer answer) =>
        answer.Kind == AnswerKind.Fenced ? _hub.Own with { Epoch = answer.Newest } : default;

    /// <summary>For how long the messages that go next may have waited: the first packet since it was sent first, and all that was queued behind it meanwhile.</summary>
    private TimeSpan Waited()
    {
        if (_untakenSince is null && _lateSince is null)
        {
            return TimeSpan.Zero;
        }

        lock (_gate)
        {
            ForgetLate();
            return (_lateSince ?? _untakenSince) is { } since && _time.GetElapsedTime(since) is var waited && waited >= s_late ? waited : TimeSpan.Zero;
        }
    }

    /// <summary>Once all that had waited before has gone, what is queued is no older than the packet under way; the gate is held.</summary>
    private void ForgetLate()
    {
        if (_sender.First >= _lateBelow || _lateTo != _view.Known)
        {
            _lateSince = null;
        }
    }

    /// <summary>A packet was taken; the gate is held. What was queued while it waited may be as old.</summary>
    private void NoteTaken()
    {
        if (_untakenSince is { } since && _time.GetElapsedTime(since) >= s_late)
        {
            ForgetLate();
            _lateSince ??= since;
            (_lateBelow, _lateTo) = (_sender.Next, _view.Known);
        }

        _untakenSince = null;
    }

    /// <summary>
    /// Chooses the road of the next packet. Outside of the gate, since others are asked; only whoever pumps does it. After all who could pass it on have failed, it goes directly again.
    /// </summary>
    private void SeekRoad()
    {
        if (_seeksRoad)
        {
            _seeksRoad = false;
            _via = _hub.NextDetour(_worker, _via);
        }
        else if (_directAnswers)
        {
            _directAnswers = false;
            _via = 0;
        }
    }

    /// <summary>While packets go through another worker, the direct road is tried now and then; the gate is held.</summary>
    private bool TriesDirectRoad()
    {
        if (_via == 0 || _via != _saidVia || _isTrying || _time.GetElapsedTime(_triedAt) < _options.PassOnTimeout)
        {
            return false;
        }

        _triedAt = _time.GetTimestamp();
        return _isTrying = true;
    }

    /// <summary>Beside the packets, which do not wait for it: what is sent has no messages.</summary>
    private async Task TryDirectRoad()
    {
        string? problem = null;
        try
        {
            using var limit = new CancellationTokenSource(_options.AnswerTimeout, _time);
            var answer = await _transport.Deliver(_worker, default, limit.Token).WaitAsync(limit.Token).ConfigureAwait(false);
            _directAnswers = ChannelAnswer.TryRead(answer.Span, out var read) && read.From.Worker == _worker;
        }
        catch (Exception error)
        {
            // A transport may fail as it likes: it did not come back.
            problem = error.Message;
        }

        lock (_gate)
        {
            _isTrying = false;
            _lastProblem = problem ?? _lastProblem;
        }
    }

    /// <summary>Begins a pause; the gate is held.</summary>
    /// <param name="reached">The worker has answered, if not as it should.</param>
    private void Wait(bool reached)
    {
        _seeksRoad = !reached && !_view.Known.IsNone
            && (_via != 0 || (_unansweredSince is { } since && _time.GetElapsedTime(since) >= _options.DetourAfter));
        var pause = _pause * (0.5 + (_jitter.NextDouble() * 0.5));
        _pause = TimeSpan.FromTicks(Math.Min(_pause.Ticks * 2, _options.RetryDelayMax.Ticks));
        _waiting = true;
        _waitingFor = _view.Known.Epoch;
        ArmTimer(pause);
    }

    /// <summary>
    /// Sets the deadline of the packet under way, or of the pause; the gate is held. The timer itself is only touched when it would ring too late: under
    /// load it rings once per deadline, finds that it is not due yet, and is set again.
    /// </summary>
    private void ArmTimer(TimeSpan after)
    {
        _due = _time.GetTimestamp() + (long)(after.TotalSeconds * _time.TimestampFrequency);
        if (_due < _timerDue)
        {
            _timerDue = _due;
            _timer.Change(after, Timeout.InfiniteTimeSpan);
        }
    }

    private void OnTimer()
    {
        var next = default(Next);
        lock (_gate)
        {
            _timerDue = long.MaxValue;
            if (_disposed || (_call == 0 && !_waiting))
            {
                return;
            }

            var now = _time.GetTimestamp();
            if (now < _due)
            {
                ArmTimer(_time.GetElapsedTime(now, _due) + TimeSpan.FromTicks(1));
                return;
            }

            if (_waiting)
            {
                _waiting = false;
                next = new Next(Pump: true, Tell: false, GiveUp: null);
            }
            else
            {
                _sender.Failed(_call);
                _call = 0;
                _lastProblem = $"No answer within {AnswerWithin.TotalMilliseconds:0} ms{(_via == 0 ? "" : " by way of w" + _via)}.";
                next = new Next(Pump: false, Tell: false, _cancellation);
                _cancellation = null;
                Wait(reached: false);
            }
        }

        Do(next);
    }
}
