using System.Globalization;
using System.Security.Cryptography;
using System.Text.Json.Nodes;
using Snapper.Server.Processes;

namespace Snapper.Server.Commands;

/// <summary>Who is there, and moving actors between workers: the HTTP API of any worker, from the command line.</summary>
internal static class ClusterCommands
{
    private static readonly CommandOption s_url = new("--url", "URL", "any worker's own HTTP API (default http://127.0.0.1:5101)");
    private static readonly CommandOption s_to = new("--to", "NAME", "the worker that gets them (default: spread over the others)");
    private static readonly CommandOption s_reason = new("--reason", "TEXT", "kept with the plan");
    private static readonly CommandOption s_dryRun = new("--dry-run", null, "only say what would move");

    private static readonly CommandOption s_propose = new("--propose", null, "move nothing; show what the policy proposes by load and by actors used together");

    private const string AskAnother = "Ask another worker with --url.";

    private static readonly TimeSpan LookEvery = TimeSpan.FromMilliseconds(100);
    private static readonly TimeSpan BackWithin = TimeSpan.FromSeconds(30);

    public static readonly CommandSyntax WorkersSyntax = new("workers", "shows the workers of a running system and what they own", [s_url]);

    public static readonly CommandSyntax MigrationsSyntax = new(
        "migrations", "shows what is being moved and what was moved last; with an ID its parts, their steps and what waits for them", [s_url], "[ID]");

    public static readonly CommandSyntax MigrateSyntax = new(
        "migrate", "moves actors or partitions to another worker while transactions run", [s_url, s_to, s_reason, s_dryRun], "Type/id ... | PARTITION ...");

    public static readonly CommandSyntax DrainSyntax = new(
        "drain", "moves everything of a worker to the others while transactions run", [s_url, s_to, s_reason, s_dryRun], "NAME");

    public static readonly CommandSyntax RebalanceSyntax = new(
        "rebalance", "moves partitions so that every worker has its share, while transactions run", [s_url, s_reason, s_dryRun, s_propose]);

    public static async Task<int> Workers(ParsedArguments arguments, TextWriter output, TextWriter errors)
    {
        using var api = Open(arguments, AskAnother);
        var workers = await api.Ask(HttpMethod.Get, "v1/workers");
        output.WriteLine("worker   epoch  state     owns   lease     expired  evicted  address");
        foreach (var worker in workers["workers"]!.AsArray())
        {
            var master = (bool)worker!["master"]! ? "  master" : "";
            output.WriteLine(string.Create(
                CultureInfo.InvariantCulture,
                $"{worker["worker"],-8} {worker["epoch"],5}  {worker["state"],-8} {worker["entries"],5}  {(double)worker["leaseMs"]!,6:0} ms  {worker["expirations"],7}  {worker["evictions"],7}  {worker["url"]}{master}"));
        }

        return ExitCode.Success;
    }

    public static async Task<int> Migrations(ParsedArguments arguments, TextWriter output, TextWriter errors)
    {
        if (arguments.Rest.Count > 1) throw new UsageException("name one migration, or none.");
        using var api = Open(arguments, AskAnother);
        if (arguments.Rest.Count == 1)
        {
            var migration = await api.Ask(HttpMethod.Get, MigrationReport.PathOf(arguments.Rest[0]));
            new MigrationReport(output).Steps(migration);
            MigrationReport.Sum(output, migration);
        }
        else
        {
            MigrationReport.List(output, await api.Ask(HttpMethod.Get, "v1/migrations"));
        }

        return ExitCode.Success;
    }

    public static async Task<int> Migrate(ParsedArguments arguments, TextWriter output, TextWriter errors)
    {
        var actors = new JsonArray();
        var partitions = new JsonArray();
        foreach (var what in arguments.Rest)
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

        if ((actors.Count == 0) == (partitions.Count == 0))
        {
            throw new UsageException(actors.Count == 0 ? "name what shall move: Type/id ... or partition numbers." : "name actors or partitions, not both at once.");
        }

        return await Run(arguments, actors.Count > 0 ? new JsonObject { ["actors"] = actors } : new JsonObject { ["partitions"] = partitions }, output, errors);
    }

    public static async Task<int> Drain(ParsedArguments arguments, TextWriter output, TextWriter errors)
    {
        if (arguments.Rest.Count != 1)
        {
            throw new UsageException("name the one worker that shall be drained.");
        }

        return await Run(arguments, new JsonObject { ["worker"] = arguments.Rest[0] }, output, errors);
    }

    public static Task<int> Rebalance(ParsedArguments arguments, TextWriter output, TextWriter errors) =>
        arguments.Flag("--propose") ? Propose(arguments, output) : Run(arguments, new JsonObject { ["rebalance"] = true }, output, errors);

    private static async Task<int> Propose(ParsedArguments arguments, TextWriter output)
    {
        using var api = Open(arguments, AskAnother);
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

    private static async Task<int> Run(ParsedArguments arguments, JsonObject body, TextWriter output, TextWriter errors)
    {
        using var api = Open(arguments);
        if (arguments.Syntax != RebalanceSyntax && arguments.Text("--to") is { } to) body["to"] = to;
        if (arguments.Text("--reason") is { } reason) body["reason"] = reason;
        if (arguments.Flag("--dry-run"))
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

    private static OperatorApi Open(ParsedArguments arguments, string advice = "")
    {
        var text = arguments.Text("--url") ?? "http://127.0.0.1:5101";
        return Uri.TryCreate(text, UriKind.Absolute, out var url) && url.Scheme is "http" or "https"
            ? OperatorApi.At(url, advice)
            : throw new UsageException($"--url must be an address such as http://127.0.0.1:5101, not '{text}'.");
    }
}
