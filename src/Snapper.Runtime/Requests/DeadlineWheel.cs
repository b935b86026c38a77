using Snapper.Protocol;
using Snapper.Runtime.Execution;

namespace Snapper.Runtime.Requests;

/// <summary>
/// All requests under way by their deadlines: a wheel of slots of one tick each, so that adding and removing are constant
/// time. Thread-safe. A request stays until it is removed, so that the timer, on which the watch over turns hangs too, runs
/// while there are requests and only then: an idle worker burns no CPU.
/// </summary>
public sealed class DeadlineWheel : IDisposable
{
    private const int Slots = 1024;

    // What was running at its deadline may have ended and wait for the log when it is looked at again.
    private static readonly TimeSpan LookAgain = TimeSpan.FromSeconds(1);

    private readonly Lock _lock = new();
    private readonly LinkedList<Request>?[] _slots = new LinkedList<Request>?[Slots]; // null: never used
    private readonly TimeProvider _time;
    private readonly TimeSpan _tick;
    private readonly Action<Request> _expired;
    private readonly Action _ticked;
    private readonly ITimer _timer;
    private readonly long _origin;
    private readonly SchedulingPolicy _schedulingPolicy;
    private long _current;
    private int _count;
    private bool _running;

    /// <summary>A wheel. It calls <paramref name="expired"/> outside its lock for each request whose deadline has passed, once a second until it is removed, and <paramref name="ticked"/> at each tick.</summary>
    public DeadlineWheel(TimeProvider time, TimeSpan tick, Action<Request> expired, Action ticked, SchedulingPolicy schedulingPolicy = default)
    {
        _schedulingPolicy = schedulingPolicy;
        _time = time;
        _tick = tick;
        _expired = expired;
        _ticked = ticked;
        _origin = time.GetTimestamp();
        _timer = time.CreateTimer(_ => OnTick(), null, Timeout.InfiniteTimeSpan, Timeout.InfiniteTimeSpan);
    }

    public void Add(Request request)
    {
        lock (_lock)
        {
            if (_count++ == 0)
            {
                _current = TickOf(_time.GetTimestamp());
            }

            // One tick later than the deadline's own: never early.
            var tick = Math.Max(TickOf(request.Deadline) + 1, _current + 1);
            request.Timer = SlotOf(tick).AddLast(request);
            if (!_running)
            {
                _running = true;
                _timer.Change(_tick, _tick);
            }
        }
    }

    public void Remove(Request request)
    {
        lock (_lock)
        {
            if (request.Timer?.List is { } slot)
            {
                slot.Remove(request.Timer);
                _count--;
            }

            request.Timer = null;
        }
    }

    /// <summary>How many requests are under way now.</summary>
    public int Count
    {
        get
        {
            lock (_lock)
            {
                return _count;
            }
        }
    }

    public List<Request> UnderWay()
    {
        var requests = new List<Request>();
        lock (_lock)
        {
            foreach (var slot in _slots)
            {
                if (slot is not null)
                {
                    requests.AddRange(slot);
                }
            }
        }

        return requests;
    }

    public void Dispose() => _timer.Dispose();

    private LinkedList<Request> SlotOf(long tick) => _slots[tick % Slots] ??= new LinkedList<Request>();

    private long TickOf(long timestamp) => (long)(_time.GetElapsedTime(_origin, timestamp) / _tick);

    private void OnTick()
    {
        if (_schedulingPolicy.DeadlineLooksLate())
        {
            return; // the next tick looks at this one's slots, too
        }

        List<Request>? expired = null;
        lock (_lock)
        {
            var now = _time.GetTimestamp();
            var to = TickOf(now);
            for (; _current < to; _current++)
            {
                if (_slots[(_current + 1) % Slots] is { Count: > 0 } slot)
                {
                    Collect(slot, now, ref expired);
                }
            }

            if (_count == 0 && _running)
            {
                _running = false;
                _timer.Change(Timeout.InfiniteTimeSpan, Timeout.InfiniteTimeSpan);
            }
        }

        if (expired is not null)
        {
            foreach (var request in expired)
            {
                _expired(request);
            }
        }

        _ticked();
    }

    private void Collect(LinkedList<Request> slot, long now, ref List<Request>? expired)
    {
        for (var node = slot.First; node is not null;)
        {
            var next = node.Next;
            if (node.Value.Deadline <= now)
            {
                slot.Remove(node);
                (expired ??= []).Add(node.Value);
                node.Value.Deadline = now + (long)(LookAgain.TotalSeconds * _time.TimestampFrequency);
                SlotOf(TickOf(node.Value.Deadline) + 1).AddLast(node);
            }

            node = next; // others of this slot are rounds of the wheel away
        }
    }
}
