namespace NBomber.Contracts.Stats;

public sealed record StatusCodeStats(string StatusCode, bool IsError, string Message, int Count);

public sealed record RequestStats(int Count);

public sealed record LatencyStats(double MinMs, double MeanMs, double MaxMs, double Percent50, double Percent75, double Percent95, double Percent99);

public sealed record MeasurementStats(RequestStats Request, LatencyStats Latency, StatusCodeStats[] StatusCodes);

public sealed record StepStats(string StepName, MeasurementStats Ok, MeasurementStats Fail);

public sealed record ScenarioStats(string ScenarioName, MeasurementStats Ok, MeasurementStats Fail, StepStats[] StepStats, int AllRequestCount, int AllOkCount, int AllFailCount);

public sealed record ThresholdResult(string ScenarioName, string CheckExpression, bool IsFailed);

public sealed record NodeStats(ScenarioStats[] ScenarioStats, ThresholdResult[] Thresholds);
