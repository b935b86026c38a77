using System.Linq.Expressions;
using NBomber.Contracts.Stats;

// The public signatures of NBomber 6 that the host uses, and no others; written from its documentation and published contracts.
namespace NBomber.Contracts;

public interface IResponse
{
    string StatusCode { get; }

    bool IsError { get; }

    long SizeBytes { get; }

    double CustomLatencyMs { get; }

    string Message { get; }
}

public sealed class Response<T>(string statusCode, bool isError, long sizeBytes, double customLatencyMs, string message) : IResponse
{
    public string StatusCode { get; } = statusCode;

    public bool IsError { get; } = isError;

    public long SizeBytes { get; } = sizeBytes;

    public double CustomLatencyMs { get; } = customLatencyMs;

    public string Message { get; } = message;
}

public interface IScenarioContext
{
    long InvocationNumber { get; }

    CancellationToken ScenarioCancellationToken { get; }
}

public interface IScenarioInitContext;

public abstract record LoadSimulation
{
    public sealed record Injecting(int Rate, TimeSpan Interval, TimeSpan During) : LoadSimulation;

    public sealed record RampingInjecting(int Rate, TimeSpan Interval, TimeSpan During) : LoadSimulation;

    public sealed record Iterating(int Copies, int Iterations) : LoadSimulation;

    public sealed record Pausing(TimeSpan During) : LoadSimulation;
}

public sealed class Threshold
{
    private Threshold(Expression<Func<ScenarioStats, bool>> checkScenario) => CheckScenario = checkScenario;

    public Expression<Func<ScenarioStats, bool>> CheckScenario { get; }

    public static Threshold Create(Expression<Func<ScenarioStats, bool>> checkScenario, int? abortWhenErrorCount = null, TimeSpan? startCheckAfter = null) => new(checkScenario);

    public static Threshold Create(string stepName, Expression<Func<StepStats, bool>> checkStep, int? abortWhenErrorCount = null, TimeSpan? startCheckAfter = null) =>
        throw new NotSupportedException($"The stand-in has no thresholds of steps: {stepName}, {checkStep}.");
}

public sealed record ScenarioProps
{
    public required string ScenarioName { get; init; }

    internal Func<IScenarioContext, Task<IResponse>> Run { get; init; } = null!;

    internal Func<IScenarioInitContext, Task>? Init { get; init; }

    internal Func<IScenarioInitContext, Task>? Clean { get; init; }

    internal TimeSpan WarmUp { get; init; } = TimeSpan.FromSeconds(30);

    internal IReadOnlyList<LoadSimulation> Simulations { get; init; } = [];

    internal IReadOnlyList<Threshold> Thresholds { get; init; } = [];

    internal int MaxFailCount { get; init; } = 5_000;
}

public sealed record NBomberContext
{
    internal IReadOnlyList<ScenarioProps> Scenarios { get; init; } = [];

    internal string Licence { get; init; } = "";

    internal string TestName { get; init; } = "";
}
