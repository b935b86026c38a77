using Microsoft.Extensions.Logging.Abstractions;
using Snapper.AspNetCore.Hosting;
using Snapper.Cluster.Control;
using Snapper.Runtime.Inspection;
using Snapper.Server.Hosting;
using Xunit;
using static Snapper.Server.Tests.Cluster.FakeControl;

namespace Snapper.Server.Tests.Cluster;

/// <summary>Whom a worker that stops gives what it owns to, and when it gives up; and how one that comes asks for its share.</summary>
public sealed class LeavingTests
{
    private static readonly TimeSpan Short = TimeSpan.FromMilliseconds(400);
    private static readonly TimeSpan Long = TimeSpan.FromSeconds(30);

    [Fact]
    public async Task What_it_owns_is_spread_over_the_others()
    {
        var control = new FakeControl("w2", Worker("w1", 5), Worker("w2", 7), Worker("w3", 5));
        Assert.True(await Leave(control, Long));
        var ask = Assert.Single(control.Asked);
        Assert.Equal(("leave-w2-1-1", "w2", null), (ask.Id, ask.Worker, ask.To));
        Assert.True(control.HasLeft);
    }

    [Fact]
    public async Task A_worker_that_owns_nothing_asks_nobody()
    {
        var control = new FakeControl("w2", Worker("w1", 5), Worker("w2", 0));
        Assert.True(await Leave(control, Long));
        Assert.Empty(control.Asked);
    }

    [Fact]
    public async Task What_is_given_to_it_at_the_last_moment_is_given_away_as_well()
    {
        var control = new FakeControl("w2", Worker("w1", 5), Worker("w2", 0));
        control.Refusals.Enqueue("somebody has just given it something");
        Assert.True(await Leave(control, Long));
        Assert.True(control.HasLeft);
        Assert.Empty(control.Refusals);
    }

    [Fact]
    public async Task One_that_leaves_as_well_is_given_nothing()
    {
        var control = new FakeControl("w2", Worker("w1", 5), Worker("w2", 7), Worker("w3", 5, epoch: 4));
        control.Made.Add(Migration("leave-w3-4-1", "planned"));
        control.Made.Add(Migration("leave-w1-0-1")); // an earlier life of w1, which is back
        Assert.True(await Leave(control, Long));
        Assert.Equal("w1", Assert.Single(control.Asked).To);
    }

    [Fact]
    public async Task When_all_leave_it_stops_at_once_with_what_it_owns()
    {
        var control = new FakeControl("w2", Worker("w1", 5), Worker("w2", 7), Worker("w3", 0, "left"));
        control.Made.Add(Migration("leave-w1-1-3"));
        Assert.False(await Leave(control, Long));
        Assert.Empty(control.Asked);
    }

    [Theory]
    [InlineData("fenced")]
    [InlineData("expired")]
    public async Task One_whose_actors_others_take_over_anyhow_asks_nobody(string state)
    {
        var control = new FakeControl("w2", Worker("w1", 5), Worker("w2", 7, state));
        Assert.False(await Leave(control, Long));
        Assert.Empty(control.Asked);
    }

    [Fact]
    public async Task What_is_refused_or_comes_meanwhile_is_asked_for_again_under_another_id()
    {
        var control = new FakeControl("w2", Worker("w1", 5), Worker("w2", 7));
        control.OnMigrate = _ =>
        {
            switch (control.Asked.Count)
            {
                case 1: throw new MigrationRefusedException("it moves already");
                case 2: throw new StorageUnavailableException("Redis is away", new IOException());
                case 3: control.Entries("w2", 1); break; // somebody has given it one meanwhile
                default: control.Entries("w2", 0); break;
            }
        };
        Assert.True(await Leave(control, Long));
        Assert.Equal(["leave-w2-1-1", "leave-w2-1-2", "leave-w2-1-3", "leave-w2-1-4"], control.Asked.Select(ask => ask.Id));
    }

    [Fact]
    public async Task It_gives_up_when_its_time_is_over()
    {
        var control = new FakeControl("w2", Worker("w1", 5), Worker("w2", 7)) { OnMigrate = _ => throw new MigrationRefusedException("never") };
        Assert.False(await Leave(control, Short).WaitAsync(Long));
        Assert.True(control.Asked.Count > 1, "it was tried once only");
    }

    [Fact]
    public async Task Whoever_comes_and_owns_nothing_asks_for_its_share_until_it_has_one()
    {
        var control = new FakeControl("w2", Worker("w1", 5), Worker("w2", 0, epoch: 3));
        control.OnMigrate = _ =>
        {
            if (control.Asked.Count == 1) throw new MigrationRefusedException("it moves already");
            control.Entries("w2", 2);
        };
        await new RebalanceOnJoin(control, NullLogger.Instance).Run(CancellationToken.None).WaitAsync(Long);
        Assert.Equal([("share-w2-3-1", true), ("share-w2-3-2", true)], control.Asked.Select(ask => (ask.Id!, ask.Rebalance)));
    }

    [Theory]
    [InlineData(4, "live")]
    [InlineData(0, "left")]
    public async Task Whoever_owns_something_or_is_alone_asks_for_nothing(long entries, string other)
    {
        var control = new FakeControl("w2", Worker("w1", 0, other), Worker("w2", entries));
        await new RebalanceOnJoin(control, NullLogger.Instance).Run(CancellationToken.None).WaitAsync(Long);
        Assert.Empty(control.Asked);
    }

    [Fact]
    public void Probes_hear_that_it_leaves_while_it_still_serves()
    {
        var settings = new WorkerSettings
        {
            Actors = ServerActors.Own,
            Name = "w1", ListenPort = 1, SidecarPort = 2, SidecarKind = SidecarKind.Daprd, LogKind = LogKind.File, DataDirectory = "/nowhere", Fsync = FsyncPolicy.Always,
        };
        var inspection = new InspectionSwitch(settings);
        inspection.Open(new Api.FakeInspection(), null);
        Assert.All(inspection.Checks(), check => Assert.True(check.Healthy));
        inspection.IsLeaving = true;
        Assert.Equal("staying", Assert.Single(inspection.Checks(), check => !check.Healthy).Name);
    }

    private static async Task<bool> Leave(FakeControl control, TimeSpan within)
    {
        using var end = new CancellationTokenSource(within);
        return await new DrainOnStop(control, NullLogger.Instance).Run(end.Token);
    }
}
