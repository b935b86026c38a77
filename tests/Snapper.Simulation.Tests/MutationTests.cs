using System.Diagnostics;
using Snapper.Simulation.Cluster;
using Snapper.Simulation.Marks;
using Snapper.Simulation.Running;
using Snapper.Simulation.Tests.Cluster;

namespace Snapper.Simulation.Tests;

/// <summary>
/// The build in which mutations and marks are written into the sources. Where no mutation is selected, it is the
/// product; <c>./snapper verify --plant</c> selects them.
/// </summary>
[Trait("Lane", "nightly")]
public sealed class MutationTests : IClassFixture<MutationTests.Build>
{
    private const string Program = "verification/Snapper.Verify/bin/Planted/net10.0/Snapper.Verify.dll";

    private static readonly TimeSpan s_longest = TimeSpan.FromMinutes(10);

    [Fact]
    public async Task Without_a_mutation_a_seed_has_the_digest_that_it_has_in_the_product()
    {
        for (ulong seed = 1; seed <= 3; seed++)
        {
            Assert.Contains($"digest {Simulator.Run(seed).Digest:x16}", await Run(Program, "--seed", $"{seed}"),
                StringComparison.Ordinal);
            Assert.Contains($"digest {ClusterSimulator.Run(ClusterScenario.Draw(seed, 3)).Digest:x16}",
                await Run(Program, "--seed", $"{seed}", "--workers", "3"), StringComparison.Ordinal);
        }
    }

    [Fact]
    public async Task A_long_run_takes_every_transition() =>
        await Run(Program, "--seeds", $"{Coverage.LongRun}", "--first", "1");

    [Fact]
    public async Task Workers_are_taken_over_and_actors_move()
    {
        var output = await Run(Program, "--workers", "any", "--seeds", "60", "--first", "10000");
        Assert.All(
            (ClusterTransition[])[ClusterTransition.TakenOver, ClusterTransition.SuccessionSettled,
                ClusterTransition.MigrationCommitted, ClusterTransition.PassedOnAskedAgain,
                    ClusterTransition.GlobalUndo],
            transition => Assert.Matches($"{transition} +[1-9]", output));
    }

    [Fact]
    public async Task A_worker_that_is_silent_and_keeps_its_lease_is_evicted() =>
        Assert.Matches("transitions: .*Evicted [1-9]", await Run(Program, "--scenario", OddityTests.Silent));

    private static async Task<string> Run(params string[] arguments)
    {
        var start = new ProcessStartInfo("dotnet") { WorkingDirectory = RepositoryFolder.Path,
            RedirectStandardOutput = true, RedirectStandardError = true };
        foreach (var argument in arguments)
        {
            start.ArgumentList.Add(argument);
        }

        // A build server that stays behind would hold the pipes open.
        start.Environment["MSBUILDDISABLENODEREUSE"] = "1";
        using var process = Process.Start(start)!;
        using var limit = new CancellationTokenSource(s_longest);
        try
        {
            var (output, errors) = (process.StandardOutput.ReadToEndAsync(limit.Token),
                process.StandardError.ReadToEndAsync(limit.Token));
            await process.WaitForExitAsync(limit.Token);
            Assert.True(process.ExitCode == 0,
                $"dotnet {string.Join(' ', arguments)} ended with {process.ExitCode}:\n{await output}\n{await errors}");
            return await output;
        }
        catch (OperationCanceledException)
        {
            process.Kill(entireProcessTree: true);
            throw new TimeoutException(
                $"dotnet {string.Join(' ', arguments)} did not end within {s_longest.TotalMinutes} minutes.");
        }
    }

    /// <summary>A build of its own: no other one has them.</summary>
    public sealed class Build : IAsyncLifetime
    {
        /// <inheritdoc/>
        public Task InitializeAsync() =>
            Run("build", "verification/Snapper.Verify", "-c", "Planted", "--nologo", "-v", "quiet");

        /// <inheritdoc/>
        public Task DisposeAsync() => Task.CompletedTask;
    }
}
