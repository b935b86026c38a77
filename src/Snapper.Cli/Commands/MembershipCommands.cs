using System.CommandLine;
using System.Diagnostics;
using Snapper.AspNetCore.Processes;
using Snapper.Cli.Supervision;
using Snapper.Contracts;
using Snapper.Server.Commands;

namespace Snapper.Cli.Commands;

/// <summary>Workers that come and go: asks the <c>up</c> or <c>demo</c> that runs on a data directory.</summary>
internal static class MembershipCommands
{
    private static readonly TimeSpan AnsweredWithin = TimeSpan.FromMinutes(2);
    private static readonly TimeSpan DrainedWithin = TimeSpan.FromSeconds(60);
    private static readonly TimeSpan BackWithin = TimeSpan.FromSeconds(15);
    private static readonly TimeSpan LookEvery = TimeSpan.FromMilliseconds(100);

    private static readonly Argument<string> s_name = new("NAME") { Description = "the worker" };

    /// <summary><c>join</c> and <c>leave</c>.</summary>
    public static readonly IReadOnlyList<Command> All =
    [
        CommandLines.Command(
            "join", "adds a worker with its sidecar to the running system; it owns nothing until something is moved to it", Join,
            WorkerCommand.Data),
        CommandLines.Command(
            "leave", "moves everything of a worker to the others, and stops it for good", Leave, s_name, WorkerCommand.Data),
    ];

    private static async Task<int> Join(ParseResult line, TextWriter output, TextWriter errors)
    {
        var (files, state) = Running(line);
        var joined = (await Ask(files, state, "join", null)).Joined!;
        output.WriteLine(
            $"{joined.Name} has joined: {joined.Url}, sidecar {joined.Sidecar}, pid {joined.Pid}. It owns nothing yet: "
            + $"'{ProgramName.Value} rebalance --url {joined.Url}' gives it its share.");
        return ExitCode.Success;
    }

    private static async Task<int> Leave(ParseResult line, TextWriter output, TextWriter errors)
    {
        var name = line.GetValue(s_name)!;
        var (files, state) = Running(line);
        if (state.Workers.All(w => w.Name != name)) throw new StartupException($"no worker {name} runs there; there are {string.Join(", ", state.Workers.Select(w => w.Name))}.");
        var others = state.Workers.Where(w => w.Name != name && w.Url is not null).Select(w => new Uri(w.Url!)).ToArray();
        if (others.Length == 0) throw new StartupException($"{name} is the only worker: there is nobody to take what it owns.");
        await Empty(others, state.Workers.First(w => w.Name == name).Url, name, output);
        await Ask(files, state, "leave", name);
        output.WriteLine($"{name} has left");
        return ExitCode.Success;
    }

    /// <summary>
    /// It gives away what it owns, and then says itself that it has left: the store takes that only of one that owns nothing, and gives it nothing from then on. Of one that is
    /// not back in time the others take over what it had.
    /// </summary>
    private static async Task Empty(Uri[] others, string? url, string name, TextWriter output)
    {
        var started = Stopwatch.GetTimestamp();
        while (await Drain(others, name, started, output) && url is not null)
        {
            try
            {
                using var api = OperatorApi.At(new Uri(url));
                await api.Ask(HttpMethod.Post, "v1/leave", ContractJson.Default.LeftView);
                return;
            }
            catch (OperatorException problem) when (problem.IsPassing || problem.Status == OperatorException.NoAnswer || problem.Status == 409)
            {
                if (Stopwatch.GetElapsedTime(started) > DrainedWithin)
                {
                    throw new StartupException($"{name} cannot leave: {problem.Message} It stays. Try again.");
                }
            }

            await Task.Delay(LookEvery);
        }
    }

    /// <summary>Repeats until it owns nothing: a part that does not drain is given back, and others may die meanwhile.</summary>
    /// <returns>False: it does not live, and was waited for.</returns>
    private static async Task<bool> Drain(Uri[] others, string name, long started, TextWriter output)
    {
        for (var attempt = 1; ; attempt++)
        {
            string last;
            using var api = OperatorApi.At(others[(attempt - 1) % others.Length]); // the one that was asked first may be stopped
            try
            {
                var all = await api.Ask(HttpMethod.Get, "v1/workers", ContractJson.Default.WorkersView);
                var mine = all.Workers.FirstOrDefault(w => w.Worker == name);

                // One that was just killed is on its way back: alive it can say itself that it has left.
                var mayLeave = mine?.State is null or "live" || Stopwatch.GetElapsedTime(started) > BackWithin;
                if (mine is null || (mine.Entries == 0 && mayLeave))
                {
                    return mine?.State == "live";
                }

                last = $"it owns {mine.Entries} partitions and single actors, and is {mine.State}";
                if (mine.Entries == 0)
                {
                    await Task.Delay(LookEvery);
                    continue;
                }

                var request = new MigrationRequest { Worker = name, Reason = $"{name} leaves" };
                var migration = await api.Ask(HttpMethod.Post, "v1/migrations", ContractJson.Default.MigrationStatus, request);
                if (attempt == 1)
                {
                    output.WriteLine($"{name} gives {migration.Keys} partitions and single actors to the others");
                }

                await Ended(api, migration.Id, started);
            }
            catch (OperatorException problem) when (!problem.IsForGood)
            {
                last = problem.Message;
            }

            if (Stopwatch.GetElapsedTime(started) > DrainedWithin)
            {
                throw new StartupException($"{name} is not empty after {DrainedWithin.TotalSeconds:0} s ({last}); it stays. Try again.");
            }

            await Task.Delay(LookEvery);
        }
    }

    private static async Task Ended(OperatorApi api, string id, long started)
    {
        while (Stopwatch.GetElapsedTime(started) < DrainedWithin)
        {
            var path = MigrationReport.PathOf(id);
            if ((await api.Ask(HttpMethod.Get, path, ContractJson.Default.MigrationStatus)).IsOver)
            {
                return;
            }

            await Task.Delay(LookEvery);
        }
    }

    private static (ChangeFiles Files, RunState State) Running(ParseResult line)
    {
        var data = Path.GetFullPath(line.GetValue(WorkerCommand.Data)!);
        return new RunStateFile(DataDirectory.RunStateIn(data)).Read() is { } state && state.Supervisor.IsAlive()
            ? (new ChangeFiles(DataDirectory.RunIn(data)), state)
            : throw new StartupException($"neither 'snapper up' nor 'snapper demo' runs on {data}; name the data directory of the running system with --data");
    }

    private static async Task<ChangeAnswer> Ask(ChangeFiles files, RunState state, string verb, string? worker)
    {
        var request = new ChangeRequest(Guid.NewGuid().ToString("n"), verb, worker);
        var started = Stopwatch.GetTimestamp();
        var asked = false;
        while (Stopwatch.GetElapsedTime(started) < AnsweredWithin)
        {
            asked = asked || files.TryAsk(request);
            if (files.AnswerTo(request.Id) is { } answer) return answer.Problem is null ? answer : throw new StartupException(answer.Problem);
            if (!state.Supervisor.IsAlive()) throw new StartupException($"the running system has ended before it has answered; start it again, then '{verb}' again");
            await Task.Delay(LookEvery);
        }

        throw new StartupException($"the running system has not answered within {AnsweredWithin.TotalSeconds:0} s; its own output says why");
    }
}
