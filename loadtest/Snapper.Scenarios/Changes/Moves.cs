using Snapper.Contracts;
using Snapper.Scenarios.Targets;

namespace Snapper.Scenarios.Changes;

/// <summary>Two workers join, then every worker gets its share.</summary>
public sealed class ScaleOut(int joins = 2) : IChange
{
    /// <inheritdoc/>
    public string Describe() => $"{joins} workers join, then partitions move until every worker has its share";

    /// <inheritdoc/>
    public async Task<IReadOnlyDictionary<string, double>> Run(ChangeContext context, CancellationToken cancellation)
    {
        if (context.Join is not { } join)
        {
            throw new TargetException("Workers join through './snapper join', on the machine that runs them: name the data directory of the running system with --data.");
        }

        await Members.Several(context, cancellation).ConfigureAwait(false);
        context.Log.Window = Window.Preparing;
        for (var i = 0; i < joins; i++)
        {
            var name = await join(cancellation).ConfigureAwait(false);
            context.Log.Note(name + " has joined");
            await context.Target.Await($"{name} among the workers", worker => worker.Worker == name && worker.State == "live", cancellation).ConfigureAwait(false);
        }

        return await MigrationRun.Run(context, new MigrationRequest { Rebalance = true }, "rebalance", cancellation).ConfigureAwait(false);
    }
}

/// <summary>Everything of a worker moves to the others.</summary>
public sealed class Drain : IChange
{
    /// <inheritdoc/>
    public string Describe() => "everything of one worker moves to the others";

    /// <inheritdoc/>
    public async Task<IReadOnlyDictionary<string, double>> Run(ChangeContext context, CancellationToken cancellation)
    {
        var worker = Members.Pick(await Members.Several(context, cancellation).ConfigureAwait(false), context.Worker);
        return await MigrationRun.Run(context, new MigrationRequest { Worker = worker.Worker }, "drain of " + worker.Worker, cancellation).ConfigureAwait(false);
    }
}

/// <summary>Every worker gets its share.</summary>
public sealed class Rebalance : IChange
{
    /// <inheritdoc/>
    public string Describe() => "partitions move until every worker has its share";

    /// <inheritdoc/>
    public async Task<IReadOnlyDictionary<string, double>> Run(ChangeContext context, CancellationToken cancellation)
    {
        await Members.Several(context, cancellation).ConfigureAwait(false);
        return await MigrationRun.Run(context, new MigrationRequest { Rebalance = true }, "rebalance", cancellation).ConfigureAwait(false);
    }
}

/// <summary>Everything of a worker moves to the others, and then every worker gets its share again.</summary>
public sealed class DrainAndBack : IChange
{
    /// <inheritdoc/>
    public string Describe() => "everything of one worker moves to the others, then partitions move until every worker has its share";

    /// <inheritdoc/>
    public async Task<IReadOnlyDictionary<string, double>> Run(ChangeContext context, CancellationToken cancellation)
    {
        var there = await new Drain().Run(context, cancellation).ConfigureAwait(false);
        var back = await new Rebalance().Run(context, cancellation).ConfigureAwait(false);
        return there.ToDictionary(static pair => pair.Key, pair => pair.Value + back.GetValueOrDefault(pair.Key));
    }
}

/// <summary>The workers of a system.</summary>
internal static class Members
{
    /// <exception cref="TargetException">There is one alone.</exception>
    public static async Task<IReadOnlyList<ClusterMember>> Several(ChangeContext context, CancellationToken cancellation)
    {
        var members = await context.Target.Refresh(cancellation).ConfigureAwait(false);
        var live = members.Where(static member => member.State == "live").ToArray();
        return live.Length > 1 ? live : throw new TargetException("This needs several workers, and there is one alone: './snapper up --workers 2'.");
    }

    /// <summary>The named one; else the last one that is not the master.</summary>
    /// <exception cref="TargetException">There is none of that name.</exception>
    public static ClusterMember Pick(IReadOnlyList<ClusterMember> members, string? name) => name is null
        ? members.LastOrDefault(static member => !member.Master) ?? members[^1]
        : members.FirstOrDefault(member => member.Worker == name)
            ?? throw new TargetException($"There is no worker {name}; there are {string.Join(", ", members.Select(static member => member.Worker))}.");
}
