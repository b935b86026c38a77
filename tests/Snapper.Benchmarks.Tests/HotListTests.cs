using System.Text;
using System.Text.Json;
using Snapper.Benchmarks.HotLists;
using Snapper.Benchmarks.InProcess;
using Snapper.Benchmarks.Load;
using Snapper.Benchmarks.Statistics;
using Snapper.Runtime.Door;
using Xunit;

namespace Snapper.Benchmarks.Tests;

public sealed class HotListTests
{
    private const int Draws = 40_000;

    private static readonly ListTransaction s_drawn = new(
        [new("b", null), new("b", 1), new("a", null), new("b", 2), new("a", 3)], 7);

    [Fact]
    public void Lists_are_drawn_by_a_Pareto_distribution_that_is_cut_off()
    {
        var expected = HotList.Probabilities();
        Assert.Equal(12, expected.Length);
        Assert.Equal(1, expected.Sum(), 9);
        Assert.Equal((1 - Math.Pow(2, -0.6)) / (1 - Math.Pow(13, -0.6)), expected[0], 9);
        Assert.Equal(expected.OrderDescending(), expected);

        var random = new FastRandom(1);
        var counts = new int[expected.Length];
        for (var i = 0; i < Draws; i++)
        {
            counts[HotList.Draw(ref random)]++;
        }

        Assert.All(counts.Zip(expected), static pair => Assert.Equal(pair.Second, pair.First / (double)Draws, 0.01));
    }

    [Fact]
    public void A_transaction_has_one_to_five_operations_half_of_them_appends_and_one_in_ten_waits()
    {
        var run = new ListRun("x");
        var random = new FastRandom(2);
        var all = Enumerable.Range(0, Draws).Select(_ => run.Draw(ref random)).ToArray();
        Assert.Equal([1, 2, 3, 4, 5], all.Select(static each => each.Operations.Count).Distinct().Order());
        var operations = all.SelectMany(static each => each.Operations).ToArray();
        var appends = operations.Where(static each => each.Value is not null).ToArray();
        Assert.Equal(0.5, appends.Length / (double)operations.Length, 0.02);
        Assert.Equal(0.1, all.Count(static each => each.DelayMs > 0) / (double)Draws, 0.02);
        Assert.Equal((0, 20), (all.Min(static each => each.DelayMs), all.Max(static each => each.DelayMs)));

        Assert.Equal(appends.Length, appends.DistinctBy(static each => each.Value).Count());
        Assert.All(
            appends.CountBy(static each => each.Key),
            static list => Assert.True(list.Value < 3 * HotList.AppendsPerList));
    }

    [Fact]
    public void Operations_come_as_drawn_or_by_list_or_by_list_with_the_appends_first()
    {
        Assert.Equal([0, 1, 2, 3, 4], s_drawn.AsDrawn());
        Assert.Equal([2, 4, 0, 1, 3], s_drawn.ByList());
        Assert.Equal([4, 2, 1, 3, 0], s_drawn.ByListAppendsFirst());
    }

    [Theory]
    [InlineData("1 2", "1 2", "", null)]
    [InlineData("1 2", "2 1 3", "3", null)]
    [InlineData("1 2", "1", "", "lacks 1 committed values, 2")]
    [InlineData("1", "1 4", "", "1 values that were not committed, 4")]
    [InlineData("1", "1 1", "", "values twice")]
    public async Task What_was_committed_is_there_once_and_nothing_else_but_what_is_in_doubt(
        string committed, string found, string inDoubt, string? problem)
    {
        var run = new ListRun("x");
        var key = "x.0";
        Note(committed, new TransactionEnd(true, 1, null));
        Note(inDoubt, new TransactionEnd(false, 1, "?") { InDoubt = true });
        Note("99", new TransactionEnd(false, 1, "conflict"));
        var wrong = await run.Check(list => Task.FromResult<IReadOnlyList<long>>(list == key ? Numbers(found) : []));
        if (problem is null)
        {
            Assert.Null(wrong);
        }
        else
        {
            Assert.Contains(problem, wrong, StringComparison.Ordinal);
        }

        void Note(string values, TransactionEnd end)
        {
            var appends = Numbers(values).Select(value => new ListOperation(key, value));
            run.Note(new ListTransaction([.. appends, new(key, null)], 0), end);
        }
    }

    [Fact]
    public void A_request_of_the_product_declares_the_roots_call_and_one_for_each_operation()
    {
        var request = ListRequests.Of(s_drawn, TransactionMode.Pact);
        Assert.Equal("b", request.Actor.Id);
        Assert.Equal([("b", 4), ("a", 2)], request.Access!.Select(static each => (each.Actor.Id, each.Calls)));
        Assert.Null(ListRequests.Of(s_drawn, TransactionMode.Act).Access);

        using var stream = new MemoryStream();
        using (var json = new Utf8JsonWriter(stream))
        {
            ListRequests.Write(json, new ListTransaction([new("b", null), new("a", 3)], 7), TransactionMode.Pact);
        }

        Assert.Equal(
            """{"actor":{"type":"ListAppend","id":"b"},"method":"Execute","input":"""
                + """{"ops":[{"f":"r","key":"b"},{"f":"append","key":"a","value":3}],"delayMs":7}"""
                + ""","mode":"pact","access":{"ListAppend":{"b":2,"a":1}}}""",
            Encoding.UTF8.GetString(stream.ToArray()));
    }

    [Fact]
    public void An_envelope_tells_the_end_of_a_transaction_and_anything_else_is_an_error()
    {
        Assert.Equal(
            new TransactionEnd(true, 3, null), End(200, """{"outcome":"committed","attempts":3,"result":{}}"""));
        Assert.Equal(
            new TransactionEnd(false, 2, "conflict"),
            End(409, """{"outcome":"aborted","attempts":2,"abort":{"reason":"conflict"}}"""));
        Assert.True(End(504, """{"outcome":"inDoubt"}""").InDoubt);
        Assert.Throws<InvalidDataException>(() => End(503, """{"outcome":"rejected"}"""));

        static TransactionEnd End(int status, string body) =>
            HttpLists.Read(new HttpAnswer(status, Encoding.UTF8.GetBytes(body)));
    }

    [Fact]
    public void A_mix_has_as_many_of_both()
    {
        var mix = ListMix.Mixed;
        Assert.Equal(50, Enumerable.Range(0, 100).Count(_ => mix.Next() == TransactionMode.Pact));
        Assert.Equal(TransactionMode.Act, ListMix.Acts.Next());
        Assert.False(ListMix.Pacts.HasActs);
    }

    private static long[] Numbers(string text) =>
        [.. text.Split(' ', StringSplitOptions.RemoveEmptyEntries).Select(long.Parse)];
}
