using System.Diagnostics;
using Xunit;

namespace Snapper.Server.Tests.Harness;

/// <summary>Waits for a condition, never for a time.</summary>
internal static class Eventually
{
    public static readonly TimeSpan Deadline = TimeSpan.FromSeconds(60);

    public static Task True(string what, Func<bool> condition) => True(what, () => Task.FromResult(condition()));

    public static async Task True(string what, Func<Task<bool>> condition)
    {
        var started = Stopwatch.GetTimestamp();
        while (!await condition())
        {
            Assert.True(Stopwatch.GetElapsedTime(started) < Deadline, $"not within {Deadline.TotalSeconds:0} s: {what}");
            await Task.Delay(20);
        }
    }
}
