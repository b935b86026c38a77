using System.Globalization;
using Snapper.Live.Rounds;

namespace Snapper.Live.Exhaust;

/// <summary>
/// One caller exhausts what it can, with nothing but the right to run transactions, while others work: what the others
/// see is the bar.
/// </summary>
/// <param name="options">Its minutes are divided among the attacks.</param>
/// <param name="say">Writes a line.</param>
internal sealed class ExhaustRun(LiveOptions options, Action<string> say)
{
    /// <summary>Of what the others do alone, they do this part at least.</summary>
    public const double LeastRatio = 0.5;

    /// <summary>The worker's process has this part of its heap's limit at most.</summary>
    public const double MostMemory = 0.85;

    private static readonly TimeSpan s_alone = TimeSpan.FromSeconds(5);
    private static readonly TimeSpan s_settles = TimeSpan.FromSeconds(3);
    private static readonly TimeSpan s_usually = TimeSpan.FromSeconds(20);

    /// <returns>False: a bar was missed.</returns>
    public async Task<bool> Run(CancellationToken interrupted)
    {
        await using var system = await ExhaustSystem.Start(interrupted);
        using var attacks = new Attacks(system);
        await attacks.Prepare(interrupted);
        await using var others = new Others(system);
        await Task.Delay(s_alone, interrupted); // the code is compiled, the accounts are in memory
        say("| one caller | its per s | others, alone to during, per s | ratio | p99, ms | 5xx, broken | MiB |");
        say("|---|---|---|---|---|---|---|");
        var each = options.Time < TimeSpan.FromHours(24) ? options.Time / options.Attacks.Count : s_usually;
        var holds = true;
        var before = await others.Watch(Task.Delay(s_alone, interrupted));
        foreach (var (_, what, run) in options.Attacks)
        {
            using var end = CancellationTokenSource.CreateLinkedTokenSource(interrupted);
            var attack = run(attacks, end.Token);
            var (most, answered) = (0L, attacks.Answered);
            var during = await others.Watch(Measure());
            var itsPerSecond = (attacks.Answered - answered) / each.TotalSeconds;
            await end.CancelAsync();
            await attack;
            interrupted.ThrowIfCancellationRequested();

            // Others on the machine come and go: alone is what they do before and behind it.
            await Task.Delay(s_settles, interrupted);
            var after = await others.Watch(Task.Delay(s_alone, interrupted));
            var alone = (before.PerSecond + after.PerSecond) / 2;
            var ratio = during.PerSecond / alone;
            holds &= ratio >= LeastRatio && during.Failed == 0 && most > 0 && most < MostMemory * ExhaustSystem.Heap;
            say(Text($"| {what} | {itsPerSecond:0} | {alone:0} to {during.PerSecond:0} | {ratio:0.00} ")
                + Text($"| {before.P99:0} to {during.P99:0} | {during.Failed} | {most >> 20} |"));
            before = after;

            async Task Measure()
            {
                for (var left = each; left > TimeSpan.Zero; left -= TimeSpan.FromSeconds(0.25))
                {
                    await Task.Delay(TimeSpan.FromSeconds(0.25), interrupted);
                    most = Math.Max(most, system.ResidentBytes());
                }
            }
        }

        var mostMemory = (long)(MostMemory * ExhaustSystem.Heap) >> 20;
        say(Text($"Bars: a ratio of {LeastRatio}, no 5xx, memory below {mostMemory} MiB: ")
            + (holds ? "they hold." : "not all hold."));
        return holds;
    }

    private static string Text(FormattableString text) => text.ToString(CultureInfo.InvariantCulture);
}
