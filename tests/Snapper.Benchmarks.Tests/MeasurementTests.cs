using System.Diagnostics;
using Snapper.Benchmarks.Measurement;
using Snapper.Benchmarks.Suite;
using Snapper.Benchmarks.Systems;
using Xunit;

namespace Snapper.Benchmarks.Tests;

public sealed class MeasurementTests
{
    private const string Line =
        "4711 (a (b) c) S 17 4711 4711 0 -1 4194560 500 0 0 0 1234 66 0 0 20 0 12 0 100 1000 200 18446744073709551615 0 0";

    [Fact]
    public void A_stat_line_is_read_also_when_the_name_holds_blanks_and_parentheses()
    {
        var process = ProcStat.Parse(Line);
        Assert.Equal(new ProcStat(4711, "a (b) c", 17, 1300), process);
        Assert.Equal(13_000_000, process.CpuMicroseconds);
    }

    [Theory]
    [InlineData("")]
    [InlineData("4711 no parentheses")]
    [InlineData("4711 (short) S 1 2")]
    public void A_line_that_is_no_stat_line_is_refused(string line) => Assert.Throws<FormatException>(() => ProcStat.Parse(line));

    [Fact]
    public void Resident_memory_is_read_in_bytes()
    {
        Assert.Equal(2048, ProcStat.ParseKilobytes("VmRSS:\t       2 kB"));
        Assert.Throws<FormatException>(() => ProcStat.ParseKilobytes("VmRSS: 2 MB"));
        Assert.True(ProcStat.ResidentBytes(Environment.ProcessId) > 1 << 20);
    }

    [Fact]
    public async Task A_forced_collection_leaves_nothing_that_is_garbage()
    {
        var garbage = MakeGarbage();

        await ForcedCollection.RunAsync(Environment.ProcessId);

        Assert.False(garbage.IsAlive);
        await Assert.ThrowsAsync<InvalidOperationException>(() => ForcedCollection.RunAsync(1));
    }

    [Fact]
    public void Own_CPU_time_agrees_with_the_runtime()
    {
        BurnCpu(TimeSpan.FromMilliseconds(200));
        var byRuntime = Environment.CpuUsage.TotalTime.TotalMicroseconds;
        var byStat = ProcStat.Read(Environment.ProcessId).CpuMicroseconds;

        // Two clock ticks of rounding, and what other tests of this process burn between the two readings.
        Assert.InRange(byStat - byRuntime, -25_000, 500_000);
    }

    [Fact]
    public void A_process_that_is_gone_is_null_to_a_look_and_an_error_to_a_measurement()
    {
        using var gone = Process.Start("true");
        gone.WaitForExit();
        Assert.Null(ProcStat.TryRead(gone.Id));
        Assert.Throws<InvalidOperationException>(() => CpuMeter.Start([new MeasuredProcess("server", gone.Id)]));
        var shares = CpuMeter.Start([new MeasuredProcess("launcher", gone.Id, MayEnd: true)]).Stop();
        Assert.Equal(0, shares[0].Microseconds);
    }

    [Fact]
    public void Descendants_are_found_over_generations_and_strangers_left_out()
    {
        ProcStat[] all =
        [
            new(3, "grandchild", 2, 0), new(1, "init", 0, 0), new(2, "child", 10, 0), new(10, "root", 1, 0), new(4, "stranger", 1, 0), new(5, "child", 10, 0),
        ];
        Assert.Equal([2, 3, 5, 10], ProcessTree.Descendants(10, all).Select(process => process.ProcessId).Order());
        Assert.Empty(ProcessTree.Descendants(99, all));
    }

    [Fact]
    public async Task The_meter_adds_up_a_role_and_lists_this_process_last()
    {
        await using var busy = ChildProcess.Start("a busy loop", "/bin/sh", ["-c", "while :; do :; done"]);
        var meter = CpuMeter.Start([new MeasuredProcess("server", busy.Id), new MeasuredProcess("server", busy.Id)]);
        await busy.WaitUntilAsync(
            () => Task.FromResult(ProcStat.Read(busy.Id).CpuMicroseconds > 100_000), TimeSpan.FromSeconds(30), "100 ms of CPU time");
        var shares = meter.Stop("driver");
        Assert.Equal(["server", "driver"], shares.Select(share => share.Role));
        Assert.True(shares[0].Microseconds >= 100_000, $"{shares[0].Microseconds}");
    }

    [Fact]
    public async Task A_child_that_never_prints_its_line_fails_with_what_it_did_print()
    {
        await using var child = ChildProcess.Start("a talker", "/bin/sh", ["-c", "echo something else; exit 3"]);
        var failure = await Assert.ThrowsAsync<InvalidOperationException>(
            () => child.WaitForLineAsync(line => line == "ready", TimeSpan.FromSeconds(20), "\"ready\""));
        Assert.Contains("a talker did not print \"ready\"", failure.Message, StringComparison.Ordinal);
        Assert.Contains("code 3", failure.Message, StringComparison.Ordinal);
    }

    [Fact]
    public async Task A_child_is_ended_together_with_what_it_started()
    {
        var child = ChildProcess.Start("a parent", "/bin/sh", ["-c", "trap 'exit 0' TERM; sleep 600 & echo started $!; wait"]);
        var line = await child.WaitForLineAsync(text => text.StartsWith("started ", StringComparison.Ordinal), TimeSpan.FromSeconds(20), "\"started\"");
        var grandchild = int.Parse(line.AsSpan(8), System.Globalization.CultureInfo.InvariantCulture);
        for (var i = 0; ProcStat.Read(grandchild).Name != "sleep"; i++)
        {
            Assert.True(i < 1000, "The shell's child has not become the program that it was made for.");
            await Task.Delay(10);
        }

        await child.DisposeAsync();
        Assert.True(ProcStat.TryRead(grandchild) is not { Name: "sleep" } left || left.ParentId == 1, "The grandchild still runs.");
    }

    [Fact]
    public void A_metric_is_found_by_its_whole_name()
    {
        const string Text = "# HELP heap x\nheap_bytes_total 5\nheap_bytes 1.5e6\n";
        Assert.Equal(1_500_000, MemoryBenchmark.Metric(Text, "heap_bytes"));
        Assert.Null(MemoryBenchmark.Metric(Text, "heap"));
    }

    [Fact]
    public void Ports_are_never_given_twice()
    {
        var ports = Enumerable.Range(0, 100).Select(_ => Ports.Free()).ToArray();
        Assert.Equal(ports.Length, ports.Distinct().Count());
    }

    // A method of its own, so that no register of the test keeps the object; old, so that a collection of the youngest would not find it.
    [System.Runtime.CompilerServices.MethodImpl(System.Runtime.CompilerServices.MethodImplOptions.NoInlining)]
    private static WeakReference MakeGarbage()
    {
        var array = new byte[1000];
        GC.Collect();
        GC.Collect();
        Assert.Equal(GC.MaxGeneration, GC.GetGeneration(array));
        return new WeakReference(array);
    }

    private static void BurnCpu(TimeSpan time)
    {
        var since = Stopwatch.GetTimestamp();
        while (Stopwatch.GetElapsedTime(since) < time)
        {
            Thread.SpinWait(1000);
        }
    }
}
