using System.Globalization;
using Snapper.Load.Running;
using Snapper.Scenarios.Changes;

namespace Snapper.Load.Reporting;

/// <summary>A line a second on how a run goes, until it is told to end.</summary>
internal sealed class Progress(TextWriter output, Recorder recorder, OpenLoop loop, RunLog log, TimeSpan length)
{
    private static readonly TimeSpan s_every = TimeSpan.FromSeconds(1);

    public async Task Run(CancellationToken stop)
    {
        var (arrivals, committed, at) = (0L, 0L, 0.0);
        while (!stop.IsCancellationRequested)
        {
            await Task.Delay(s_every, stop).ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
            var now = log.Now;
            if (now < 0)
            {
                Write($"  warm-up, {-now:0} s left");
                continue;
            }

            if (now <= at)
            {
                continue;
            }

            var (arrivalsNow, committedNow) = (recorder.Arrivals, recorder.Committed);
            var ended = now > length.TotalSeconds ? ", waiting for the last ones" : "";
            Write(
                $"  {now,5:0.0} s  {(arrivalsNow - arrivals) / (now - at),7:0}/s offered {(committedNow - committed) / (now - at),7:0}/s committed  p50 {Measured.Ms(recorder.Latency, 50),6:0.0} p99 {Measured.Ms(recorder.Latency, 99),7:0.0} ms  {loop.UnderWay,4} under way, {recorder.ApplicationAborts + recorder.SystemAborts} aborted, {recorder.Errors} errors{ended}");
            (arrivals, committed, at) = (arrivalsNow, committedNow, now);
        }
    }

    private void Write(FormattableString text)
    {
        output.WriteLine(text.ToString(CultureInfo.InvariantCulture));
        output.Flush();
    }
}
