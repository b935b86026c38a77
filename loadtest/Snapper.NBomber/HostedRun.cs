using System.Diagnostics;
using NBomber.Contracts;
using NBomber.Contracts.Stats;
using NBomber.CSharp;
using Snapper.Client.Messages;
using Snapper.Scenarios.Changes;
using Snapper.Scenarios.Measures;
using Snapper.Scenarios.Targets;
using Snapper.Scenarios.Workloads;
using LoadScenario = Snapper.Scenarios.Scenario;

namespace Snapper.NBomberHost;

/// <summary>One scenario of the library as NBomber's: transactions, the phases of batches beside them, and the change.</summary>
internal sealed class HostedRun(HostOptions options)
{
    private static readonly TimeSpan s_timeout = TimeSpan.FromSeconds(10);

    private readonly IWorkload _workload = options.Scenario.Workload(options.Workload);
    private readonly BatchPhaseSampler _phases = new();
    private readonly Lock _planning = new();
    private SnapperTarget? _target;
    private InvariantReport? _invariant;
    private string? _changeProblem;

    private SnapperTarget Target => _target ?? throw new InvalidOperationException("NBomber has not initialised the scenario.");

    /// <summary>The scenarios that run side by side.</summary>
    public ScenarioProps[] Scenarios()
    {
        var length = TimeSpan.FromSeconds(options.DurationSeconds);
        var transactions = Scenario.Create(options.Scenario.Name, Transact)
            .WithInit(Prepare)
            .WithClean(Check)
            .WithWarmUpDuration(TimeSpan.FromSeconds(options.WarmUpSeconds))
            .WithMaxFailCount(int.MaxValue) // how many may fail the thresholds say
            .WithLoadSimulations(Host.Simulations(LoadScenario.ShapeOf(options.Scenario.Shape, options.Rate, length)))
            .WithThresholds(Bounds.Of(options.Scenario.Thresholds));
        var phases = Scenario.Create("phases", LookAtPhases)
            .WithoutWarmUp()
            .WithLoadSimulations(Simulation.Inject(rate: 1, interval: TimeSpan.FromSeconds(1), during: length));
        if (options.Scenario.Change is not { } change)
        {
            return [transactions, phases];
        }

        var changing = Scenario.Create("change", _ => Change(change()))
            .WithoutWarmUp()
            .WithLoadSimulations(
                Simulation.Pause(Host.BeforeChange(options)),
                Simulation.IterationsForConstant(copies: 1, iterations: 1));
        return [transactions, phases, changing];
    }

    /// <summary>Says how it went, after NBomber's own report.</summary>
    public bool Verdict(NodeStats stats)
    {
        var kept = stats.Thresholds.All(static threshold => !threshold.IsFailed);
        Console.WriteLine(_invariant is null ? "The check in the end was not made." : $"{(_invariant.Passed ? "held" : "BROKEN")}: {_invariant.Name}: {_invariant.Summary}");
        foreach (var problem in _invariant?.Problems ?? [])
        {
            Console.WriteLine("  " + problem);
        }

        if (_changeProblem is not null)
        {
            Console.WriteLine("BROKEN: the change: " + _changeProblem);
        }

        return kept && _invariant is { Passed: true } && _changeProblem is null;
    }

    private async Task Prepare(IScenarioInitContext context)
    {
        _target = await SnapperTarget.Connect(new TargetSettings { Workers = [options.Url], Timeout = s_timeout }, CancellationToken.None);
        await _workload.Prepare(_target, CancellationToken.None);
    }

    private async Task Check(IScenarioInitContext context)
    {
        _invariant = await _workload.Check(Target, CancellationToken.None);
        _phases.Dispose();
        await Target.DisposeAsync();
    }

    private async Task<IResponse> Transact(IScenarioContext context)
    {
        PlannedTransaction planned;
        lock (_planning)
        {
            planned = _workload.Next();
        }

        var began = Stopwatch.GetTimestamp();
        TransactionReply? reply = null;
        try
        {
            reply = await Target.Submit(planned.Message, CancellationToken.None);
            return Answers.Of(reply);
        }
        finally
        {
            // Also when it threw: then its outcome is not known, and the check allows for both.
            _workload.Record(planned, reply, new SentAt(began, Stopwatch.GetTimestamp()));
        }
    }

    /// <summary>The phases of batches as steps: no request of its own stands behind one, its latency is what the worker tells.</summary>
    private async Task<IResponse> LookAtPhases(IScenarioContext context)
    {
        foreach (var batch in await _phases.Look(Target.Addresses[0], CancellationToken.None))
        {
            await Phase("phase:execute", context, batch.CompletedMs);
            await Phase("phase:order", context, Math.Max(0, batch.QueuedMs - batch.CompletedMs));
            await Phase("phase:log", context, Math.Max(0, batch.CommittedMs - batch.QueuedMs));
        }

        return Response.Ok();
    }

    // The generic Ok: the other one forgets a latency that is given.
    private static Task Phase(string name, IScenarioContext context, double ms) => Step.Run(name, context, () => Task.FromResult(Response.Ok<object>(customLatencyMs: ms)));

    private async Task<IResponse> Change(IChange change)
    {
        try
        {
            await change.Run(new ChangeContext { Target = Target, Log = new RunLog(Console.WriteLine), Worker = options.Worker }, CancellationToken.None);
            return Response.Ok(statusCode: "changed");
        }
        catch (Exception problem) when (problem is TargetException or TimeoutException or HttpRequestException)
        {
            _changeProblem = problem.Message;
            return Response.Fail(statusCode: "not-changed", message: problem.Message);
        }
    }
}
