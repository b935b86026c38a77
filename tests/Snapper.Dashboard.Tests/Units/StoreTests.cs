using Snapper.Contracts;
using Snapper.Dashboard.Charts;
using Snapper.Dashboard.Hosting;
using Snapper.Dashboard.Parts;
using Snapper.Dashboard.Store;
using Snapper.Dashboard.Tests.Fakes;
using Snapper.Dashboard.Workers;

namespace Snapper.Dashboard.Tests.Units;

/// <summary>What is kept, added up and drawn.</summary>
public sealed class StoreTests
{
    [Fact]
    public void A_ring_keeps_the_newest()
    {
        var ring = new Ring<int>(3);
        Assert.Empty(ring.ToArray());
        for (var i = 1; i <= 5; i++) ring.Add(i);
        Assert.Equal([3, 4, 5], ring.ToArray());
        Assert.Equal(3, ring.Count);
    }

    [Fact]
    public void Rates_are_of_the_time_that_passed()
    {
        var before = new WorkerStatus { Pid = 1, Epoch = 1, UptimeMs = 1000, CommittedPact = 100, CpuMs = 500, AbortsByReason = new Dictionary<string, long> { ["conflict"] = 1 } };
        var now = before with { UptimeMs = 3000, CommittedPact = 140, CpuMs = 1500, AbortsByReason = new Dictionary<string, long> { ["conflict"] = 5, ["timeout"] = 2 } };
        var sample = Sample.Between(before, 10_000, now, 12_000)!;
        Assert.Equal(20, sample.PactPerSecond);
        Assert.Equal(50, sample.CpuPercent);
        Assert.Equal(2, sample.AbortsByReason["conflict"]);
        Assert.Equal(1, sample.AbortsByReason["timeout"]);
    }

    [Fact]
    public void A_restart_makes_no_sample_and_no_negative_rate()
    {
        var before = new WorkerStatus { Pid = 1, Epoch = 1, UptimeMs = 5000, CommittedPact = 100 };
        Assert.Null(Sample.Between(before, 0, before with { Pid = 2, UptimeMs = 10 }, 1000));
        Assert.Null(Sample.Between(before, 0, before with { Epoch = 2, UptimeMs = 6000 }, 1000));
        Assert.Null(Sample.Between(before, 0, before with { UptimeMs = 10 }, 1000));
        Assert.Null(Sample.Between(before, 1000, before, 1000));
        Assert.Equal(0, Sample.Between(before, 0, before with { UptimeMs = 6000, CommittedPact = 90 }, 1000)!.PactPerSecond);
    }

    [Fact]
    public void Workers_together_add_rates_and_take_the_worst_p99()
    {
        static Sample One(double at, double rate, long count, double p50, double p99) => new() { AtMs = at, PactPerSecond = rate, Latency = new LatencyByMode(new LatencyView(count, p50, 0, p99, 0, 0), null) };
        var all = Sample.Together([[One(1100, 10, 100, 2, 9), One(2100, 11, 100, 2, 9)], [One(1900, 5, 300, 6, 7)]]);
        Assert.Equal([1000, 2000], all.Select(sample => sample.AtMs));
        Assert.Equal(15, all[0].PactPerSecond);
        Assert.Equal(5, all[0].Latency!.Pact!.P50Ms);
        Assert.Equal(9, all[0].Latency!.Pact!.P99Ms);
        Assert.Null(all[0].Latency!.Act);
        Assert.Equal(11, all[1].PactPerSecond);
    }

    [Fact]
    public void The_fleet_tells_of_restarts_elections_and_silence_and_stays_bounded()
    {
        var url = new Uri("http://127.0.0.1:1");
        var fleet = new Fleet(new DashboardSettings([url], null, 0, false, 0));
        var at = DateTimeOffset.UnixEpoch;
        void Look(WorkerStatus? status) => fleet.Note(url, new Reply<WorkerStatus>(status, false, status is null ? "refused" : null), null, at = at.AddSeconds(1));
        var first = new WorkerStatus { Worker = "w1", Pid = 1, Epoch = 1, UptimeMs = 1000, Cluster = new ClusterStatusView { Master = "w1" } };
        Look(first);
        Assert.Empty(fleet.Changes);
        Look(null);
        Look(null);
        Look(first with { Pid = 2, Epoch = 2, UptimeMs = 10, Cluster = new ClusterStatusView { Master = "w2" } });
        Assert.Equal(["election", "restart", "gone"], fleet.Changes.Select(change => change.Kind));
        for (var i = 0; i < 2000; i++) Look(first with { Pid = 3, UptimeMs = 1000 + i });
        Assert.Equal(Fleet.SamplesKept, fleet.Workers[0].Samples.Count);
        for (var i = 0; i < 500; i++) Look(first with { Pid = 10 + i });
        Assert.Equal(200, fleet.Changes.Count);
    }

    [Fact]
    public void An_answer_that_was_overtaken_is_no_restart_and_no_news()
    {
        var url = new Uri("http://127.0.0.1:1");
        var fleet = new Fleet(new DashboardSettings([url], null, 0, false, 0));
        void Look(long epoch, long uptime) => fleet.Note(url, new Reply<WorkerStatus>(new WorkerStatus { Worker = "w1", Pid = 1, Epoch = epoch, UptimeMs = uptime }, false, null), null, DateTimeOffset.UnixEpoch.AddMilliseconds(uptime));
        Look(1, 2000);
        Look(1, 1900);
        Assert.Empty(fleet.Changes);
        Assert.Equal(2000, fleet.Workers[0].Status!.UptimeMs);

        // The same number of a process, as in a container: its epoch tells.
        Look(2, 1000);
        Assert.Equal("restart", Assert.Single(fleet.Changes).Kind);
    }

    [Fact]
    public void The_first_epoch_of_a_worker_is_no_takeover()
    {
        var url = new Uri("http://127.0.0.1:1");
        var fleet = new Fleet(new DashboardSettings([url], null, 0, false, 0));
        void Look(long epoch, long uptime) => fleet.Note(url, new Reply<WorkerStatus>(new WorkerStatus { Worker = "w1", Pid = 1, Epoch = epoch, UptimeMs = uptime }, false, null), null, DateTimeOffset.UnixEpoch.AddMilliseconds(uptime));
        Look(0, 1000);
        Look(1, 2000);
        Assert.Empty(fleet.Changes);
        Look(2, 3000);
        Assert.Equal("w1 has a new epoch: 1 → 2", Assert.Single(fleet.Changes).Text);
    }

    [Fact]
    public void A_migration_is_told_once_per_state_and_not_when_it_was_over_before()
    {
        var fleet = new Fleet(new DashboardSettings([new Uri("http://127.0.0.1:1")], null, 0, false, 0));
        static MigrationsView Seen(params (string Id, string State)[] all) =>
            new() { Migrations = [.. all.Select(one => new MigrationStatus { Id = one.Id, State = one.State, Keys = 3, Parts = [new MigrationPart { From = "w1", To = "w2" }] })] };
        fleet.Note(Seen(("old", "done")), DateTimeOffset.UnixEpoch);
        Assert.Empty(fleet.Changes);
        fleet.Note(Seen(("old", "done"), ("new", "planned")), DateTimeOffset.UnixEpoch);
        fleet.Note(Seen(("old", "done"), ("new", "planned")), DateTimeOffset.UnixEpoch);
        fleet.Note(Seen(("old", "done"), ("new", "done")), DateTimeOffset.UnixEpoch);
        Assert.Equal(["migration new: 3 from w1 to w2, done", "migration new: 3 from w1 to w2, planned"], fleet.Changes.Select(change => change.Text));

        var empty = new Fleet(new DashboardSettings([new Uri("http://127.0.0.1:1")], null, 0, false, 0));
        empty.Note(Seen(), DateTimeOffset.UnixEpoch);
        empty.Note(Seen(("quick", "done")), DateTimeOffset.UnixEpoch);
        Assert.Single(empty.Changes);
    }

    [Theory]
    [InlineData(0, 1)]
    [InlineData(7, 8)]
    [InlineData(100, 100)]
    [InlineData(101, 150)]
    [InlineData(0.034, 0.04)]
    [InlineData(double.NaN, 1)]
    public void Axes_end_at_a_round_value_that_is_not_below_the_highest(double most, double top)
    {
        var ticks = Scale.Ticks(most);
        Assert.Equal(0, ticks[0]);
        Assert.Equal(top, ticks[^1], 9);
        Assert.InRange(ticks.Count, 2, 7);
    }

    [Fact]
    public void Tables_become_csv_without_formulas_and_json_with_names()
    {
        IReadOnlyList<Column<(string Text, double? Number)>> columns = [new("Some text", row => row.Text), new("p99", row => row.Number) { Unit = "ms" }];
        (string, double?)[] rows = [("=1+1", 2.5), ("a,\"b\"\nc", null)];
        Assert.Equal("Some text,p99 ms\r\n'=1+1,2.5\r\n\"a,\"\"b\"\"\nc\",\r\n", TableText.Csv(columns, rows));
        var json = System.Text.Json.JsonDocument.Parse(TableText.Json(columns, rows)).RootElement;
        Assert.Equal("=1+1", json[0].GetProperty("someText").GetString());
        Assert.Equal(2.5, json[0].GetProperty("p99Ms").GetDouble());
        Assert.Equal(System.Text.Json.JsonValueKind.Null, json[1].GetProperty("p99Ms").ValueKind);
    }

    [Theory]
    [InlineData("--port x", "--port must be one whole number")]
    [InlineData("--port", "--port needs a value")]
    [InlineData("--nope 1", "unknown argument '--nope'")]
    [InlineData("--port 1 --port 2", "--port is given twice")]
    [InlineData("--workers ftp://a", "is not the base address of a worker")]
    [InlineData("--workers http://a/path", "is not the base address of a worker")]
    [InlineData("--workers http://user@a", "is not the base address of a worker")]
    public void Wrong_settings_are_named(string line, string said) =>
        Assert.Contains(said, Assert.Throws<FormatException>(() => DashboardSettings.Read(line.Split(' '), _ => null)).Message, StringComparison.Ordinal);

    [Fact]
    public void Beyond_loopback_is_refused_without_a_sign_in()
    {
        var settings = DashboardSettings.Read([], name => name == "ASPNETCORE_HTTP_PORTS" ? "8080" : null);
        Assert.True(settings.BeyondLoopback);
        Assert.Contains("SNAPPER_TOKENS_FILE", Listen.Refusal(settings, signsIn: false), StringComparison.Ordinal);
        Assert.Null(Listen.Refusal(settings, signsIn: true));
        Assert.Null(Listen.Refusal(DashboardSettings.Read([], _ => null), signsIn: false));
        Assert.False(DashboardSettings.Read(["--port", "8081"], name => name == "ASPNETCORE_HTTP_PORTS" ? "8080" : null).BeyondLoopback);
    }

    [Fact]
    public void Every_reason_of_the_api_is_explained()
    {
        Assert.Equal(ApiDescription.AbortReasons().Order(), Reasons.All.Select(reason => reason.Name).Order());
        Assert.Contains("'new-one'", Reasons.Of("new-one").What, StringComparison.Ordinal);
    }
}
