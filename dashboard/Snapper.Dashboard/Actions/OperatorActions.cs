using Snapper.Dashboard.Access;
using Snapper.Dashboard.Store;
using Snapper.Dashboard.Workers;
using Snapper.Security;

namespace Snapper.Dashboard.Actions;

/// <summary>What a migration shall move.</summary>
/// <param name="Actors">Keys as Type/id.</param>
/// <param name="Partitions">Numbers.</param>
/// <param name="Worker">Everything of it.</param>
/// <param name="Rebalance">As few partitions as it takes.</param>
/// <param name="To">Target; null: the others share.</param>
public sealed record MigrationOrder(IReadOnlyList<string>? Actors, IReadOnlyList<int>? Partitions, string? Worker, bool Rebalance, string? To);

/// <summary>Everything by which the dashboard changes something goes through here, so that rights and audit have one place.</summary>
public sealed class OperatorActions(WorkerApi api, Fleet fleet, Holder holder)
{
    /// <summary>An id for what is about to be asked for: pressed twice, or sent again after a lost answer, it is done once.</summary>
    public static string NewId() => FormattableString.Invariant($"d-{DateTimeOffset.UtcNow:yyyyMMddHHmmss}-{Guid.NewGuid():N}")[..25];

    /// <summary>Says what would move; changes nothing.</summary>
    public Task<Outcome> TryMigration(MigrationOrder wish, CancellationToken cancellation) => Migrate(wish, null, null, dryRun: true, cancellation);

    /// <summary>Moves it.</summary>
    /// <param name="wish">What.</param>
    /// <param name="id">The same id twice is one migration.</param>
    /// <param name="reason">Why, for those who look later; up to 1,024 characters.</param>
    /// <param name="cancellation">Ends the waiting, not the migration.</param>
    public Task<Outcome> Migrate(MigrationOrder wish, string id, string reason, CancellationToken cancellation) => Migrate(wish, id, reason, dryRun: false, cancellation);

    /// <summary>Puts a state in the place of an actor's, or takes it away.</summary>
    /// <param name="change">Whose, and which.</param>
    /// <param name="id">Of the transaction: the same id twice is one change.</param>
    /// <param name="reason">Why; up to 300 characters.</param>
    /// <param name="overDamage">Only what cannot be read is replaced or taken away; otherwise only what can.</param>
    /// <param name="cancellation">Ends the waiting, not the transaction.</param>
    public Task<Outcome> Change(StateChange change, string id, string reason, bool overDamage, CancellationToken cancellation)
    {
        var path = $"{WorkerPaths.Actor(change.Type, change.Id)}?id={Uri.EscapeDataString(id)}&reason={Uri.EscapeDataString(reason)}{(overDamage ? "&damaged=replace" : "")}";
        return Send(change.State is null ? HttpMethod.Delete : HttpMethod.Put, path, change.State, Right.Administer, cancellation);
    }

    /// <summary>Whether whoever looks may change states.</summary>
    public async Task<bool> MayChange() => (await holder.Who()).Principal.Role.Has(Right.Administer);

    private Task<Outcome> Migrate(MigrationOrder wish, string? id, string? reason, bool dryRun, CancellationToken cancellation)
    {
        var body = new Dictionary<string, object>();
        if (wish.Actors is { } actors) body["actors"] = actors.Select(actor => actor.Split('/', 2)).Select(parts => new { type = parts[0], id = parts[^1] });
        if (wish.Partitions is { } partitions) body["partitions"] = partitions;
        if (wish.Worker is { } worker) body["worker"] = worker;
        if (wish.Rebalance) body["rebalance"] = true;
        if (wish.To is { } to) body["to"] = to;
        if (id is not null) body["id"] = id;
        if (reason is not null) body["reason"] = reason;
        if (dryRun) body["dryRun"] = true;
        return Send(HttpMethod.Post, "/v1/migrations", body, Right.Operate, cancellation);
    }

    // The worker decides, too, by the same token: this one only spares it.
    private async Task<Outcome> Send(HttpMethod method, string path, object? body, Right right, CancellationToken cancellation)
    {
        var (principal, token) = await holder.Who();
        if (!principal.Role.Has(right))
        {
            return new Outcome(StatusCodes.Status403Forbidden, null, $"{principal.Name} has the role {principal.Role.Name()}, which has not the right to {right.ToString().ToLowerInvariant()}");
        }

        return fleet.Workers.FirstOrDefault(worker => worker.IsUp) is { } one
            ? await api.Send(method, one.Url, path, body, token, cancellation)
            : new Outcome(0, null, "no worker answers");
    }
}
