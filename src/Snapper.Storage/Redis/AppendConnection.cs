using System.Net.Security;
using Snapper.Storage.Log;
using Snapper.Storage.Log.Writing;

namespace Snapper.Storage.Redis;

/// <summary>
/// A log's own connection for its hot path: appends and checks of the epoch, one in flight, spoken in RESP2 without a client
/// library. The caller's thread sends; one thread blocks in the kernel for the answer and completes the task inline, so that an
/// append costs one thread switch in this process. An idle connection sleeps, and hears at once when the server goes away.
/// </summary>
/// <remarks>
/// A command that fails, times out or is cancelled takes its link with it: its answer, should it still come, reaches nobody.
/// The next command makes a new one. Every command is completed by its link's own thread, once nobody is inside a send: the
/// group's memory is the caller's again then.
/// </remarks>
internal sealed partial class AppendConnection : IDisposable
{
    private readonly RedisOptions _options;
    private readonly RemoteCertificateValidationCallback? _trust;
    private readonly Action<AppendCommand> _succeeded;
    private readonly int _timeoutMs;
    private readonly ReplicaWait _replicas;
    private readonly AppendMessage _message;
    private readonly SemaphoreSlim _turn = new(1, 1);
    private readonly Timer _timer;
    private readonly Lock _gate = new();

    // Guarded by the gate.
    private AppendLink? _link;
    private AppendLink? _linkInUse;
    private AppendCommand? _inFlight;
    private CancellationTokenRegistration _cancellation;
    private Exception? _failure;
    private long _dueMs;
    private bool _isTimerSet;
    private bool _disposed;

    /// <summary>Connects with the first command.</summary>
    /// <param name="options">Valid ones.</param>
    /// <param name="keys">Names of the log's keys.</param>
    /// <param name="succeeded">Hears of a command that was done, before its task is complete.</param>
    /// <param name="trust">Decides on the server's certificate; null: the machine's rules do.</param>
    /// <param name="replicas">What those must have; null: what the options say.</param>
    public AppendConnection(
        RedisOptions options, RedisKeys keys, Action<AppendCommand> succeeded,
        RemoteCertificateValidationCallback? trust = null, ReplicaWait? replicas = null)
    {
        _options = options;
        _trust = trust;
        _succeeded = succeeded;
        _replicas = replicas ?? new ReplicaWait(options);
        _timeoutMs = (int)options.CommandTimeout.TotalMilliseconds + (_replicas.Replicas > 0 ? _replicas.TimeoutMs : 0);
        _message = new AppendMessage(keys.Meta, keys.Stream, _replicas);
        using (FlowSuppression.Start())
        {
            _timer = new Timer(static connection => ((AppendConnection)connection!).OnTimer(), this, Timeout.Infinite, Timeout.Infinite);
        }
    }

    /// <summary>
    /// Hears that the server may be the primary no more: it takes no writes, or has lost its replicas.
    /// </summary>
    public Action? Doubted { get; init; }

    /// <summary>True: there is a link, made or in the making, that the next command will use.</summary>
    public bool IsConnected
    {
        get
        {
            lock (_gate)
            {
                return _link is not null;
            }
        }
    }

    /// <summary>Runs a command. Commands of several callers take turns.</summary>
    /// <returns>A certain result. An exception means: effect unknown.</returns>
    public Task<AppendResult> Run(AppendCommand command, CancellationToken cancellation) =>
        _turn.Wait(0, CancellationToken.None) ? Start(command, cancellation) : RunInTurn(command, cancellation);

    /// <summary>From now on each command looks whether the server is the one on which the log was opened.</summary>
    public void BindToInstance()
    {
        lock (_gate)
        {
            _message.IsBound = true;
        }
    }

    /// <summary>Closes the connection; a command in flight fails. May be called again.</summary>
    public void Dispose()
    {
        AppendLink? link, linkInUse;
        lock (_gate)
        {
            if (_disposed)
            {
                return;
            }

            _disposed = true;
            _failure ??= new ObjectDisposedException(nameof(AppendConnection));
            (link, linkInUse) = (_link, _linkInUse);
            _link = null;
        }

        link?.Abort();
        linkInUse?.Abort();
        _timer.Dispose();
    }

    private async Task<AppendResult> RunInTurn(AppendCommand command, CancellationToken cancellation)
    {
        await _turn.WaitAsync(cancellation).ConfigureAwait(false);
        return await Start(command, cancellation).ConfigureAwait(false);
    }

    private Task<AppendResult> Start(AppendCommand command, CancellationToken cancellation)
    {
        // Registered first: the command could be over before its registration was known.
        var registration = cancellation.UnsafeRegister(static (connection, token) => ((AppendConnection)connection!).OnCancelled(token), this);
        AppendLink? link = null;
        var isNew = false;
        var bytes = 0;
        bool disposed;
        lock (_gate)
        {
            disposed = _disposed;
            if (!disposed && !cancellation.IsCancellationRequested)
            {
                _message.Encode(command);
                bytes = _message.Bytes;
                _inFlight = command;
                _cancellation = registration;
                _failure = null;
                isNew = _link is null;
                link = _linkInUse = _link ??= new AppendLink(_options, _trust);
                SetDue(isNew ? Math.Max((int)RedisOptions.ConnectTimeout.TotalMilliseconds, TimeoutMs) : TimeoutMs);
            }
        }

        if (link is null)
        {
            registration.Dispose();
            _turn.Release();
            return disposed ? Task.FromException<AppendResult>(new ObjectDisposedException(nameof(AppendConnection))) : Task.FromCanceled<AppendResult>(cancellation);
        }

        if (isNew)
        {
            StartThread(link);
        }
        else if (bytes <= AppendLink.UnblockedBytesMax)
        {
            Send(link);
        }
        else
        {
            ThreadPool.UnsafeQueueUserWorkItem(static work => work.Connection.Send(work.Link), (Connection: this, Link: link), preferLocal: false);
        }

        return command.Task;
    }

    /// <summary>For the message at hand: a second more for each 8 MiB, or a slow disk would never get a large one written.</summary>
    private int TimeoutMs => _timeoutMs + (_message.Bytes / (8 * 1024));

    /// <summary>Apart from its caller, which would pay for the closure with each command.</summary>
    private void StartThread(AppendLink link)
    {
        try
        {
            new Thread(() => Work(link)) { IsBackground = true, Name = "snapper-append" }.UnsafeStart();
        }
        catch (Exception error)
        {
            // The system gives no more threads, and none will end the command, whose turn all that follow wait for.
            Leave(link);
            Complete(link, default, error);
        }
    }

    private void Send(AppendLink link)
    {
        try
        {
            link.Send(_message);
        }
        catch (Exception error)
        {
            Fail(link, error);
        }
    }

    /// <summary>Gives the command of a link up; the link's thread completes it.</summary>
    private void Fail(AppendLink link, Exception error)
    {
        lock (_gate)
        {
            if (_linkInUse != link)
            {
                return;
            }

            _failure ??= error;
            if (_link == link)
            {
                _link = null;
            }
        }

        link.Abort();
    }

    private void OnCancelled(CancellationToken cancellation)
    {
        AppendLink? link;
        lock (_gate)
        {
            link = _linkInUse;
        }

        if (link is not null)
        {
            Fail(link, new OperationCanceledException(cancellation));
        }
    }

    /// <summary>Needs the gate. The timer is left alone while it runs to an earlier moment: it looks again then, and no command pays for it.</summary>
    private void SetDue(int timeoutMs)
    {
        var dueMs = Environment.TickCount64 + timeoutMs;
        if (!_disposed && (!_isTimerSet || dueMs < _dueMs))
        {
            _isTimerSet = true;
            _timer.Change(timeoutMs, Timeout.Infinite);
        }

        _dueMs = dueMs;
    }

    private void OnTimer()
    {
        AppendLink? link;
        lock (_gate)
        {
            link = _linkInUse;
            _isTimerSet = false;
            if (link is null || _disposed)
            {
                return;
            }

            var leftMs = _dueMs - Environment.TickCount64;
            if (leftMs > 0)
            {
                _isTimerSet = true;
                _timer.Change(leftMs, Timeout.Infinite);
                return;
            }
        }

        Fail(link, new TimeoutException("Redis did not answer an append in time."));
    }
}
