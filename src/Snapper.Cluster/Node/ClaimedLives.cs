using Snapper.Protocol.Identity;
using Snapper.Runtime.Execution;
using Snapper.Storage.Log;
using Snapper.Storage.Membership;

namespace Snapper.Cluster.Node;

/// <summary>
/// Lives of workers that packets and answers claim, and that are not known yet. A worker registers before it sends
/// anything, so that a true one is in the store; a false one would end the life that it names (R4). Thread-safe.
/// </summary>
/// <param name="self">This worker in this life.</param>
/// <param name="members">The workers that are registered.</param>
/// <param name="time">The clock.</param>
/// <param name="background">Where the store is read.</param>
/// <param name="failed">Receives what makes the worker stop.</param>
internal sealed class ClaimedLives(
    Incarnation self, IClusterMembers members, TimeProvider time, Background background, Action<Exception> failed)
    : IDisposable
{
    // However many packets claim something, the store is read so often at most.
    private static readonly TimeSpan s_pause = TimeSpan.FromMilliseconds(50);

    private readonly Lock _gate = new();
    private readonly CancellationTokenSource _ending = new();
    private IReadOnlyList<Member> _members = [];
    private bool _isReading;
    private long? _readAt;

    /// <summary>
    /// Whether a life is the one that is registered; of this worker: whether its present life has ended.
    /// </summary>
    /// <returns>False: it is not, as far as was read. The store is read again meanwhile; ask again.</returns>
    public bool Believes(Incarnation claimed)
    {
        lock (_gate)
        {
            if (IsTrue(claimed))
            {
                return true;
            }

            var wasJustRead = _readAt is { } at && time.GetElapsedTime(at) < s_pause;
            if (_isReading || wasJustRead || _ending.IsCancellationRequested)
            {
                return false;
            }

            _isReading = true;
        }

        _ = background.Run(Read);
        return false;
    }

    public void Dispose() => _ending.Cancel();

    private bool IsTrue(Incarnation claimed)
    {
        foreach (var member in _members)
        {
            if (member.Incarnation.Worker == claimed.Worker)
            {
                return claimed.Worker == self.Worker
                    ? member.CurrentEpoch > self.Epoch || member.State == MemberState.Left
                    : member.Incarnation == claimed && member.CurrentEpoch == claimed.Epoch;
            }
        }

        return false;
    }

    private async Task Read()
    {
        IReadOnlyList<Member>? read = null;
        try
        {
            read = await members.Read(_ending.Token).ConfigureAwait(false);
        }
        catch (Exception exception) when (StorageFaults.IsPassing(exception) || _ending.IsCancellationRequested)
        {
            // Nothing is believed that cannot be read; the next packet asks again.
        }
        catch (Exception exception)
        {
            failed(exception);
        }

        lock (_gate)
        {
            _members = read ?? _members;
            _readAt = time.GetTimestamp();
            _isReading = false;
        }
    }
}
