using System.Diagnostics;
using System.Globalization;
using System.Text.RegularExpressions;
using Snapper.Runtime.Tests.Support;
using Snapper.Storage.Memory;
using Snapper.Storage.States;
using Xunit;

namespace Snapper.Runtime.Tests;

/// <summary>The states of actors cannot be read for a while.</summary>
public sealed class StoreOutageTests
{
    private const int LoadFailed = 1003;

    /// <summary>Hundreds of actors try again all the time, and the log of the worker must not grow with them.</summary>
    [Fact]
    public async Task An_outage_is_logged_once_a_second_and_the_others_are_counted()
    {
        await using var rig = await Rig.Start();
        var store = new AwayStore(new MemoryStateStore(rig.Storage, TimeProvider.System, new StateStoreOptions()))
        {
            IsAway = false, HasNoStates = true,
        };
        rig.Store = store;
        await rig.Restart();
        var clock = Stopwatch.StartNew();
        var acts = Enumerable.Range(0, 200).Select(i => rig.Act($"b{i}", Step.Add(), Step.Get())).ToArray();
        await Rig.Until(() => store.FailedLoads >= 1000 && Lines(rig).Length >= 2, "each was read again and again");
        Assert.InRange(Lines(rig).Length, 2, 2 + (int)clock.Elapsed.TotalSeconds);
        Assert.True(Others(Lines(rig)[1]) >= 199, Lines(rig)[1]);
        store.HasNoStates = false;
        foreach (var act in acts)
        {
            Rig.Saw(await Rig.Within(act, "it is read at last"), 1);
        }
    }

    private static string[] Lines(Rig rig) =>
        [.. rig.Logger.Lines.Where(line => line.Id == LoadFailed).Select(line => line.Text)];

    private static int Others(string line) =>
        int.Parse(Regex.Match(line, @"trying again \((\d+) more").Groups[1].Value, CultureInfo.InvariantCulture);
}
