using System.Text.Json;
using Snapper.AspNetCore.Api.Access;
using Snapper.AspNetCore.Api.Answers;
using Snapper.AspNetCore.Api.Paths;
using Snapper.AspNetCore.Api.Requests;
using Snapper.Cluster.Control;
using Snapper.Contracts;
using Snapper.Protocol.Identity;
using Snapper.Runtime.Door;

namespace Snapper.AspNetCore.Api.Endpoints;

/// <summary>The workers as one system: membership, placement, migrations. A worker that is alone has none of it.</summary>
/// <param name="control">The workers as one system; null: not now, or never.</param>
/// <param name="door">Says whether the worker is on its way; null: it is there.</param>
/// <param name="options">Limits.</param>
internal sealed class ClusterEndpoints(Func<IClusterControl?> control, LifecycleGate? door, ApiOptions options)
{
    public async Task Workers(HttpContext context)
    {
        if (await Control(context) is { } workers)
        {
            await Respond.View(context, new WorkersView { Workers = await workers.Workers(context.RequestAborted) }, ContractJson.Default.WorkersView);
        }
    }

    /// <summary>GET /v1/directory, also with <c>?actor=Type/id</c> or <c>?worker=w1</c>.</summary>
    public async Task Directory(HttpContext context)
    {
        if (await Control(context, "actor", "worker") is not { } workers)
        {
            return;
        }

        if (context.Request.Query.Count > 1)
        {
            await Respond.Send(context, Problem.Invalid("One of the query parameters actor and worker can be asked by, not both at once."));
            return;
        }

        if ((string?)context.Request.Query["worker"] is { } name)
        {
            var partitions = workers.PartitionsOf(name);
            if (partitions.Count == 0 && !(await workers.Workers(context.RequestAborted)).Any(worker => worker.Worker == name))
            {
                await Respond.Send(context, Problem.NotFound($"There is no worker {ClippedText.Of(name)}."));
                return;
            }

            await Respond.View(context, new PartitionsView(name) { Partitions = partitions }, ContractJson.Default.PartitionsView);
            return;
        }

        if ((string?)context.Request.Query["actor"] is not { } asked)
        {
            await Respond.View(context, workers.Directory(), ContractJson.Default.DirectoryView);
            return;
        }

        var slash = asked.IndexOf('/', StringComparison.Ordinal);
        if (slash < 0 || (NameRules.ActorTypeError(asked[..slash]) ?? NameRules.ActorIdError(asked[(slash + 1)..])) is not null)
        {
            await Respond.Send(context, Problem.Invalid("actor must be Type/id."));
            return;
        }

        var actor = new ActorKey(asked[..slash], asked[(slash + 1)..]);
        var placed = new PlacementView(asked, workers.OwnerOf(actor), workers.PartitionOf(actor));
        await Respond.View(context, placed, ContractJson.Default.PlacementView);
    }

    /// <summary>The worker that is asked leaves the others, if it owns nothing. It answers what is under way first, lets nothing new in, and waits to be stopped.</summary>
    public async Task Leave(HttpContext context)
    {
        if (await Control(context) is not { } workers)
        {
            return;
        }

        AuditNote.Say(context, workers.Name);
        if (await workers.Leave(context.RequestAborted) is { } why)
        {
            await Respond.Send(context, new Problem(409, "urn:snapper:not-empty", "It cannot leave", $"{workers.Name} cannot leave now: {why}. Move what it owns away first."));
        }
        else
        {
            await Respond.View(context, new LeftView(workers.Name, "left"), ContractJson.Default.LeftView);
        }
    }

    public async Task Migrate(HttpContext context)
    {
        if (await Control(context) is not { } workers)
        {
            return;
        }

        using var held = options.Bytes.Open(context.Features.Get<RequestCaller>());
        using var body = await PooledBody.Read(context.Request, options, held, holdsTransactions: false);
        if (body.Refused is { } unread)
        {
            await Respond.SendUnread(context, unread, options.RetryAfter);
            return;
        }

        MigrationRequest? asked;
        try
        {
            asked = JsonSerializer.Deserialize(body.Bytes, ContractJson.Strict.MigrationRequest);
        }
        catch (JsonException wrong)
        {
            await Respond.Send(context, Problem.Invalid(BodyErrors.Words(
                wrong, "actors ([{type, id}]), partitions ([numbers]), worker, rebalance, to, reason, id, dryRun")));
            return;
        }

        if (asked is null || asked.Problem() is not null)
        {
            await Respond.Send(context, Problem.Invalid(asked?.Problem() ?? "The body is null."));
            return;
        }

        AuditNote.Say(context, asked.Words(), asked.Reason, asked.DryRun ? "plan" : asked.Rebalance ? "rebalance" : asked.Worker is not null ? "drain" : null);
        try
        {
            var made = await workers.Migrate(asked.ToAsk(), context.RequestAborted);
            var begun = !asked.DryRun && made.Parts.Count > 0; // what has no parts is kept nowhere: everything is where it shall be
            if (begun)
            {
                context.Response.Headers.Location = "/v1/migrations/" + Uri.EscapeDataString(made.Id);
            }

            var status = begun ? StatusCodes.Status202Accepted : StatusCodes.Status200OK;
            await Respond.View(context, made, ContractJson.Default.MigrationStatus, status);
        }
        catch (MigrationRefusedException refused)
        {
            await Respond.Send(context, new Problem(409, "urn:snapper:migration-refused", "This cannot move", refused.Message));
        }
        catch (ArgumentException wrong)
        {
            await Respond.Send(context, Problem.Invalid(wrong.Message));
        }
    }

    public async Task Migrations(HttpContext context)
    {
        if (await Control(context) is { } workers)
        {
            await Respond.View(context, new MigrationsView { Migrations = await workers.Migrations(100, context.RequestAborted) }, ContractJson.Default.MigrationsView);
        }
    }

    public async Task Proposals(HttpContext context)
    {
        if (await Control(context) is { } workers)
        {
            await Respond.View(context, workers.Proposals(), ContractJson.Default.MigrationProposals);
        }
    }

    public async Task Migration(HttpContext context)
    {
        if (await Control(context) is not { } workers)
        {
            return;
        }

        var id = Uri.UnescapeDataString(RawPath.After(context, "/v1/migrations/") ?? "");
        if (MigrationBody.IsId(id) && await workers.Migration(id, context.RequestAborted) is { } found)
        {
            await Respond.View(context, found, ContractJson.Default.MigrationStatus);
        }
        else
        {
            await Respond.Send(context, Problem.NotFound($"There is no migration {ClippedText.Of(id)}, or it is forgotten."));
        }
    }

    /// <summary>The workers as one system; null: the answer is given.</summary>
    /// <param name="context">The request.</param>
    /// <param name="parameters">What its query may name.</param>
    private async Task<IClusterControl?> Control(HttpContext context, params string[] parameters)
    {
        if (control() is { } workers)
        {
            if (QueryNames.Problem(context.Request.Query, parameters) is not { } wrong)
            {
                return workers;
            }

            await Respond.Send(context, Problem.Invalid(wrong + "."));
            return null;
        }

        // While it starts it has not joined the others yet, and whoever polls shall go on. That there is nothing of all this only a worker says that is there, and alone.
        await Respond.Send(context, door?.ClosedBecause is { } reason
            ? Problem.Of(new Rejection(RejectionKind.Unavailable, reason), options.RetryAfter)
            : Problem.NotFound("This worker is alone: there is nothing to place or to move."));
        return null;
    }
}
