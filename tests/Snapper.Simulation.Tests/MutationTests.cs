using System.Diagnostics;
using Snapper.Simulation.Cluster;
using Snapper.Simulation.Marks;
using Snapper.Simulation.Running;
using Snapper.Simulation.Tests.Cluster;

namespace Snapper.Simulation.Tests;

/// <summary>
/// The build in which mutations and marks are written into the sources. A verifier that finds nothing proves nothing
/// until it has found something: some of the mutations,
/// others each day. Where none is selected, this build is the product.
/// </summary>
public sealed class MutationTests : IClassFixture<MutationTests.Build>
{
    private const string Program = "verification/Snapper.Verify/bin/Planted/net10.0/Snapper.Verify.dll";

    private static readonly TimeSpan s_longest = TimeSpan.FromMinutes(10);

    [Fact]
    public async Task Ten_mutations_of_one_worker_are_caught_and_most_of_four_of_several()
    {
        var table = await Run(Program, "--plant", "--rotate", "10", "--limit", "4000");
        Assert.Contains("10 of 10 caught", table, StringComparison.Ordinal);

        // Which seed catches one changes with every change of the product, and some need thousands: the whole
        // table is for that (docs/verification.md).
        table = await Run([0, 1], Program, "--plant", "--workers", "any", "--rotate", "4", "--limit", "400");
        var last = table.Split('\n').Single(line => line.EndsWith(" of 4 caught", StringComparison.Ordinal));
        Assert.Matches("^[234] of 4 caught", last);
    }

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

    private static Task<string> Run(params string[] arguments) => Run([0], arguments);

    private static async Task<string> Run(int[] exitCodes, params string[] arguments)
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
            Assert.True(exitCodes.Contains(process.ExitCode),
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
