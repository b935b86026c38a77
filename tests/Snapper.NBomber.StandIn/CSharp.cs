using NBomber.Contracts;
using NBomber.Contracts.Stats;
using Snapper.NBomberStandIn;

namespace NBomber.CSharp;

public static class Response
{
    public static Response<object> Ok() => Ok(statusCode: "");

    // As in the original: this overload does not keep the latency it is given.
    public static Response<object> Ok(string statusCode = "", long sizeBytes = 0, string message = "", double customLatencyMs = 0) => new(statusCode, false, sizeBytes, 0, message);

    public static Response<T> Ok<T>(string statusCode = "", long sizeBytes = 0, string message = "", double customLatencyMs = 0) => new(statusCode, false, sizeBytes, customLatencyMs, message);

    public static Response<object> Fail(string statusCode = "", string message = "", long sizeBytes = 0, double customLatencyMs = 0) => new(statusCode, true, sizeBytes, customLatencyMs, message);
}

public static class Step
{
    public static async Task<Response<T>> Run<T>(string name, IScenarioContext context, Func<Task<Response<T>>> run)
    {
        var response = await run();
        ((RunningScenario)context).CountStep(name, response);
        return response;
    }
}

public static class Scenario
{
    public static ScenarioProps Create(string name, Func<IScenarioContext, Task<IResponse>> run) => new() { ScenarioName = name, Run = run };

    public static ScenarioProps WithInit(this ScenarioProps scenario, Func<IScenarioInitContext, Task> initFunc) => scenario with { Init = initFunc };

    public static ScenarioProps WithClean(this ScenarioProps scenario, Func<IScenarioInitContext, Task> cleanFunc) => scenario with { Clean = cleanFunc };

    public static ScenarioProps WithWarmUpDuration(this ScenarioProps scenario, TimeSpan duration) => scenario with { WarmUp = duration };

    public static ScenarioProps WithoutWarmUp(this ScenarioProps scenario) => scenario with { WarmUp = TimeSpan.Zero };

    public static ScenarioProps WithLoadSimulations(this ScenarioProps scenario, params LoadSimulation[] loadSimulations) => scenario with { Simulations = loadSimulations };

    public static ScenarioProps WithMaxFailCount(this ScenarioProps scenario, int maxFailCount) => scenario with { MaxFailCount = maxFailCount };

    public static ScenarioProps WithThresholds(this ScenarioProps scenario, params Threshold[] thresholds) => scenario with { Thresholds = thresholds };
}

public static class Simulation
{
    public static LoadSimulation Inject(int rate, TimeSpan interval, TimeSpan during) => new LoadSimulation.Injecting(rate, interval, during);

    public static LoadSimulation RampingInject(int rate, TimeSpan interval, TimeSpan during) => new LoadSimulation.RampingInjecting(rate, interval, during);

    public static LoadSimulation IterationsForConstant(int copies, int iterations) => new LoadSimulation.Iterating(copies, iterations);

    public static LoadSimulation Pause(TimeSpan during) => new LoadSimulation.Pausing(during);
}

public static class NBomberRunner
{
    public static NBomberContext RegisterScenarios(params ScenarioProps[] scenarios) => new() { Scenarios = scenarios };

    public static NBomberContext WithTestSuite(this NBomberContext context, string testSuite) => testSuite.Length > 0 ? context : throw new ArgumentException("A suite has a name.", nameof(testSuite));

    public static NBomberContext WithTestName(this NBomberContext context, string testName) => context with { TestName = testName };

    public static NBomberContext WithLicense(this NBomberContext context, string licenseKey) => context with { Licence = licenseKey };

    public static NodeStats Run(this NBomberContext context) => StandInRun.Run(context).GetAwaiter().GetResult();

    public static NodeStats Run(this NBomberContext context, params string[] args) => args.Length == 0 ? context.Run() : throw new NotSupportedException("The stand-in takes no arguments.");
}
