using Snapper.Protocol.Identity;
using Snapper.Runtime.Execution;
using Snapper.Storage;
using Snapper.Storage.Log;
using Snapper.Storage.Log.Records;
using Snapper.Storage.Log.Writing;
using Snapper.Storage.Membership;
using Snapper.Storage.Recovery;

namespace Snapper.Cluster.Recovering;

/// <summary>The master's lease as this worker holds it, and what earlier masters have decided. Thread-safe.</summary>
internal sealed class MasterElection(IClusterStore store, TimeProvider time)
{
    private readonly SemaphoreSlim _one = new(1);
    private volatile Taken? _taken;

    /// <summary>Held by this worker, as far as it knows; null: it is not.</summary>
    public Taken? Held => _taken;

    /// <summary>Takes the lease if it is free, and reads what was decided under it: from here on no earlier master decides anything.</summary>
    /// <returns>True: it is held, now or from before.</returns>
    /// <exception cref="CorruptLogException">What was decided cannot be read, or was deleted.</exception>
    public async Task<bool> TryTake(CancellationToken cancellation)
    {
        await Background.Enter(_one, time, cancellation).ConfigureAwait(false);
        try
        {
            if (_taken is not null)
            {
                return true;
            }

            var taken = await store.Master.Take(cancellation).ConfigureAwait(false);
            if (taken.Status == ClusterStatus.Lost)
            {
                throw new CorruptLogException(taken.Detail); // deleted alone, it is as one that is damaged
            }

            if (!taken.IsDone)
            {
                return false;
            }

            _taken = await Read(taken.Value!, cancellation).ConfigureAwait(false);
            return true;
        }
        catch (LogLostException lost) when (lost.Status == AppendStatus.Fenced)
        {
            return false; // another has taken it since
        }
        finally
        {
            _one.Release();
        }
    }

    private async Task<Taken> Read(Mastership mastership, CancellationToken cancellation)
    {
        try
        {
            var decided = new HashSet<BatchId>();
            var records = LogRecovery.ReadAll(mastership.Log, mastership.Opening, cancellation);
            await foreach (var record in records.ConfigureAwait(false))
            {
                if (record is Decision decision)
                {
                    decided.Add(decision.Global);
                }
            }

            return new Taken(mastership, decided);
        }
        catch (CorruptLogException)
        {
            await store.Master.Release(mastership.MasterEpoch, cancellation).ConfigureAwait(false);
            throw;
        }
    }

    /// <summary>It is another's now.</summary>
    public void Lose() => _taken = null;

    /// <summary>What became of a batch of an earlier master; null: this worker is not master, or the batch is of its own time.</summary>
    public bool? TryDecide(BatchId batch) =>
        _taken is { } taken && new TransactionId(batch.Value).MasterEpoch < taken.Mastership.MasterEpoch ? taken.Decided.Contains(batch) : null;

    /// <summary>The lease as taken.</summary>
    /// <param name="Mastership">The lease and its log.</param>
    /// <param name="Decided">Batches that earlier masters have committed, as far as their decisions are kept.</param>
    internal sealed record Taken(Mastership Mastership, HashSet<BatchId> Decided);
}
