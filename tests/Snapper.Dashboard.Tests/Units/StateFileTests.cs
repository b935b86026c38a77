using System.Text;
using System.Text.Json;
using Snapper.Dashboard.Actions;
using Snapper.Dashboard.Workers;

namespace Snapper.Dashboard.Tests.Units;

/// <summary>Files of states, and running through them.</summary>
public sealed class StateFileTests
{
    [Fact]
    public async Task What_is_exported_can_be_imported()
    {
        using var file = new MemoryStream([.. StateFile.Line("Account", "ä\"\n", 3, JsonSerializer.SerializeToElement(new { checking = 1.50m, name = "é\n" })), .. "\n"u8, .. StateFile.Line("B", "b", 1, JsonSerializer.SerializeToElement(new[] { 1 }))]);
        var (changes, problems) = await StateFile.Read(file, default);
        Assert.Empty(problems);
        Assert.Equal([("Account", "ä\"\n"), ("B", "b")], changes.Select(one => (one.Type, one.Id)));
        Assert.Equal("1.50", changes[0].State!.Value.GetProperty("checking").GetRawText());
    }

    [Theory]
    [InlineData("", "no line")]
    [InlineData("[1]", "no object")]
    [InlineData("{", "no JSON")]
    [InlineData("""{"type":"A","id":"","state":{}}""", "not empty")]
    [InlineData("""{"type":"A","id":"a"}""", "no state")]
    [InlineData("""{"type":"A","id":"a","state":null}""", "no state")]
    [InlineData("""{"type":"A","id":"a","state":{},"x":1}""", "a field x")]
    public async Task What_is_wrong_is_named(string text, string named)
    {
        using var file = new MemoryStream(Encoding.UTF8.GetBytes(text));
        var (changes, problems) = await StateFile.Read(file, default);
        Assert.Empty(changes);
        Assert.Contains(named, Assert.Single(problems), StringComparison.Ordinal);
    }

    [Fact]
    public async Task What_was_not_taken_in_is_asked_for_again_under_its_id_and_what_is_refused_is_told()
    {
        var asked = new List<string>();
        StateChange[] changes = [new("A", "busy", null), new("A", "bad", null), new("A", "good", null)];
        var run = new StateRun(
            (change, id, _) =>
            {
                lock (asked) asked.Add(id);
                var first = asked.Count(one => one == id) == 1;
                return Task.FromResult(change.Id switch { "busy" when first => new Outcome(503, null, "starting"), "bad" => new Outcome(400, null, "no state"), _ => new Outcome(200, null, null) });
            },
            changes, "run");
        var progress = 0;
        await run.Run(() => Interlocked.Increment(ref progress), default);
        Assert.Equal((2, 1, 3), (run.Done, run.Failed, progress));
        Assert.Equal(("bad", "no state"), (run.Failures[0].Change.Id, run.Failures[0].Problem));
        Assert.Equal(["run-0", "run-0", "run-1", "run-2"], asked.Order());
    }

    [Fact]
    public async Task It_can_be_stopped()
    {
        using var stop = new CancellationTokenSource();
        var asked = 0;
        var run = new StateRun(FirstOnly, [.. Enumerable.Range(0, 1000).Select(i => new StateChange("A", $"a{i}", null))], "run");
        await Assert.ThrowsAnyAsync<OperationCanceledException>(() => run.Run(stop.Cancel, stop.Token));
        Assert.Equal(1, run.Done);

        async Task<Outcome> FirstOnly(StateChange change, string id, CancellationToken cancellation)
        {
            if (Interlocked.Increment(ref asked) > 1) await Task.Delay(Timeout.Infinite, cancellation);
            return new Outcome(200, null, null);
        }
    }
}
