using System.Text.Json;
using System.Text.Json.Serialization;
using Snapper.Protocol.Identity;
using Snapper.Runtime.Door;
using Snapper.Runtime.Inspection;
using Snapper.Server.Api.Answers;
using Snapper.Server.Api.Requests;

namespace Snapper.Server.Api.Endpoints;

/// <summary>The workers as one system: membership, placement, migrations. A worker that is alone has none of it.</summary>
/// <param name="control">The workers as one system; null: not now, or never.</param>
/// <param name="door">Says whether the worker is on its way; null: it is there.</param>
/// <param name="options">Limits.</param>
internal sealed class ClusterEndpoints(Func<IClusterControl?> control, DoorSwitch? door, ApiOptions options)
{
    private static readonly JsonSerializerOptions s_json = new(JsonSerializerDefaults.Web)
    {
        UnmappedMemberHandling = JsonUnmappedMemberHandling.Disallow,
        DefaultIgnoreCondition = JsonIgnoreCondition.WhenWritingNull,
    };

    public async Task Workers(HttpContext context)
    {
        if (await Control(context) is { } workers)
        {
            await Send(context, StatusCodes.Status200OK, new { workers = await workers.Workers(context.RequestAborted) });
        }
    }

    /// <summary>GET /v1/directory, also with <c>?actor=Type/id</c> or <c>?worker=w1</c>.</summary>
    public async Task Directory(HttpContext context)
    {
        if (await Control(context) is not { } workers)
        {
            return;
        }

        if ((string?)context.Request.Query["worker"] is { } name)
        {
            await Send(context, StatusCodes.Status200OK, new { worker = name, partitions = workers.PartitionsOf(name) });
            return;
        }

        if ((string?)context.Request.Query["actor"] is not { } asked)
        {
            await Send(context, StatusCodes.Status200OK, workers.Directory());
            return;
        }

        var slash = asked.IndexOf('/', StringComparison.Ordinal);
        if (slash < 0 || (NameRules.ActorTypeError(asked[..slash]) ?? NameRules.ActorIdError(asked[(slash + 1)..])) is not null)
        {
            await Respond.Send(context, Invalid("actor must be Type/id."));
            return;
        }

        await Send(context, StatusCodes.Status200OK, new { actor = asked, worker = workers.OwnerOf(new ActorKey(asked[..slash], asked[(slash + 1)..])) });
    }

    public async Task Migrate(HttpContext context)
    {
        if (await Control(context) is not { } workers)
        {
            return;
        }

        using var body = await PooledBody.Read(context.Request, options);
        MigrationBody? asked;
        try
        {
            asked = body.TooLong is null ? JsonSerializer.Deserialize<MigrationBody>(body.Bytes, s_json) : null;
        }
        catch (JsonException wrong)
        {
            await Respond.Send(context, Invalid($"The body is wrong: {wrong.Message}"));
            return;
        }

        if (asked is null || asked.Problem() is not null)
        {
            await Respond.Send(context, Invalid(body.TooLong ?? asked?.Problem() ?? "The body is null."));
            return;
        }

        try
        {
            var made = await workers.Migrate(asked.ToAsk(), context.RequestAborted);
            if (!asked.DryRun)
            {
                context.Response.Headers.Location = "/v1/migrations/" + Uri.EscapeDataString(made.Id);
            }

            await Send(context, asked.DryRun ? StatusCodes.Status200OK : StatusCodes.Status202Accepted, made);
        }
        catch (MigrationRefusedException refused)
        {
            await Respond.Send(context, new Problem(409, "urn:snapper:migration-refused", "This cannot move", refused.Message));
        }
        catch (ArgumentException wrong)
        {
            await Respond.Send(context, Invalid(wrong.Message));
        }
    }

    public async Task Migrations(HttpContext context)
    {
        if (await Control(context) is { } workers)
        {
            await Send(context, StatusCodes.Status200OK, new { migrations = await workers.Migrations(100, context.RequestAborted) });
        }
    }

    public async Task Proposals(HttpContext context)
    {
        if (await Control(context) is { } workers)
        {
            await Send(context, StatusCodes.Status200OK, workers.Proposals());
        }
    }

    public async Task Migration(HttpContext context)
    {
        if (await Control(context) is not { } workers)
        {
            return;
        }

        var id = Uri.UnescapeDataString(RawPath.After(context, "/v1/migrations/") ?? "");
        if (await workers.Migration(id, context.RequestAborted) is { } found)
        {
            await Send(context, StatusCodes.Status200OK, found);
        }
        else
        {
            await Respond.Send(context, new Problem(404, "urn:snapper:not-found", "Not found", $"There is no migration '{id}', or it is forgotten."));
        }
    }

    private async Task<IClusterControl?> Control(HttpContext context)
    {
        if (control() is { } workers)
        {
            return workers;
        }

        // While it starts it has not joined the others yet, and whoever polls shall go on. That there is nothing of all this only a worker says that is there, and alone.
        await Respond.Send(context, door?.ClosedBecause is { } reason
            ? Problem.Of(new Rejection(RejectionKind.Unavailable, reason), options.RetryAfter)
            : new Problem(404, "urn:snapper:not-found", "Not found", "This worker is alone: there is nothing to place or to move."));
        return null;
    }

    private static Problem Invalid(string detail) => new(400, "urn:snapper:invalid-request", "Invalid request", detail);

    private static Task Send<T>(HttpContext context, int status, T view) =>
        Respond.Send(context, status, Respond.Json, JsonSerializer.SerializeToUtf8Bytes(view, s_json));

    private sealed record ActorBody(string? Type, string? Id);

    private sealed record MigrationBody(
        IReadOnlyList<ActorBody>? Actors, IReadOnlyList<int>? Partitions, string? Worker, string? To, string? Reason, string? Id, bool DryRun = false,
        bool Rebalance = false)
    {
        public string? Problem()
        {
            if ((Actors is null ? 0 : 1) + (Partitions is null ? 0 : 1) + (Worker is null ? 0 : 1) + (Rebalance ? 1 : 0) != 1)
            {
                return "Exactly one of actors, partitions, worker and rebalance must be there.";
            }

            if (Rebalance && To is not null)
            {
                return "to cannot be there with rebalance: every worker gets its share.";
            }

            foreach (var actor in Actors ?? [])
            {
                if ((NameRules.ActorTypeError(actor.Type ?? "") ?? NameRules.ActorIdError(actor.Id ?? "")) is { } wrong)
                {
                    return $"An actor is wrong: {wrong}.";
                }
            }

            return Id is { Length: 0 or > 100 } ? "id must have 1 to 100 characters." : Id == "proposals" ? "id must not be 'proposals': that address is taken." : null;
        }

        public MigrationAsk ToAsk()
        {
            List<ActorKey>? actors = null;
            foreach (var actor in Actors ?? [])
            {
                (actors ??= []).Add(new ActorKey(actor.Type!, actor.Id!));
            }

            return new MigrationAsk(Id, actors, Partitions, Worker, To, Reason ?? "", DryRun, Rebalance);
        }
    }
}
