using Snapper.Protocol.Directory;
using Snapper.Protocol.Identity;
using Snapper.Runtime.Tests.Support;
using Xunit;

namespace Snapper.Runtime.Tests.Cluster;

/// <summary>R2, L8: when nobody will ask any more what was decided for a life that is over.</summary>
public sealed class DeadIncarnationsTests : IDisposable
{
    private static readonly Incarnation Dead = new(2, 5);
    private static readonly DirectoryKey Key = DirectoryKey.Of(new Partition(7));
    private readonly ClusterBench _bench = new();
    private long _version = 1_000_000;

    [Fact]
    public void A_life_that_the_directory_names_may_still_ask()
    {
        Decide();
        Owns(Dead);
        Gone(Dead);
        Assert.True(_bench.Node.Gone.Any); // the directory must be read though it has not changed
        Read();
        Assert.True(_bench.Node.Gone.Any);
        Assert.Equal(1, _bench.Node.Decisions.Unmarked);
    }

    [Fact]
    public void So_does_one_whose_worker_owned_something_in_a_life_before_it()
    {
        Decide();
        Owns(Dead with { Epoch = 4 });
        Gone(Dead);
        Read();
        Assert.True(_bench.Node.Gone.Any);
        Assert.Equal(1, _bench.Node.Decisions.Unmarked);
    }

    [Theory]
    [InlineData(2, 6)]
    [InlineData(1, 1)]
    public void Once_what_it_owned_was_given_on_nobody_asks(int worker, long epoch)
    {
        Decide();
        Owns(Dead);
        Gone(Dead);
        Read();
        Owns(new Incarnation(worker, epoch));
        Read();
        Assert.False(_bench.Node.Gone.Any);
        Assert.Equal(0, _bench.Node.Decisions.Unmarked);
    }

    [Fact]
    public void Of_a_life_that_ended_while_the_directory_was_read_the_next_reading_tells()
    {
        Decide();
        _bench.On(() => _bench.Node.Gone.BeginReading());
        Gone(Dead); // what it owned may be on a page that is not read yet
        _bench.On(() => _bench.Node.Gone.EndReading());
        Assert.True(_bench.Node.Gone.Any);
        Assert.Equal(1, _bench.Node.Decisions.Unmarked);
        Read();
        Assert.False(_bench.Node.Gone.Any);
        Assert.Equal(0, _bench.Node.Decisions.Unmarked);
    }

    [Fact]
    public void One_that_is_resolved_does_not_end_the_wait_for_another()
    {
        Decide();
        Owns(Dead);
        Gone(new Incarnation(3, 1));
        Gone(Dead);
        Read();
        Assert.True(_bench.Node.Gone.Any);
        Assert.Equal(1, _bench.Node.Decisions.Unmarked);
    }

    [Fact]
    public void A_worker_that_misses_nobody_need_not_read() => Assert.False(_bench.Node.Gone.Any);

    public void Dispose() => _bench.Dispose();

    private void Decide() => _bench.On(() => _bench.Node.Decisions.NoteDecided(ActDecisionsTests.OutcomeOf(1, Dead), 1));

    private void Owns(Incarnation owner) => _bench.On(() => Assert.True(_bench.Node.Directory.Apply(new DirectoryEntry(Key, owner, ++_version))));

    private void Gone(Incarnation life) => _bench.On(() => _bench.Node.Gone.Add(life));

    private void Read() => _bench.On(() =>
    {
        _bench.Node.Gone.BeginReading();
        _bench.Node.Gone.EndReading();
    });
}
