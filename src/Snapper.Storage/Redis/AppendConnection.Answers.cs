using System.Text;
using Snapper.Storage.Log;

namespace Snapper.Storage.Redis;

/// <summary>The thread of a link: it makes the link, reads the answers and completes the commands.</summary>
internal sealed partial class AppendConnection
{
    // Only touched by the thread of the link in use.
    private bool _isByText;

    /// <summary>A link's thread, from its making to its end.</summary>
    private void Work(AppendLink link)
    {
        try
        {
            if (link.Open() is { } refusal)
            {
                Leave(link);
                Complete(link, new AppendResult(AppendStatus.Refused, refusal), null);
                return;
            }

            lock (_gate)
            {
                SetDue(TimeoutMs);
            }

            _isByText = false;
            link.Send(_message);
            while (!link.IsClosed)
            {
                TakeIn(link, link.Read(isLast: !_message.Waits));
            }

            // A command that began while the one before was told may be in flight here, and no read fails for it.
            Leave(link);
            Complete(link, default, new IOException("The connection was closed."));
        }
        catch (Exception error)
        {
            Leave(link);
            Complete(link, default, error);
        }
    }

    private void TakeIn(AppendLink link, RespReply reply)
    {
        if (!link.WaitForSender())
        {
            throw new RespException("an answer to no command");
        }

        if (reply.Kind == RespKind.Error && !_isByText && reply.Text.StartsWith("NOSCRIPT"u8))
        {
            // The server was restarted. It has said so before running anything.
            _isByText = true;
            if (_message.Waits)
            {
                link.ReadCount(_message.WaitsForDisk, out _); // of what was not done
            }

            link.Send(_message, byText: true);
            return;
        }

        _isByText = false;
        AppendResult result = default;
        Exception? error = null;
        if (reply.Text.SequenceEqual("OK"u8) && reply.Kind == RespKind.Bulk)
        {
            result = new AppendResult(AppendStatus.Appended);
        }
        else
        {
            try
            {
                result = ResultOf(reply);
            }
            catch (InvalidOperationException unknown)
            {
                error = unknown;
            }
        }

        if (_message.Waits)
        {
            // Its answer is read in any case: the next command must not find it.
            var isForDisk = _message.WaitsForDisk;
            var count = link.ReadCount(isForDisk, out var refusal);
            if (error is null && result.Status is AppendStatus.Appended or AppendStatus.AlreadyThere)
            {
                error = refusal is null ? _replicas.Judge(count, isForDisk) : _replicas.Refused(refusal, isForDisk);
            }
        }

        if ((error is null && result.Status == AppendStatus.Refused && RedisRefusal.IsNoPrimary(result.Detail))
            || error is TooFewReplicasException)
        {
            Leave(link); // the address may lead elsewhere by now
            Doubted?.Invoke();
        }

        Complete(link, result, error);
    }

    private static AppendResult ResultOf(RespReply reply)
    {
        var text = Encoding.UTF8.GetString(reply.Text);
        return reply.Kind == RespKind.Error ? RedisRefusal.OfError(text) : RedisRefusal.OfAnswer(text);
    }

    /// <summary>Ends the command in flight, if it is this link's. Only its thread calls this.</summary>
    private void Complete(AppendLink link, AppendResult result, Exception? error)
    {
        AppendCommand? command;
        CancellationTokenRegistration cancellation;
        lock (_gate)
        {
            if (_linkInUse != link)
            {
                // The connection ended while it was idle: the next command makes a new one.
                return;
            }

            if (error is not null)
            {
                error = _failure ?? error;
            }

            command = _inFlight!;
            cancellation = _cancellation;
            _inFlight = null;
            _linkInUse = null;
            _cancellation = default;
            _message.Clear();
        }

        // Waits for a callback that is on its way: it must not meet the next command.
        cancellation.Dispose();
        if (error is null && result.Status is AppendStatus.Appended or AppendStatus.AlreadyThere)
        {
            _succeeded(command);
        }

        _turn.Release();
        _ = error switch
        {
            null => command.TrySetResult(result),
            OperationCanceledException cancelled when cancelled.CancellationToken.IsCancellationRequested => command.TrySetCanceled(cancelled.CancellationToken),
            _ => command.TrySetException(error),
        };
    }

    /// <summary>Closes a link for good; when it returns, nobody sends on it.</summary>
    private void Leave(AppendLink link)
    {
        lock (_gate)
        {
            if (_link == link)
            {
                _link = null;
            }
        }

        link.End();
    }
}
