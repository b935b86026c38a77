using System.Diagnostics;
using System.Runtime;
using Snapper.AspNetCore.Hosting;

namespace Snapper.Server.Hosting;

/// <summary>What a warm-up came to.</summary>
/// <param name="Took">From its begin to its end.</param>
/// <param name="Committed">Transactions.</param>
/// <param name="Methods">That the runtime compiled meanwhile, better ones in place of first ones included.</param>
/// <param name="IsDone">False: the compiler was still at work when the time was up.</param>
internal readonly record struct WarmUpResult(TimeSpan Took, int Committed, long Methods, bool IsDone);

/// <summary>
/// Has the code of a worker compiled before anybody waits for it. A process that has just begun compiles each method at its first call, and the busy ones again a moment later: some seconds of a core, which
/// callers of the actors that move to a joining worker would wait for. It runs transactions of its own on a worker that is alone, with a log in a folder that is deleted at the end.
/// </summary>
internal static class WarmUp
{
    /// <summary>After that it is over, whatever is left to compile.</summary>
    public static readonly TimeSpan AtMost = TimeSpan.FromSeconds(10);

    // Once no method has been new for 100 ms, the runtime counts calls, and compiles what was called thirty times again: first to learn from it, then for good. So transactions come in bursts, with
    // rests that let it do so, rather than as many as there is time for: on a machine where others serve, the cores are theirs.
    private const int Burst = 200;
    private static readonly TimeSpan s_rest = TimeSpan.FromMilliseconds(150);

    // Fewer in a round is what a worker that has served for long compiles, too.
    private const int FewMethods = 12;

    // So many such rounds in a row: between two of its steps the compiler waits, too.
    private const int QuietRounds = 3;

    /// <summary>Returns when next to nothing is compiled any more, the time is up, or somebody waits. One that fails is said and no more: the worker is as good without it, only slower at first.</summary>
    /// <param name="worker">Who warms up, for the log.</param>
    /// <param name="mayGoOn">Asked before each burst; false: somebody waits for the worker, and it ends.</param>
    /// <param name="logger">Hears what came of it.</param>
    /// <param name="cancellation">Ends it at once.</param>
    public static async Task Run(string worker, Func<Task<bool>> mayGoOn, ILogger logger, CancellationToken cancellation)
    {
        try
        {
            var warm = await Run(AtMost, mayGoOn, cancellation);
            ServerLog.WarmedUp(logger, worker, (long)warm.Took.TotalMilliseconds, warm.Committed, warm.Methods, warm.IsDone ? "next to nothing is left" : "some are left");
        }
        catch (Exception problem) when (!cancellation.IsCancellationRequested)
        {
            ServerLog.NotWarmedUp(logger, worker, problem);
        }
    }

    /// <summary>The same, for whoever wants to know.</summary>
    public static async Task<WarmUpResult> Run(TimeSpan atMost, Func<Task<bool>> mayGoOn, CancellationToken cancellation)
    {
        var began = Stopwatch.GetTimestamp();
        var methods = JitInfo.GetCompiledMethodCount();
        var committed = 0;
        var quiet = 0;
        await using var worker = await WarmUpWorker.Start(cancellation);
        do
        {
            cancellation.ThrowIfCancellationRequested();
            var before = JitInfo.GetCompiledMethodCount();
            committed += await worker.Work(Burst, cancellation);
            await Task.Delay(s_rest, cancellation);
            quiet = JitInfo.GetCompiledMethodCount() - before < FewMethods ? quiet + 1 : 0;
        }
        while (quiet < QuietRounds && Stopwatch.GetElapsedTime(began) < atMost && await mayGoOn());

        return new WarmUpResult(Stopwatch.GetElapsedTime(began), committed, JitInfo.GetCompiledMethodCount() - methods, quiet == QuietRounds);
    }
}
