using NBomber.Contracts;
using NBomber.CSharp;
using Snapper.Scenarios.Shapes;
using Snapper.Terminal;

namespace Snapper.NBomberHost;

/// <summary>Lets NBomber drive a scenario of the library: the same transactions, the same change to the system, the same check in the end.</summary>
internal static class Host
{
    private const string LicenceVariable = "NBOMBER_LICENSE";
    private const double ChangeAt = 1 / 3.0;

    /// <returns>0 all held, 1 a threshold or the check did not, 2 the line was wrong.</returns>
    public static Task<int> Run(string[] arguments) => CommandLines.Run(HostOptions.Program(Run), arguments, Console.Out, Console.Error);

    private static int Run(HostOptions options)
    {
        var run = new HostedRun(options);
        var context = NBomberRunner.RegisterScenarios(run.Scenarios()).WithTestSuite("Snapper").WithTestName(options.Scenario.Name);
        if (Environment.GetEnvironmentVariable(LicenceVariable) is { Length: > 0 } key)
        {
            context = context.WithLicense(key);
        }

        var stats = context.Run();
        return run.Verdict(stats) ? 0 : 1;
    }

    /// <summary>Load simulations for a shape. NBomber takes whole numbers of arrivals a second.</summary>
    internal static LoadSimulation[] Simulations(LoadShape shape)
    {
        var second = TimeSpan.FromSeconds(1);
        var simulations = new List<LoadSimulation>();
        foreach (var segment in shape.Segments)
        {
            var (from, to) = (Whole(segment.From), Whole(segment.To));
            if (from == to)
            {
                simulations.Add(Simulation.Inject(rate: to, interval: second, during: segment.Length));
                continue;
            }

            // A ramp begins where the last simulation ended: the first one begins at 0.
            if (simulations.Count == 0)
            {
                simulations.Add(Simulation.Inject(rate: from, interval: second, during: second));
            }

            simulations.Add(Simulation.RampingInject(rate: to, interval: second, during: segment.Length));
        }

        return [.. simulations];
    }

    internal static TimeSpan BeforeChange(HostOptions options) => TimeSpan.FromSeconds(options.WarmUpSeconds + (options.DurationSeconds * ChangeAt));

    private static int Whole(double rate) => Math.Max(1, (int)Math.Round(rate));
}
