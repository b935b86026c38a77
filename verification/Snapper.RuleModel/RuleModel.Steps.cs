namespace Snapper.RuleModel;

/// <summary>Which steps are enabled, and which one is taken.</summary>
internal sealed partial class RuleModel
{
    private readonly int[] _steps = new int[1024];
    private readonly long[] _taken = new long[Enum.GetValues<Kind>().Length];
    private int _stepCount;

    private enum Kind
    {
        Send,
        FormLocal,
        FormGlobal,
        GlobalArrives,
        SubBatchArrives,
        PactOperation,
        PactReturns,
        EndedArrives,
        CompletionArrives,
        QueueBatch,
        FlushStarts,
        FlushEnds,
        Acknowledge,
        Decide,
        DecisionArrives,
        ActScheduleEntry,
        ActOperation,
        ActQueue,
        ActPrepare,
        VoteArrives,
        ActCommit,
        ActDecisionArrives,
        AbortArrives,
        Answer,
        UndoArrives,
        InvalidateBranches,
        UndoDone,
        UndoDoneArrives,
        Crash,
        CrashMaster,
        OpenWorker,
        AskRoot,
        BoundAbort,
        LossReachesMaster,
        LossReachesWorker,
        MoveStarts,
        MoveEnds,
    }

    /// <summary>How often each kind of step that these rules have was taken since the model was made.</summary>
    public IReadOnlyList<KeyValuePair<string, long>> StepCounts() =>
        [.. _taken.Take((int)(_byDependency ? Kind.MoveEnds : Kind.BoundAbort) + 1)
            .Select(static (count, kind) => KeyValuePair.Create(((Kind)kind).ToString(), count))];

    private void Offer(Kind kind, int first, int second = 0) => _steps[_stepCount++] = ((int)kind << 16) | (first << 8) | second;

    private int Enumerate()
    {
        _stepCount = 0;
        OfferClients();
        OfferBatches();
        OfferPacts();
        OfferActs();
        OfferLogs();
        OfferUndo();
        OfferWorkers();
        OfferTaking();
        OfferMoves();
        if (_workers > 1 && (_stepCount == 0 || _random.OneIn(64)))
        {
            // H6: the bound of a wait is long against everything else, so it is rare unless nothing else is left.
            OfferBoundAborts();
        }

        // A crash is no way out of a standstill: it is offered only while something else could go on.
        if (_stepCount > 0)
        {
            OfferCrashes();
        }

        return _stepCount;
    }

    private bool IsSlow(int kind) => Has((int)(_slowKinds & 0x7FFFFFFF), kind);

    private int Draw(int count)
    {
        var step = _steps[_random.Next(count)];
        for (var tries = 0; tries < 3 && (IsSlow(step >> 16) || Waits(step)) && count > 1; tries++)
        {
            step = _steps[_random.Next(count)];
        }

        return step;
    }

    private void Perform(int step)
    {
        _taken[step >> 16]++;
        var first = (step >> 8) & 0xFF;
        var second = step & 0xFF;
        switch ((Kind)(step >> 16))
        {
            case Kind.Send: Send(first); break;
            case Kind.FormLocal: FormBatch(first, isGlobal: false); break;
            case Kind.FormGlobal: FormBatch(0, isGlobal: true); break;
            case Kind.GlobalArrives: GlobalArrives(first, second); break;
            case Kind.SubBatchArrives: SubBatchArrives(first, second); break;
            case Kind.PactOperation: PactOperation(first, second); break;
            case Kind.PactReturns: PactReturns(first); break;
            case Kind.EndedArrives: EndedArrives(first, second); break;
            case Kind.CompletionArrives: CompletionArrives(first, second); break;
            case Kind.QueueBatch: QueueBatch(first, second); break;
            case Kind.FlushStarts: FlushStarts(first); break;
            case Kind.FlushEnds: FlushEnds(first); break;
            case Kind.Acknowledge: Acknowledge(first, second); break;
            case Kind.Decide: Decide(first); break;
            case Kind.DecisionArrives: DecisionArrives(first, second); break;
            case Kind.ActScheduleEntry: ActScheduleEntry(first, second); break;
            case Kind.ActOperation: ActOperation(first, second); break;
            case Kind.ActQueue: ActQueue(first); break;
            case Kind.ActPrepare: ActPrepare(first, second); break;
            case Kind.VoteArrives: VoteArrives(first, second); break;
            case Kind.ActCommit: ActCommit(first); break;
            case Kind.ActDecisionArrives: ActDecisionArrives(first, second); break;
            case Kind.AbortArrives: AbortArrives(first, second); break;
            case Kind.Answer: Answer(first); break;
            case Kind.UndoArrives: UndoArrives(first); break;
            case Kind.InvalidateBranches: InvalidateBranches(first); break;
            case Kind.UndoDone: UndoDone(); break;
            case Kind.UndoDoneArrives: UndoDoneArrives(first); break;
            case Kind.Crash: Crash(first); break;
            case Kind.CrashMaster: CrashMaster(); break;
            case Kind.OpenWorker: OpenWorker(first); break;
            case Kind.AskRoot: AskRoot(first); break;
            case Kind.BoundAbort: BoundAbort(first); break;
            case Kind.LossReachesMaster: LossReachesMaster(); break;
            case Kind.LossReachesWorker: LossReachesWorker(first); break;
            case Kind.MoveStarts: MoveStarts(first, second); break;
            case Kind.MoveEnds: MoveEnds(first); break;
            default: throw new InvalidOperationException($"Unknown step {step}.");
        }
    }
}
