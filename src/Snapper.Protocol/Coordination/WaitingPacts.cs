namespace Snapper.Protocol.Coordination;

/// <summary>
/// PACTs that wait for a number: those of one caller in the order of their coming, and the callers in turn. All that
/// wait are at the same time under way, so that any order of them is one (strict serializability).
/// </summary>
/// <remarks>
/// While several callers have PACTs, each has an allowance of weight per round, and a batch has rounds for as long as
/// two of them have PACTs: one has as much as another and an allowance, however many it sends. One that took more,
/// since a single PACT may weigh more, waits until its allowances have made up for it. No clock is needed: a round is
/// the unit of time.
/// </remarks>
/// <typeparam name="T">A PACT.</typeparam>
/// <param name="callerOf">Whose it is; null: of an unknown one.</param>
/// <param name="weigh">What it weighs, from 1; 0: it is not wanted any more, and is passed over.</param>
internal sealed class WaitingPacts<T>(Func<T, string?> callerOf, Func<T, int> weigh)
{
    /// <summary>Of the weight of a batch this part is the allowance of one of several callers.</summary>
    private const int Allowances = 64;

    /// <summary>So many batches behind the last PACT of another caller one is taken for alone.</summary>
    private const int BatchesApart = 16;

    private readonly CallerLanes<T> _lanes = new();
    private string? _lastCaller;
    private int _contested; // for so many more batches
    private long _allowed; // to one caller, since the first batch
    private long _weight; // of the batch

    /// <summary>PACTs that wait.</summary>
    public int Count => _lanes.Count;

    /// <summary>Callers of whom something is kept.</summary>
    public int Callers => _lanes.Named;

    /// <summary>Adds a PACT behind those of its caller.</summary>
    public void Add(T pact) => _lanes.Add(callerOf(pact), pact);

    /// <summary>Takes out those that go.</summary>
    public void RemoveWhere(Func<T, bool> goes) => _lanes.RemoveWhere(goes);

    /// <summary>Takes the members of a batch.</summary>
    /// <param name="most">So many at most.</param>
    /// <param name="mostWeight">With so much weight at most, if it is more than one.</param>
    /// <param name="mayOwe">
    /// Where all who wait have used up their allowances, one is taken all the same; else none.
    /// </param>
    /// <param name="taken">Gets them; empty before.</param>
    public void Take(int most, int mostWeight, bool mayOwe, List<T> taken)
    {
        _weight = 0;
        var before = (_contested, _allowed);
        _contested = _lanes.Waiting > 1 ? BatchesApart : Math.Max(0, _contested - 1);
        var allowance = Math.Max(1, mostWeight / Allowances);
        if (_contested == 0)
        {
            _allowed += allowance;
            TakeInTurn(most, mostWeight, long.MaxValue, taken);
            return;
        }

        bool mayTake;
        do
        {
            var count = taken.Count;
            _allowed += allowance;
            mayTake = TakeInTurn(most, mostWeight, _allowed + allowance, taken) && taken.Count > count;
        }
        while (mayTake && _lanes.Waiting > 1);

        if (taken.Count == 0 && mayOwe)
        {
            TakeInTurn(1, mostWeight, long.MaxValue, taken);
        }

        if (taken.Count == 0)
        {
            // It is no batch: else who owes would pay by each message that makes a coordinator look.
            (_contested, _allowed) = before;
        }
    }

    /// <summary>Each caller that waits gives what it may give.</summary>
    /// <returns>False: the batch is full.</returns>
    private bool TakeInTurn(int most, int mostWeight, long until, List<T> taken)
    {
        var isFull = false;
        for (var lanes = _lanes.Waiting; lanes > 0 && taken.Count < most && !isFull; lanes--)
        {
            var lane = _lanes.Current;
            var before = taken.Count;
            lane.PausesUntil = _contested > 0 ? Math.Max(lane.PausesUntil, _allowed) : 0;
            isFull = !TakeFrom(lane, most, mostWeight, until, taken);
            if (taken.Count > before && !string.Equals(lane.Caller, _lastCaller, StringComparison.Ordinal))
            {
                (_lastCaller, _contested) = (lane.Caller, BatchesApart);
            }

            // One of which nothing was taken, since it did not fit in, is the first one of the next batch.
            if (!isFull || taken.Count > before)
            {
                _lanes.Next(_contested > 0, _allowed);
            }
        }

        return !isFull && taken.Count < most;
    }

    /// <summary>Takes what a caller may give.</summary>
    /// <returns>False: its next one does not fit into the batch.</returns>
    private bool TakeFrom(CallerLanes<T>.Lane lane, int most, int mostWeight, long until, List<T> taken)
    {
        while (taken.Count < most && lane.PausesUntil < until && lane.Items.TryPeek(out var pact))
        {
            var weight = weigh(pact);
            if (weight > 0)
            {
                if (taken.Count > 0 && _weight + weight > mostWeight)
                {
                    return false;
                }

                _weight += weight;
                if (_contested > 0)
                {
                    // Those who owe are taken where no other waits, and would else be passed over for as long as that
                    // went on: before its last one a caller owes a batch at most.
                    lane.PausesUntil = Math.Min(lane.PausesUntil, _allowed + mostWeight) + weight;
                }

                taken.Add(pact);
            }

            _lanes.Dequeue();
        }

        return true;
    }
}
