using System.Diagnostics;

namespace Snapper.Fuzzing.Engine;

/// <summary>How long, from which seed, beginning with what.</summary>
/// <param name="Seed">Decides every input, as long as the same outcomes come out.</param>
/// <param name="Runs">Most inputs, the corpus not counted.</param>
/// <param name="Time">Longest time, the corpus not counted.</param>
internal sealed record FuzzOptions(int Seed, long Runs, TimeSpan Time)
{
    /// <summary>After so long an input counts as one that hangs.</summary>
    public TimeSpan HangsAfter { get; init; } = TimeSpan.FromSeconds(30);

    /// <summary>Ends the run early; the report then counts what was run.</summary>
    public CancellationToken Cancellation { get; init; }

    /// <summary>Stops after so many different failures.</summary>
    public int FailuresMax { get; init; } = 5;
}

/// <summary>An input that broke the oracle, shrunk.</summary>
internal sealed record FuzzFinding(byte[] Input, string What, string Signature);

/// <summary>What a run did.</summary>
internal sealed record FuzzReport(string Target, long Inputs, int CorpusInputs, int Outcomes, TimeSpan Elapsed, TimeSpan Processor, IReadOnlyList<FuzzFinding> Findings)
{
    /// <summary>Inputs that reached an outcome which the corpus had not.</summary>
    public IReadOnlyList<byte[]> New { get; init; } = [];
}

/// <summary>
/// The loop: corpus first, then new inputs and mutations of those that reached something new, guided by nothing but the words of what came out.
/// </summary>
internal static class FuzzRun
{
    private const int PoolMax = 4_000;

    /// <summary>Runs on a thread of its own, so that an input that hangs is reported; its thread is then left behind.</summary>
    public static FuzzReport Execute(FuzzTarget target, IReadOnlyList<byte[]> corpus, FuzzOptions options)
    {
        var loop = new Loop(target, corpus, options);
        var thread = new Thread(loop.Run) { IsBackground = true, Name = "fuzz " + target.Name };
        thread.Start();
        var hangsAfter = options.HangsAfter + target.OwnBounds;
        while (!thread.Join(TimeSpan.FromMilliseconds(200)))
        {
            if (loop.HungInput(hangsAfter) is { } hung)
            {
                var words = $"It had not ended after {hangsAfter.TotalSeconds:0} s.";
                return loop.Report([.. loop.Findings, new FuzzFinding(hung, words, "hangs")]);
            }
        }

        return loop.Crash is { } crash ? throw new InvalidOperationException("The fuzzing loop itself failed.", crash) : loop.Report(loop.Findings);
    }

    /// <summary>Runs one input.</summary>
    /// <returns>The outcome, or the failure.</returns>
    public static (string? Outcome, Exception? Failure) One(FuzzTarget target, byte[] input)
    {
        try
        {
            return (target.Run(input), null);
        }
        catch (Exception failure)
        {
            return (null, failure);
        }
    }

    private sealed class Loop(FuzzTarget target, IReadOnlyList<byte[]> corpus, FuzzOptions options)
    {
        private readonly Random _random = new(options.Seed);
        private readonly List<byte[]> _pool = [];
        private readonly HashSet<string> _seen = [];
        private readonly HashSet<string> _failed = [];
        private readonly List<byte[]> _new = [];
        private readonly Stopwatch _watch = Stopwatch.StartNew();
        private readonly TimeSpan _processor = Process.GetCurrentProcess().TotalProcessorTime;
        private long _inputs;
        private volatile byte[]? _current;
        private long _since;

        public List<FuzzFinding> Findings { get; } = [];

        public Exception? Crash { get; private set; }

        public byte[]? HungInput(TimeSpan after) => _current is { } input && Stopwatch.GetElapsedTime(Volatile.Read(ref _since)) > after ? input : null;

        public void Run()
        {
            try
            {
                foreach (var input in corpus)
                {
                    if (options.Cancellation.IsCancellationRequested)
                    {
                        break;
                    }

                    Try(input);
                }

                _new.Clear();
                _inputs = 0;
                _watch.Restart();
                while (_inputs < options.Runs && _watch.Elapsed < options.Time && Findings.Count < options.FailuresMax && !options.Cancellation.IsCancellationRequested)
                {
                    Try(_pool.Count == 0 || _random.Next(4) == 0
                        ? target.Generate(_random)
                        : target.Mutate(_pool[_random.Next(_pool.Count)], _pool[_random.Next(_pool.Count)], _random));
                }
            }
            catch (Exception crash)
            {
                Crash = crash;
            }
        }

        public FuzzReport Report(IReadOnlyList<FuzzFinding> findings) =>
            new(target.Name, _inputs, corpus.Count, _seen.Count, _watch.Elapsed, Process.GetCurrentProcess().TotalProcessorTime - _processor, findings) { New = [.. _new] };

        private void Try(byte[] input)
        {
            _inputs++;
            var (outcome, failure) = Watched(input);
            if (failure is not null)
            {
                var signature = Signature.Of(failure);
                if (_failed.Add(signature))
                {
                    var small = Minimizer.Shrink(input, target.IsText, candidate => Watched(candidate).Failure is { } again && Signature.Of(again) == signature);
                    var last = Watched(small).Failure ?? failure;
                    Findings.Add(new FuzzFinding(small, last is FuzzFailureException ? last.Message : last.ToString(), signature));
                }
            }
            else if (_seen.Add(Signature.Of(outcome!)))
            {
                if (_pool.Count < PoolMax)
                {
                    _pool.Add(input);
                }

                _new.Add(input);
            }
        }

        private (string? Outcome, Exception? Failure) Watched(byte[] input)
        {
            Volatile.Write(ref _since, Stopwatch.GetTimestamp());
            _current = input;
            var result = One(target, input);
            _current = null;
            return result;
        }
    }
}
