using System.Diagnostics;
using System.Globalization;
using Snapper.Client.Messages;

namespace Snapper.Cli.Demo;

/// <summary>The demo's own work: count the money, move it about in several ways, count again.</summary>
internal sealed class DemoRun(DemoSettings settings, Bank bank, TextWriter output)
{
    private static readonly TimeSpan ProgressEvery = TimeSpan.FromSeconds(1);
    private const int Counts = 4;

    private readonly string _run = Guid.NewGuid().ToString("n")[..12];
    private long _submitted;
    private decimal _money;

    /// <summary>Runs all phases.</summary>
    /// <returns>Whether something was committed in each phase and the sum of all accounts is what it was.</returns>
    /// <exception cref="DemoFailedException">An answer outside the contract, or an outcome that stays unknown.</exception>
    public async Task<bool> Run(CancellationToken cancellation)
    {
        var audit = new MoneyAudit(settings, bank);
        var before = _money = await audit.Total(cancellation);
        Line($"{settings.Accounts:N0} accounts hold {before:N2} together; {settings.Concurrency} requests under way at once");
        var atFirst = settings.Accounts * DemoSettings.FirstBalance;
        if (before != atFirst) Line($"warning: at first they held {atFirst:N2}; something else has moved money since, or it was lost before this demo began, which counts from here");
        Line($"  {"phase",-22} {"committed/s",11} {"p50 ms",8} {"p99 ms",8}  aborts");
        var committed = 0L;
        var timeouts = 0L;
        var idle = new List<string>();
        foreach (var phase in DemoPhase.All)
        {
            var tally = await RunPhase(phase, cancellation);
            committed += tally.Committed;
            timeouts += tally.Aborts.GetValueOrDefault("timeout");
            if (tally.Committed == 0) idle.Add(phase.Name);
        }

        if (timeouts > 0) Line($"warning: {timeouts:N0} transactions ran into their timeout; on a machine that is not overloaded none should");
        var after = await audit.Total(cancellation);
        if (committed == 0)
        {
            Line($"FAILED: nothing was committed");
            return false;
        }

        if (idle.Count > 0)
        {
            Line($"FAILED: nothing was committed in: {string.Join("; ", idle)}");
            return false;
        }

        if (before != after)
        {
            Line($"FAILED: {before} before, {after} after: {(after > before ? "money appeared" : "money vanished")}");
            return false;
        }

        Line($"checked: {committed:N0} transactions committed, and all accounts still hold {after:N2} together: no money appeared or vanished");
        return true;
    }

    /// <summary>Goes on behind <see cref="Run"/>: transfers, and every few seconds a count of the money, for which they wait.</summary>
    /// <param name="length">How long.</param>
    /// <param name="cancellation">Ends it at once, without a last count.</param>
    /// <returns>Whether the sum was right each time.</returns>
    /// <exception cref="DemoFailedException">An answer outside the contract, or an outcome that stays unknown.</exception>
    public async Task<bool> GoOn(TimeSpan length, CancellationToken cancellation)
    {
        var audit = new MoneyAudit(settings, bank);
        var started = Stopwatch.GetTimestamp();
        var (counts, committed) = (0, 0L);
        var unread = "";
        try
        {
            while (Stopwatch.GetElapsedTime(started) < length)
            {
                var tally = await RunPhase(DemoPhase.GoesOn, cancellation);
                committed += tally.Committed;
                decimal found;
                try
                {
                    found = await Count(audit, cancellation);
                }
                catch (BalanceUnreadableException problem)
                {
                    // A user who stops parts of it wants to see how it comes back.
                    unread = problem.Message;
                    Line($"  {"",-22} not counted: {unread}; transfers go on, and it is counted again");
                    continue;
                }

                (counts, unread) = (counts + 1, "");
                if (found != _money)
                {
                    Line($"FAILED: {_money} before, {found} now: {(found > _money ? "money appeared" : "money vanished")}");
                    return false;
                }

                Line($"  {"",-22} all accounts hold {found:N2} together: right, {counts} times out of {counts}");
            }
        }
        catch (OperationCanceledException) when (cancellation.IsCancellationRequested)
        {
            // Told to stop: what was counted until now counts.
        }

        if (unread.Length > 0)
        {
            Line($"FAILED: at the end the money could not be counted: {unread}");
            return false;
        }

        Line($"checked: {committed:N0} more transactions committed, and the money was right each of the {counts} times it was counted");
        return true;
    }

    /// <summary>
    /// A request whose answer was lost may be on its way still, in the buffers of a worker that is paused, and run while the money is counted, though the same request with
    /// the same id was told to have been aborted: what is missing then is there when all is counted once more, and what has vanished is not.
    /// </summary>
    private async Task<decimal> Count(MoneyAudit audit, CancellationToken cancellation)
    {
        var found = await audit.Total(cancellation);
        for (var again = 1; again < Counts && found != _money; again++)
        {
            Line($"  {"",-22} all accounts hold {found:N2} together, not {_money:N2}; something may still be under way: counted again");
            await Task.Delay(TimeSpan.FromSeconds(again), cancellation);
            found = await audit.Total(cancellation);
        }

        return found;
    }

    private async Task<PhaseTally> RunPhase(DemoPhase phase, CancellationToken cancellation)
    {
        var length = phase.Length ?? settings.PhaseLength;
        var started = Stopwatch.GetTimestamp();
        var progress = new Progress();
        var loops = Enumerable.Range(0, settings.Concurrency * phase.TransactionsPerRequest).Select(i => Task.Run(() => Loop(phase, i, started, length, progress, cancellation), cancellation)).ToArray();
        var all = Task.WhenAll(loops);
        while (!all.IsCompleted)
        {
            await Task.WhenAny(all, Task.Delay(ProgressEvery, cancellation));
            cancellation.ThrowIfCancellationRequested();
            if (!all.IsCompleted && phase.Length is null) Line($"  {phase.Name,-22} {progress.Committed,11:N0} committed after {Stopwatch.GetElapsedTime(started).TotalSeconds:0} s");
        }

        var tally = new PhaseTally();
        foreach (var loop in await all) tally.Merge(loop);
        var seconds = Stopwatch.GetElapsedTime(started).TotalSeconds;
        Line($"  {phase.Name,-22} {tally.Committed / seconds,11:N0} {tally.Percentile(0.5),8:0.0} {tally.Percentile(0.99),8:0.0}  {tally.AbortsText()}");
        return tally;
    }

    private async Task<PhaseTally> Loop(DemoPhase phase, int loop, long started, TimeSpan length, Progress progress, CancellationToken cancellation)
    {
        var tally = new PhaseTally();
        var mix = new TransferMix(settings.Accounts, HashCode.Combine(phase.Name, loop, _run));
        while (Stopwatch.GetElapsedTime(started) < length)
        {
            var id = string.Create(CultureInfo.InvariantCulture, $"demo-{_run}-{Interlocked.Increment(ref _submitted)}");
            var sent = Stopwatch.GetTimestamp();
            var reply = await bank.Submit(mix.Next(phase.PactShare, id), phase.TransactionsPerRequest, cancellation);
            tally.LatenciesMs.Add(Stopwatch.GetElapsedTime(sent).TotalMilliseconds);
            tally.Add(reply);
            if (reply.Outcome == TransactionOutcome.Committed) progress.Add(1);

            // Asking again without a pause would only burn CPU.
            else if (reply.Rejection is not null) await Task.Delay(50, cancellation);
        }

        return tally;
    }

    private void Line(FormattableString text)
    {
        output.WriteLine(text.ToString(CultureInfo.InvariantCulture));
        output.Flush();
    }

    private sealed class Progress
    {
        private long _committed;

        public long Committed => Interlocked.Read(ref _committed);

        public void Add(long count) => Interlocked.Add(ref _committed, count);
    }
}
