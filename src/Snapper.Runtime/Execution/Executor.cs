using System.Diagnostics.CodeAnalysis;
using Snapper.Protocol;
using Snapper.Protocol.Scheduling;
using Snapper.Protocol.Transactions;

namespace Snapper.Runtime.Execution;

/// <summary>
/// One single-threaded executor: every actor and coordinator belongs to one by hash, so that their machines need no locks
/// and user code of one actor interleaves only at <c>await</c>. This class is the queue and what is done with an item; who
/// pumps it (a thread, or a simulator) is another's matter.
/// </summary>
/// <remarks>
/// Order: what is sent to the same executor runs before the next item from outside, so that a message is never overtaken by
/// another that was caused by it, and messages from one executor to another keep their order.
/// </remarks>
public sealed partial class Executor
{
    /// <summary>Depth to which a call to an actor of the same executor runs inline; beyond it is posted (W5).</summary>
    private const int InlineDepth = 16;

    [ThreadStatic]
    private static PumpToken? t_pump;

    private readonly WorkQueue _local = new();
    private readonly Lock _inboxLock = new();
    private WorkQueue _inbox = new();
    private WorkQueue _taken = new();
    private volatile bool _inboxHasItems;
    private readonly Random _random;
    private CallFrame? _running;
    private long _progress;
    private PumpToken? _token; // of the last pump: a simulator enters before each item
    private ExecutionContext? _ambient; // of the pump, before any user code

    // Generation of the pump, and in the lowest bit whether user code runs (W5).
    private long _phase;

    public Executor(Worker worker, int index, int seed)
    {
        Worker = worker;
        Index = index;
        _random = new Random(seed);
        _residents = new ResidentActors(worker.Options.MaxActorBytes / worker.Options.Executors);
        _starts = new WaitingStarts(ShareOfCaller(worker.Options), worker.Time.TimestampFrequency);
        _transactions = new TransactionMachine(_outputs);
    }

    public Worker Worker { get; }

    public int Index { get; }

    public IServiceProvider? Services => Worker.Services;

    /// <summary>Called from any thread when an item came in from outside; wakes the pump.</summary>
    public Action? Wake { get; set; }

    /// <summary>Counts handled items; the watchdog sees by it whether the executor moves (W5).</summary>
    public long Progress => Volatile.Read(ref _progress);

    /// <summary>True on the thread that pumps this executor now; false for disowned threads and foreign ones.</summary>
    public bool IsCurrent => t_pump is { } pump && ReferenceEquals(pump.Executor, this) && pump.Generation == Volatile.Read(ref _phase) >> 1;

    public bool HasWork => _local.Count > 0 || _taken.Count > 0 || _inboxHasItems || HoldsBack;

    /// <summary>Makes the calling thread the pump. An earlier pump must have been taken off by <see cref="TryDisown"/>.</summary>
    public void Enter()
    {
        var generation = Volatile.Read(ref _phase) >> 1;
        t_pump = _token is { } token && token.Generation == generation ? token : _token = new PumpToken(this, generation);
        _ambient = ExecutionContext.Capture();
    }

    /// <summary>The calling thread pumps no more.</summary>
    public static void Leave() => t_pump = null;

    /// <summary>Takes the executor from its pump if that is inside user code; from the watchdog (W5).</summary>
    /// <returns>The call whose code does not come back; null: the pump is not in user code.</returns>
    public CallFrame? TryDisown()
    {
        var phase = Volatile.Read(ref _phase);
        if ((phase & 1) == 0)
        {
            return null;
        }

        if (Interlocked.CompareExchange(ref _phase, ((phase >> 1) + 1) << 1, phase) != phase)
        {
            return null;
        }

        // Only now: before, that call might have ended and another one begun, of the same phase.
        return Interlocked.Exchange(ref _running, null);
    }

    /// <summary>Queues an item; from any thread.</summary>
    /// <param name="item">The item.</param>
    /// <param name="wakes">No: others follow, and behind the last one the caller wakes the pump. It would sleep and wake between each two of them.</param>
    public void Post(in WorkItem item, bool wakes = true)
    {
        if (IsCurrent)
        {
            _local.Enqueue(item);
            return;
        }

        PostOutside(item, wakes);
    }

    /// <summary>
    /// Queues the start of an ACT behind everything that is under way here: the one before it has then given its locks back,
    /// unless it really waits for something.
    /// </summary>
    public void PostStart(Request request, bool gateIsOpen) =>
        PostOutside(WorkItem.Start(request, gateIsOpen));

    /// <summary>Queues an item behind everything that is under way here.</summary>
    public void PostOutside(in WorkItem item, bool wakes = true)
    {
        if (!Worker.SchedulingPolicy.IsFixed && IsHeldBack(item))
        {
            return;
        }

        Receive(item, wakes);
    }

    private void Receive(in WorkItem item, bool wakes = true)
    {
        lock (_inboxLock)
        {
            if (item.Kind == WorkKind.StartAct)
            {
                _starts.Add(item);
                QueueTurns();
            }
            else
            {
                _inbox.Enqueue(item);
                _inboxHasItems = true;
            }
        }

        if (wakes)
        {
            Wake?.Invoke();
        }
    }

    public void PostContinuation(CallFrame frame, SendOrPostCallback callback, object? state)
    {
        // Always behind what has come from outside: code that only yields would keep the executor to itself otherwise.
        PostOutside(new WorkItem { Kind = WorkKind.Continue, Extra = new Continuation(frame, callback, state) });
    }

    public void PostReturned(CallFrame frame) => Post(WorkItem.Returned(frame));

    public void PostRun(Action action) => Post(WorkItem.Run(action));

    /// <summary>Handles one item; on the pump.</summary>
    /// <returns>False: there was none.</returns>
    public bool RunOne()
    {
        if (HoldsBack)
        {
            SendOne();
            return true;
        }

        if (!_local.TryDequeue(out var item) && !TryTake(out item))
        {
            return false;
        }

        _progress++;
        Handle(item);
        if (_residents.IsOver)
        {
            MakeRoom();
        }

        return true;
    }

    public Guid NewGuid()
    {
        Span<byte> bytes = stackalloc byte[16];
        _random.NextBytes(bytes);
        return new Guid(bytes);
    }

    public int Jitter(int below) => _random.Next(below);

    public ActorMachine Machine(ActorCell cell) =>
        cell.Machine ?? throw new ProtocolViolationException($"{cell.Key} is used before it is loaded.");

    /// <summary>Enters user code of a call.</summary>
    /// <returns>The call that ran before, for <see cref="EndUserCode"/>.</returns>
    public CallFrame? BeginUserCode(CallFrame frame)
    {
        var outer = _running;
        if (outer is null)
        {
            ForgetAmbience();
        }

        Volatile.Write(ref _running, frame);
        SynchronizationContext.SetSynchronizationContext(frame.Synchronization);
        Volatile.Write(ref _phase, t_pump!.Generation << 1 | 1);
        return outer;
    }

    /// <summary>Leaves user code.</summary>
    /// <exception cref="DisownedException">The watchdog has given this executor to another thread (W5).</exception>
    public void EndUserCode(CallFrame? outer)
    {
        EnterRuntime();
        Volatile.Write(ref _running, outer);
        SynchronizationContext.SetSynchronizationContext(outer?.Synchronization);
        if (outer is null)
        {
            ForgetAmbience();
        }
    }

    /// <summary>
    /// Code that is not <c>async</c>, and code of values, leaves what it changed around itself (values of
    /// <see cref="AsyncLocal{T}"/>, the culture) on the thread, where other transactions' code is next.
    /// </summary>
    private void ForgetAmbience()
    {
        if (_ambient is { } ambient && !ReferenceEquals(ExecutionContext.Capture(), ambient))
        {
            ExecutionContext.Restore(ambient);
        }
    }

    /// <summary>User code calls its context: machines may be stepped now, so the watchdog must not take the thread away.</summary>
    /// <exception cref="DisownedException">It has done so already.</exception>
    /// <exception cref="InvalidOperationException">
    /// The runtime has called the code of a state, an input or a result: machines may be in the middle of a step.
    /// </exception>
    public void EnterRuntime()
    {
        var generation = t_pump!.Generation << 1;
        var phase = Interlocked.CompareExchange(ref _phase, generation, generation | 1);
        if (phase == generation)
        {
            throw new InvalidOperationException("A value that is written or read as JSON has used the context of an actor.");
        }

        if (phase != (generation | 1))
        {
            throw new DisownedException();
        }
    }

    /// <summary>Back to user code.</summary>
    /// <exception cref="DisownedException">
    /// The watchdog has given this executor to another thread: a call that ran inline below did not come back in time. This
    /// thread unwinds then, and must not write over the phase of its successor.
    /// </exception>
    public void LeaveRuntime()
    {
        var generation = t_pump!.Generation << 1;
        if (Interlocked.CompareExchange(ref _phase, generation | 1, generation) >> 1 != generation >> 1)
        {
            throw new DisownedException();
        }
    }

    private bool TryTake([MaybeNullWhen(false)] out WorkItem item)
    {
        if (_served is not null)
        {
            EndTurn();
        }

        if (_taken.TryDequeue(out item))
        {
            return true;
        }

        if (!_inboxHasItems)
        {
            return false;
        }

        lock (_inboxLock)
        {
            (_taken, _inbox) = (_inbox, _taken);
            _inboxHasItems = false;
        }

        return _taken.TryDequeue(out item);
    }

    private sealed record PumpToken(Executor Executor, long Generation);

    private sealed record Continuation(CallFrame Frame, SendOrPostCallback Callback, object? State);
}
