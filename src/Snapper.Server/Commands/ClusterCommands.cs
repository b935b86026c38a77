using System.CommandLine;
using System.Globalization;
using System.Security.Cryptography;
using Snapper.AspNetCore.Processes;
using Snapper.Contracts;

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
        var view = await api.Ask(HttpMethod.Get, "v1/workers", ContractJson.Default.WorkersView);
        var table = Tables.Of("worker", "epoch", "state", "owns", "lease", "expired", "evicted", "address", "");
        foreach (var worker in view.Workers)
        {
            var lease = string.Create(CultureInfo.InvariantCulture, $"{worker.LeaseMs:0} ms");
            table.Add(
                worker.Worker, $"{worker.Epoch}", worker.State, $"{worker.Entries}", lease, $"{worker.Expirations}",
                $"{worker.Evictions}", worker.Url, worker.Master ? "master" : "");
        }

        table.WriteTo(output);
        return ExitCode.Success;
    }

    private static async Task<int> Migrations(ParseResult line, TextWriter output, TextWriter errors)
    {
        using var api = Open(line, AskAnother);
        if (line.GetValue(s_id) is { } id)
        {
            var migration = await api.Ask(HttpMethod.Get, MigrationReport.PathOf(id), ContractJson.Default.MigrationStatus);
            new MigrationReport(output).Steps(migration);
            MigrationReport.Sum(output, migration);
        }
        else
        {
            MigrationReport.List(output, await api.Ask(HttpMethod.Get, "v1/migrations", ContractJson.Default.MigrationsView));
        }

        return ExitCode.Success;
    }

    private static async Task<int> Migrate(ParseResult line, TextWriter output, TextWriter errors)
    {
        var actors = new List<ActorReference>();
        var partitions = new List<int>();
        foreach (var what in line.GetValue(s_what)!)
        {
            var slash = what.IndexOf('/', StringComparison.Ordinal);
            if (slash > 0)
            {
                actors.Add(new ActorReference(what[..slash], what[(slash + 1)..]));
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

        if (actors.Count > 0 && partitions.Count > 0)
        {
            throw new UsageException("name actors or partitions, not both at once.");
        }

        var request = actors.Count > 0 ? new MigrationRequest { Actors = actors } : new MigrationRequest { Partitions = partitions };
        return await Run(line, request, output, errors);
    }

    private static Task<int> Drain(ParseResult line, TextWriter output, TextWriter errors) =>
        Run(line, new MigrationRequest { Worker = line.GetValue(s_worker) }, output, errors);

    private static Task<int> Rebalance(ParseResult line, TextWriter output, TextWriter errors) =>
        line.GetValue(s_propose) ? Propose(line, output) : Run(line, new MigrationRequest { Rebalance = true }, output, errors);

    private static async Task<int> Propose(ParseResult line, TextWriter output)
    {
        using var api = Open(line, AskAnother);
        var seen = await api.Ask(HttpMethod.Get, "v1/migrations/proposals", ContractJson.Default.MigrationProposals);
        if (seen.Mode == "off")
        {
            output.WriteLine("The policy is off. Start the workers with Snapper__Cluster__Policy=propose, or execute.");
            return ExitCode.Failure;
        }

        foreach (var load in seen.Workers)
        {
            output.WriteLine(string.Create(
                CultureInfo.InvariantCulture, $"{load.Worker,-8} {load.PerSecond,9:0} actors touched per second"));
        }

        foreach (var move in seen.Proposals)
        {
            var what = move.Partition is { } partition ? $"partition {partition}" : $"{move.Type}/{move.Id}";
            output.WriteLine($"{what} from {move.From} to {move.To}{(move.Ripe ? "" : " (not ripe)")}: {move.Why}");
        }

        output.WriteLine($"{seen.Proposals.Count} proposals, mode {seen.Mode}, {seen.Moves} carried out");
        return ExitCode.Success;
    }

    private static async Task<int> Run(ParseResult line, MigrationRequest request, TextWriter output, TextWriter errors)
    {
        using var api = Open(line);
        request = request with
        {
            To = line.GetResult(s_to)?.GetValueOrDefault<string>(), // rebalance has no such option
            Reason = line.GetValue(s_reason),
            DryRun = line.GetValue(s_dryRun),
        };
        if (request.DryRun)
        {
            MigrationReport.Plan(output, await Begin(api, request, errors));
            return ExitCode.Success;
        }

        // Its own id: asked again of a worker that went away with the answer, nothing is made twice.
        var id = string.Create(
            CultureInfo.InvariantCulture,
            $"m-{DateTime.UtcNow:yyyyMMddHHmmssfff}-{RandomNumberGenerator.GetHexString(4, lowercase: true)}");
        MigrationStatus migration;
        try
        {
            migration = await Begin(api, request with { Id = id }, errors);
        }
        catch (OperatorException problem) when (problem.IsPassing)
        {
            throw new OperatorException(
                $"{problem.Message} Whether migration {id} was begun is not known: "
                + $"'{ProgramName.Value} migrations {id} --url URL' asks another worker.", problem.Status);
        }

        var report = new MigrationReport(output);
        while (!migration.IsOver)
        {
            report.Steps(migration);
            await Task.Delay(LookEvery);
            migration = await Again(api, migration.Id);
        }

        if (migration.Parts.Count > 0)
        {
            // That it has ended is known at once, what its source says of its last steps a moment later.
            await Task.Delay(LookEvery);
            migration = await Again(api, migration.Id);
        }

        report.Steps(migration);
        MigrationReport.Sum(output, migration);
        return migration.State == "done" ? ExitCode.Success : ExitCode.Failure;
    }

    /// <summary>A worker that is starting, or cannot reach its store, is waited for.</summary>
    private static Task<MigrationStatus> Begin(OperatorApi api, MigrationRequest request, TextWriter errors) => api.Again(
        HttpMethod.Post, "v1/migrations", ContractJson.Default.MigrationStatus, request, BackWithin,
        why => errors.WriteLine($"snapper: {why} Trying for {BackWithin.TotalSeconds:0} s."));

    private static async Task<MigrationStatus> Again(OperatorApi api, string id)
    {
        try
        {
            return await api.Again(
                HttpMethod.Get, MigrationReport.PathOf(id), ContractJson.Default.MigrationStatus, null, BackWithin);
        }
        catch (OperatorException problem) when (problem.IsPassing)
        {
            throw new OperatorException(
                $"{problem.Message} Migration {id} goes on without this command: "
                + $"'{ProgramName.Value} migrations {id} --url URL' asks another worker.", problem.Status);
        }
    }

    private static OperatorApi Open(ParseResult line, string advice = "") => OperatorApi.At(line.GetValue(s_url)!, advice);
}
