using System.Numerics;
using System.Runtime.CompilerServices;

namespace Snapper.RuleModel;

/// <summary>
/// The scheduling rules alone (docs/protocol.md L1-L5, H1-H7, W1, W3, A1-A9, R1-R2), written down a second time as plain
/// steps over small arrays. A run draws one enabled step after the other until nothing is left to do, then judges what was done.
/// </summary>
/// <remarks>
/// Sets of transactions, batches, actors and workers are bit masks; "attempt" is one numbered run of a request, so attempts
/// in ascending order are tids in ascending order. A written state is a node that points at the state it replaced: what a
/// final state contains can be read off it. Nothing here comes from the product's code, so a mistake there is not repeated here.
/// </remarks>
internal sealed partial class RuleModel
{
    private const int MaxAttempts = 64;
    private const int MaxBatches = 64;
    private const int MaxNodes = 512;
    private const int MaxRecords = 128;
    private const int MaxSteps = 3000;
    private const int A = ModelSize.MaxActors;
    private const int W = ModelSize.MaxWorkers;
    private const int C = ModelSize.MaxTransactions;
    private const int O = ModelSize.MaxOperations;
    private const int ScheduleCapacity = 128;
    private const int TouchCapacity = 256;

    private readonly ModelVariant _variant;
    private readonly bool _byDependency;
    private readonly List<string>? _trace;
    private Scenario _scenario = new();
    private ModelRandom _random;
    private int _actors;
    private int _workers;
    private int _step;
    private uint _slowKinds;
    private bool _freezeOnAnyUndo;
    private bool _placesBelowCeil;
    private bool _undoPossible;
    private bool _exhausted;
    private ModelVerdict _verdict;
    private string? _problem;

    /// <param name="rules">Commit by prefix, or by dependency.</param>
    /// <param name="variant">The rules as written, or one of them broken.</param>
    /// <param name="trace">Collects every step in words; null when nobody reads them.</param>
    public RuleModel(ModelRules rules, ModelVariant variant, List<string>? trace = null)
    {
        _byDependency = rules == ModelRules.Dependency;
        _variant = variant;
        _trace = trace;
    }

    /// <summary>Steps of the last run.</summary>
    public int Steps => _step;

    /// <summary>The last run met a limit of the model's tables and was given up.</summary>
    public bool WasGivenUp => _exhausted;

    /// <summary>Somebody reads the steps.</summary>
    public bool IsTraced => _trace is not null;

    /// <summary>What went wrong in the last run, in words.</summary>
    public string Problem => _problem ?? "";

    /// <summary>Runs one schedule of a scenario to its end and judges it.</summary>
    public ModelVerdict Run(Scenario scenario, ulong seed)
    {
        Reset(scenario, seed);
        while (_verdict == ModelVerdict.Held && !_exhausted)
        {
            var count = Enumerate();
            if (count == 0)
            {
                if (!AllAnswered())
                {
                    Fail(ModelVerdict.Stuck, "No step is left, but not everybody has an answer: " + DescribeWaits());
                }

                break;
            }

            if (++_step > MaxSteps)
            {
                Fail(ModelVerdict.Stuck, "The schedule does not end.");
                break;
            }

            Perform(Draw(count));
        }

        if (_verdict == ModelVerdict.Held && !_exhausted)
        {
            Judge();
        }

        return _verdict;
    }

    internal static string ClientName(int client) => "T" + (client + 1);

    internal static string ActorName(int actor) => ((char)('X' + actor)) is var name && name <= 'Z' ? name.ToString() : "V";

    private bool Is(ModelVariant variant) => _variant == variant;

    private void Fail(ModelVerdict verdict, string problem)
    {
        if (_verdict == ModelVerdict.Held)
        {
            _verdict = verdict;
            _problem = problem;
            Say(problem);
        }
    }

    private void Say(string words) => _trace?.Add(words);

    private void Say([InterpolatedStringHandlerArgument("")] ref TraceText words)
    {
        if (_trace is not null)
        {
            _trace.Add(words.ToStringAndClear());
        }
    }

    private static ulong Bit(int index) => 1UL << index;

    private static bool Has(ulong mask, int index) => ((mask >> index) & 1) != 0;

    private static bool Has(int mask, int index) => ((mask >> index) & 1) != 0;

    private static int Lowest(ulong mask) => BitOperations.TrailingZeroCount(mask);

    private void Reset(Scenario scenario, ulong seed)
    {
        _scenario = scenario;
        _random = new ModelRandom(seed);
        _actors = scenario.Actors;
        _workers = scenario.Workers;
        _step = 0;
        _verdict = ModelVerdict.Held;
        _problem = null;
        _exhausted = false;

        // Some kinds of steps are slow in a run: uniform draws alone would never keep one message on its way for long.
        _slowKinds = (uint)_random.Next() & (uint)_random.Next();
        _firstComeFirstServed = _random.OneIn(2);
        _firstLocksWait = scenario.FirstLocksWait;
        _placesBelowCeil = _random.OneIn(2);
        _freezeOnAnyUndo = _random.OneIn(2);
        _undoPossible = false;
        for (var client = 0; client < scenario.Count; client++)
        {
            _undoPossible |= Throws(client);
        }

        ResetClients();
        ResetBatches();
        ResetActors();
        ResetLogs();
        ResetUndo();
        ResetDependency();
        ResetTaking();
        ResetMoves();
    }

    private bool Throws(int client)
    {
        var script = _scenario.Scripts[client];
        return !script.IsAct && (script.ThrowsAt >= 0 || (script.Aborts && !script.MayAbort));
    }
}
