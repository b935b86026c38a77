using Snapper.Protocol.Identity;
using Snapper.Storage.Log;
using Snapper.Storage.Membership;
using Snapper.Storage.MigrationPlans;
using Snapper.Storage.States;

namespace Snapper.Storage.Redis;

/// <summary>
/// What all workers share, in one Redis server beside their logs. Each step is one script; time is the server's. Lasting: the keys have no expiry, leases are numbers in
/// them, so that who was there, and who owned what, is known after everything was down.
/// </summary>
/// <remarks>
/// Renewals go over the connection for logs, everything else over the one for states, so that a large read does not delay a lease. As durable as the server is: after it
/// lost its latest writes, what is missing of the directory is noticed at the next renewal (<see cref="ClusterStatus.Lost"/>), and of a log at its next append.
/// </remarks>
public sealed class RedisClusterStore : IClusterStore
{
    /// <summary>The store for one incarnation; a later one makes its own.</summary>
    /// <param name="log">The worker's own log, opened. Not disposed of.</param>
    /// <param name="self">The worker's number and the epoch that opening the log gave. The log is named after the worker, <c>w2</c>.</param>
    /// <param name="options">The same in all workers.</param>
    /// <param name="states">For the state stores of workers that are rescued.</param>
    /// <param name="time">The same.</param>
    /// <exception cref="ArgumentException">The log is not this worker's, or not open.</exception>
    public RedisClusterStore(RedisTransactionLog log, Incarnation self, ClusterOptions options, StateStoreOptions states, TimeProvider time)
    {
        ArgumentNullException.ThrowIfNull(log);
        ArgumentNullException.ThrowIfNull(options);
        ArgumentNullException.ThrowIfNull(states);
        ArgumentNullException.ThrowIfNull(time);
        options.Validate();
        ClusterArguments.Worker(self);
        var keys = new RedisKeys(log.Connections.Options.KeyPrefix, Incarnation.NameOf(self.Worker));
        if (keys.Meta != log.Keys.Meta)
        {
            throw new ArgumentException($"The log {log.Keys.Meta} is not that of worker w{self.Worker}.", nameof(log));
        }

        if (log.Mark.Length == 0)
        {
            throw new ArgumentException($"The log {log.Keys.Meta} is not open.", nameof(log));
        }

        log.BindToInstance();
        Self = self;
        var session = new RedisClusterSession(log.Connections, self, new RedisLogGuard(log.Keys.Meta, self.Epoch, log.Mark), options);
        Members = new RedisClusterMembers(session, states, time);
        Directory = new RedisClusterDirectory(session);
        Plans = new RedisMigrationPlans(session);
        Master = new RedisMasterLease(session);
    }

    /// <summary>
    /// Whether several workers have divided the actors of this server among them, once. From then on no worker may run alone on it: what others logged last may not be in the
    /// states yet (R4).
    /// </summary>
    /// <exception cref="CorruptLogException">The key is not what this program writes.</exception>
    public static async Task<bool> IsDivided(RedisConnections connections, CancellationToken cancellation)
    {
        ArgumentNullException.ThrowIfNull(connections);
        var answer = RedisClusterMembers.Read(await RedisClusterSession.Read(connections, ClusterScripts.IsDivided, cancellation).ConfigureAwait(false));
        return answer.Number(0, "{cluster}:meta") != 0;
    }

    /// <summary>Whether nobody waits for a worker: the actors are divided among others, who live, and no life of this one owns any of them.</summary>
    /// <exception cref="CorruptLogException">A key is not what this program writes.</exception>
    public static async Task<bool> IsNeededByNobody(RedisConnections connections, int worker, CancellationToken cancellation)
    {
        ArgumentNullException.ThrowIfNull(connections);
        var answer = RedisClusterMembers.Read(await RedisClusterSession.Read(connections, ClusterScripts.ShareOf, cancellation, worker).ConfigureAwait(false));
        return answer.Number(0, "{cluster}:shares") == 0 && answer.Number(1, "{cluster}:shares") == 0 && answer.Number(2, "{cluster}:meta") != 0;
    }

    /// <inheritdoc/>
    public Incarnation Self { get; }

    /// <inheritdoc/>
    public IClusterMembers Members { get; }

    /// <inheritdoc/>
    public IClusterDirectory Directory { get; }

    /// <inheritdoc/>
    public IMigrationPlans Plans { get; }

    /// <inheritdoc/>
    public IMasterLease Master { get; }
}
