using System.CommandLine;
using System.Globalization;
using System.Security.Cryptography;
using System.Text.Json.Nodes;
using Snapper.Server.Processes;

namespace Snapper.Server.Commands;

/// <summary>Who is there, and moving actors between workers: the HTTP API of any worker, from the command line.</summary>
internal static class ClusterCommands
{
    private static readonly Option<Uri> s_url = Options.Of(
        "--url", "URL", "any worker's own HTTP API", Values.Address, new Uri("http://127.0.0.1:5101"));

    private static readonly Option<string?> s_to = Options.Text("--to", "NAME", "the worker that gets them (default: spread over the others)");
    private static readonly Option<string?> s_reason = Options.Text("--reason", "TEXT", "kept with the plan");
    private static readonly Option<bool> s_dryRun = Options.Flag("--dry-run", "only say what would move");

    private static readonly Option<bool> s_propose = Options.Flag(
        "--propose", "move nothing; show what the policy proposes by load and by actors used together");

    private static readonly Argument<string?> s_id = new("ID") { Arity = ArgumentArity.ZeroOrOne, Description = "one migration" };

    private static readonly Argument<string[]> s_what = new("Type/id|PARTITION")
    {
        Arity = ArgumentArity.OneOrMore, Description = "actors, as Account/alice, or numbers of partitions",
    };

    private static readonly Argument<string> s_worker = new("NAME") { Description = "the worker" };

    private const string AskAnother = "Ask another worker with --url.";

    private static readonly TimeSpan LookEvery = TimeSpan.FromMilliseconds(100);
    private static readonly TimeSpan BackWithin = TimeSpan.FromSeconds(30);

    /// <summary>All of them.</summary>
    public static readonly IReadOnlyList<Command> All =
    [
        CommandLines.Command("workers", "shows the workers of a running system and what they own", Workers, s_url),
        CommandLines.Command(
            "migrations", "shows what is being moved and what was moved last; with an ID its parts, their steps and what waits for them",
            Migrations, s_id, s_url),
        CommandLines.Command(
            "migrate", "moves actors or partitions to another worker while transactions run", Migrate, s_what, s_url, s_to, s_reason, s_dryRun),
        CommandLines.Command(
            "drain", "moves everything of a worker to the others while transactions run", Drain, s_worker, s_url, s_to, s_reason, s_dryRun),
        CommandLines.Command(
            "rebalance", "moves partitions so that every worker has its share, while transactions run", Rebalance,
            s_url, s_reason, s_dryRun, s_propose),
    ];

    private static async Task<int> Workers(ParseResult line, TextWriter output, TextWriter errors)
    {
        using var api = Open(line, AskAnother);
        var workers = await api.Ask(HttpMethod.Get, "v1/workers");
        var table = Tables.Of("worker", "epoch", "state", "owns", "lease", "expired", "evicted", "address", "");
        foreach (var worker in workers["workers"]!.AsArray())
        {
            var lease = string.Create(CultureInfo.InvariantCulture, $"{(double)worker!["leaseMs"]!:0} ms");
            table.Add(
                $"{worker["worker"]}", $"{worker["epoch"]}", $"{worker["state"]}", $"{worker["entries"]}", lease, $"{worker["expirations"]}",
                $"{worker["evictions"]}", $"{worker["url"]}", (bool)worker["master"]! ? "master" : "");
        }

        table.WriteTo(output);
        return ExitCode.Success;
    }

    private static async Task<int> Migrations(ParseResult line, TextWriter output, TextWriter errors)
    {
        using var api = Open(line, AskAnother);
        if (line.GetValue(s_id) is { } id)
        {
            var migration = await api.Ask(HttpMethod.Get, MigrationReport.PathOf(id));
            new MigrationReport(output).Steps(migration);
            MigrationReport.Sum(output, migration);
        }
        else
        {
            MigrationReport.List(output, await api.Ask(HttpMethod.Get, "v1/migrations"));
        }

        return ExitCode.Success;
    }

    private static async Task<int> Migrate(ParseResult line, TextWriter output, TextWriter errors)
    {
        var actors = new JsonArray();
        var partitions = new JsonArray();
        foreach (var what in line.GetValue(s_what)!)
        {
            var slash = what.IndexOf('/', StringComparison.Ordinal);
            if (slash > 0)
            {
                actors.Add(new JsonObject { ["type"] = what[..slash], ["id"] = what[(slash + 1)..] });
            }
            else if (int.TryParse(what, NumberStyles.None, CultureInfo.InvariantCulture, out var number))
            {
                partitions.Add(number);
            }
            else
            {
                throw new UsageException($"'{what}' is neither an actor, Type/id, nor the number of a partition.");
            }
        }

        if (actors.Count > 0 && partitions.Count > 0) throw new UsageException("name actors or partitions, not both at once.");
        return await Run(line, actors.Count > 0 ? new JsonObject { ["actors"] = actors } : new JsonObject { ["partitions"] = partitions }, output, errors);
    }

    private static Task<int> Drain(ParseResult line, TextWriter output, TextWriter errors) =>
        Run(line, new JsonObject { ["worker"] = line.GetValue(s_worker) }, output, errors);

    private static Task<int> Rebalance(ParseResult line, TextWriter output, TextWriter errors) =>
        line.GetValue(s_propose) ? Propose(line, output) : Run(line, new JsonObject { ["rebalance"] = true }, output, errors);

    private static async Task<int> Propose(ParseResult line, TextWriter output)
    {
        using var api = Open(line, AskAnother);
        var seen = await api.Ask(HttpMethod.Get, "v1/migrations/proposals");
        if ((string?)seen["mode"] == "off")
        {
            output.WriteLine("The policy is off. Start the workers with Snapper__Cluster__Policy=propose, or execute.");
            return ExitCode.Failure;
        }

        foreach (var load in seen["workers"]!.AsArray())
        {
            output.WriteLine(string.Create(CultureInfo.InvariantCulture, $"{load!["worker"],-8} {(double)load["perSecond"]!,9:0} actors touched per second"));
        }

        foreach (var move in seen["proposals"]!.AsArray())
        {
            var what = move!["partition"] is { } partition ? $"partition {partition}" : $"{move["type"]}/{move["id"]}";
            output.WriteLine($"{what} from {move["from"]} to {move["to"]}{((bool)move["ripe"]! ? "" : " (not ripe)")}: {move["why"]}");
        }

        output.WriteLine($"{seen["proposals"]!.AsArray().Count} proposals, mode {seen["mode"]}, {seen["moves"]} carried out");
        return ExitCode.Success;
    }

    private static async Task<int> Run(ParseResult line, JsonObject body, TextWriter output, TextWriter errors)
    {
        using var api = Open(line);
        if (line.GetResult(s_to) is not null) body["to"] = line.GetValue(s_to);
        if (line.GetValue(s_reason) is { } reason) body["reason"] = reason;
        if (line.GetValue(s_dryRun))
        {
            body["dryRun"] = true;
            MigrationReport.Plan(output, await Begin(api, body, errors));
            return ExitCode.Success;
        }

        // Its own id: asked again of a worker that went away with the answer, nothing is made twice.
        var id = string.Create(CultureInfo.InvariantCulture, $"m-{DateTime.UtcNow:yyyyMMddHHmmssfff}-{RandomNumberGenerator.GetHexString(4, lowercase: true)}");
        body["id"] = id;
        JsonNode migration;
        try
        {
            migration = await Begin(api, body, errors);
        }
        catch (OperatorException problem) when (problem.IsPassing)
        {
            throw new OperatorException($"{problem.Message} Whether migration {id} was begun is not known: './snapper migrations {id} --url URL' asks another worker.", problem.Status);
        }

        var report = new MigrationReport(output);
        while ((string?)migration["state"] == "planned")
        {
            report.Steps(migration);
            await Task.Delay(LookEvery);
            migration = await Again(api, (string)migration["id"]!);
        }

        if (migration["parts"]!.AsArray().Count > 0)
        {
            // That it has ended is known at once, what its source says of its last steps a moment later.
            await Task.Delay(LookEvery);
            migration = await Again(api, (string)migration["id"]!);
        }

        report.Steps(migration);
        MigrationReport.Sum(output, migration);
        return (string?)migration["state"] is "done" ? ExitCode.Success : ExitCode.Failure;
    }

    /// <summary>A worker that is starting, or cannot reach its store, is waited for.</summary>
    private static Task<JsonNode> Begin(OperatorApi api, JsonObject body, TextWriter errors) => api.Again(
        HttpMethod.Post, "v1/migrations", body, BackWithin, why => errors.WriteLine($"snapper: {why} Trying for {BackWithin.TotalSeconds:0} s."));

    private static async Task<JsonNode> Again(OperatorApi api, string id)
    {
        try
        {
            return await api.Again(HttpMethod.Get, MigrationReport.PathOf(id), null, BackWithin);
        }
        catch (OperatorException problem) when (problem.IsPassing)
        {
            throw new OperatorException($"{problem.Message} Migration {id} goes on without this command: './snapper migrations {id} --url URL' asks another worker.", problem.Status);
        }
    }

    private static OperatorApi Open(ParseResult line, string advice = "") => OperatorApi.At(line.GetValue(s_url)!, advice);
}
