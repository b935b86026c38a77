using Snapper.AspNetCore.Api.Answers;
using Snapper.Runtime.Door;
using Snapper.Sidecar.Hosting;

namespace Snapper.AspNetCore.Api.Access;

/// <summary>
/// The bytes that one request holds, from its body until its answer has left. Given back together when it is disposed
/// of; what is taken later is not counted, for then only the transaction itself goes on.
/// </summary>
/// <remarks>Thread-safe: the answers of a batch come in any order.</remarks>
internal sealed class HeldBytes : IBodyRoom, IAnswerRoom
{
    private const long Over = -1;

    private readonly ByteShares _shares;
    private RequestCaller? _caller;
    private ByteBudget? _share;
    private long _held;

    public HeldBytes(ByteShares shares, RequestCaller? caller)
    {
        _shares = shares;
        _caller = caller;
        _share = shares.ShareOf(caller);
    }

    /// <inheritdoc/>
    public Rejection? Refused { get; private set; }

    /// <summary>Takes room for a part of a body.</summary>
    /// <returns>False: the request is refused, see <see cref="Refused"/>.</returns>
    public bool TryTake(int bytes)
    {
        if (_shares.All.Closed is { } closed)
        {
            Refused = new Rejection(RejectionKind.Unavailable, closed);
            return false;
        }

        return TryHold(Volatile.Read(ref _held) == 0 ? bytes + ByteBudget.OfRequest : bytes);
    }

    /// <inheritdoc/>
    public bool TryHold(long bytes)
    {
        if (_share is { } share && !share.TryTake(bytes))
        {
            Refused = OfShare(share);
            return false;
        }

        if (!_shares.All.TryTake(bytes))
        {
            _share?.Give(bytes);
            Refused = new Rejection(
                RejectionKind.Unavailable,
                $"Requests and answers hold the {_shares.All.Most} bytes that they may (Snapper:Worker:MaxHeldBytes).");
            return false;
        }

        Note(bytes);
        return true;
    }

    /// <summary>Takes room for an answer that must be given; a small one is in what each request holds.</summary>
    public void Hold(long bytes)
    {
        if (bytes <= ByteBudget.OfRequest)
        {
            return;
        }

        _share?.Take(bytes);
        _shares.All.Take(bytes);
        Note(bytes);
    }

    /// <inheritdoc/>
    public void Give(long bytes)
    {
        for (var held = Volatile.Read(ref _held); held != Over;)
        {
            var seen = Interlocked.CompareExchange(ref _held, held - bytes, held);
            if (seen == held)
            {
                GiveBack(bytes);
                return;
            }

            held = seen;
        }
    }

    /// <summary>Says whose it is, once that is known.</summary>
    /// <returns>False: its caller holds too much, see <see cref="Refused"/>.</returns>
    public bool BelongsTo(RequestCaller caller)
    {
        var share = _shares.ShareOf(caller);
        _caller = caller;
        if (share is not null && !share.TryTake(Volatile.Read(ref _held)))
        {
            Refused = OfShare(share);
            return false;
        }

        _share = share;
        return true;
    }

    public void Dispose()
    {
        var held = Interlocked.Exchange(ref _held, Over);
        if (held > 0)
        {
            GiveBack(held);
        }
    }

    private void Note(long bytes)
    {
        for (var held = Volatile.Read(ref _held); held != Over;)
        {
            var seen = Interlocked.CompareExchange(ref _held, held + bytes, held);
            if (seen == held)
            {
                return;
            }

            held = seen;
        }

        GiveBack(bytes);
    }

    private void GiveBack(long bytes)
    {
        _share?.Give(bytes);
        _shares.All.Give(bytes);
    }

    private Rejection OfShare(ByteBudget share) => new(
        RejectionKind.Overloaded,
        $"{_caller?.Key} holds as many bytes of requests and answers as one caller may, {share.Most} "
        + "(Snapper:Security:Share).");
}
