namespace Snapper.RuleModel;

/// <summary>Requests, their attempts and their answers.</summary>
internal sealed partial class RuleModel
{
    private const int ActTries = 4;

    private readonly ClientState[] _clientState = new ClientState[C];
    private readonly int[] _sentAt = new int[C];
    private readonly int[] _answeredAt = new int[C];
    private readonly int[] _age = new int[C];
    private readonly int[] _tries = new int[C];
    private readonly bool[] _marked = new bool[C];
    private readonly int[] _attempt = new int[C];
    private readonly bool[] _gaveUp = new bool[C];
    private readonly int[] _client = new int[MaxAttempts];
    private readonly bool[] _isAct = new bool[MaxAttempts];
    private readonly int[] _done = new int[MaxAttempts];
    private readonly int[] _touched = new int[MaxAttempts];
    private readonly int[] _wrote = new int[MaxAttempts];
    private readonly bool[] _aborted = new bool[MaxAttempts];
    private readonly bool[] _finished = new bool[MaxAttempts];
    private readonly int[] _seen = new int[MaxAttempts * O];
    private readonly int[] _lastNode = new int[MaxAttempts * A];
    private int _attempts;
    private int _nextAge;

    private enum ClientState
    {
        Unsent,
        Waiting,
        Running,
        Answered,
    }

    private void ResetClients()
    {
        _attempts = 0;
        _nextAge = 0;
        for (var client = 0; client < _scenario.Count; client++)
        {
            _clientState[client] = ClientState.Unsent;
            _answeredAt[client] = int.MaxValue;
            _tries[client] = 0;
            _marked[client] = _scenario.Scripts[client].MayAbort;
            _attempt[client] = -1;
            _gaveUp[client] = false;
        }

        _livePacts = 0;
        _liveActs = 0;
        _allActs = 0;
    }

    private Script ScriptOf(int attempt) => _scenario.Scripts[_client[attempt]];

    private string Name(int attempt)
    {
        var client = _client[attempt];
        return _tries[client] > 1 ? $"{ClientName(client)} (attempt {attempt})" : ClientName(client);
    }

    private void OfferClients()
    {
        var local = 0;
        var isGlobal = false;
        for (var client = 0; client < _scenario.Count; client++)
        {
            switch (_clientState[client])
            {
                case ClientState.Unsent:
                    Offer(Kind.Send, client);
                    break;
                case ClientState.Waiting when TouchesFrozen(_scenario.Scripts[client]):
                    break;
                case ClientState.Waiting when _scenario.Scripts[client].IsAct:
                    Offer(Kind.Send, client);
                    break;
                case ClientState.Waiting:
                    var workers = WorkersOf(_scenario.Scripts[client].Declared);
                    isGlobal |= (workers & (workers - 1)) != 0;
                    local |= (workers & (workers - 1)) == 0 ? workers : 0;
                    break;
                case ClientState.Running when IsAnswerable(client):
                    Offer(Kind.Answer, client);
                    break;
                default:
                    break;
            }
        }

        if (isGlobal && !IsMasterUndoing)
        {
            Offer(Kind.FormGlobal, 0);
        }

        for (var worker = 0; worker < _workers; worker++)
        {
            if (Has(local, worker) && !_closed[worker])
            {
                Offer(Kind.FormLocal, worker);
            }
        }
    }

    private int WorkersOf(int actors)
    {
        var workers = 0;
        for (var actor = 0; actor < _actors; actor++)
        {
            workers |= Has(actors, actor) ? 1 << _owner[actor] : 0;
        }

        return workers;
    }

    /// <summary>The client sends its request, or the relay repeats an ACT with the same age (W2).</summary>
    private void Send(int client)
    {
        if (_clientState[client] == ClientState.Unsent)
        {
            _sentAt[client] = _step;
            _age[client] = _nextAge++;
            Say($"{ClientName(client)} is sent.");
        }

        _clientState[client] = ClientState.Waiting;
        if (!_scenario.Scripts[client].IsAct || TouchesFrozen(_scenario.Scripts[client]))
        {
            return;
        }

        var previous = _attempt[client];
        var attempt = NewAttempt(client, isAct: true);
        if (attempt >= 0)
        {
            _previous[attempt] = previous;
            _liveActs |= Bit(attempt);
            _allActs |= Bit(attempt);
            if (_tries[client] > 1)
            {
                Say($"The relay sends {ClientName(client)} again as attempt {attempt}, with the same age.");
            }
        }
    }

    private int NewAttempt(int client, bool isAct)
    {
        if (_attempts == MaxAttempts)
        {
            _exhausted = true;
            return -1;
        }

        var attempt = _attempts++;
        _client[attempt] = client;
        _isAct[attempt] = isAct;
        _done[attempt] = 0;
        _touched[attempt] = 0;
        _wrote[attempt] = 0;
        _aborted[attempt] = false;
        _finished[attempt] = false;
        _visited[attempt] = 0;
        _endPending[attempt] = 0;
        _dead[attempt] = false;
        _saidToWaitFor[attempt] = 0;
        _committed[attempt] = false;
        _prepared[attempt] = 0;
        _votes[attempt] = 0;
        _decisionPending[attempt] = 0;
        _previous[attempt] = -1;
        _batchOf[attempt] = -1;
        _over[attempt] = 0;
        _endedPending[attempt] = 0;
        _failed[attempt] = false;
        _removed[attempt] = false;
        Array.Fill(_seen, -1, attempt * O, O);
        Array.Clear(_operationState, attempt * O, O);
        Array.Fill(_actRecord, -1, attempt * W, W);
        Array.Clear(_visitedAt, attempt * W, W);
        _rootOf[attempt] = _owner[_scenario.Scripts[client].ActorOf(0)];
        _attempt[client] = attempt;
        _clientState[client] = ClientState.Running;
        _tries[client]++;
        return attempt;
    }

    /// <summary>An attempt is over without an outcome. A PACT goes on until it has one (A4); an ACT's relay gives up after some tries.</summary>
    private void RunAgain(int attempt)
    {
        var client = _client[attempt];
        if (_attempt[client] != attempt)
        {
            return;
        }

        if (_clientState[client] == ClientState.Answered)
        {
            if (!_gaveUp[client] && !_aborted[attempt])
            {
                Fail(ModelVerdict.LostEffect, $"{Name(attempt)} was answered, and is taken back after all.");
            }

            return;
        }

        if (_isAct[attempt] && _tries[client] >= ActTries)
        {
            _gaveUp[client] = true;
            _clientState[client] = ClientState.Answered;
            Say($"The relay of {ClientName(client)} gives up; the client sees the conflict.");
            return;
        }

        _clientState[client] = ClientState.Waiting;
    }

    /// <summary>L5: an answer leaves after the flush of the record that carries its outcome.</summary>
    private bool IsAnswerable(int client)
    {
        var attempt = _attempt[client];
        if (_isAct[attempt])
        {
            var root = RootWorker(attempt);
            var record = _actRecord[attempt * W + root];
            var early = Is(ModelVariant.AnswerBeforeFlush) || (Is(ModelVariant.ReadOnlyAnswerBeforeFlush) && _wrote[attempt] == 0);
            return _committed[attempt] && (early || IsDurable(root, record));
        }

        if (Is(ModelVariant.AbortOfUnmarkedRunAnswered) && _failed[attempt] && ScriptOf(attempt).Aborts)
        {
            return true;
        }

        var batch = _batchOf[attempt];
        if (_isGlobal[batch])
        {
            return _decided[batch] && (Is(ModelVariant.AnswerBeforeFlush) || IsDurable(Master, _decisionRecord[batch]));
        }

        var worker = Lowest((ulong)_batchWorkers[batch]);
        return Has(_finalAt[batch], worker) && Has(_members[batch], attempt)
            && (Is(ModelVariant.AnswerBeforeFlush) || IsDurable(worker, _batchRecord[batch * W + worker]));
    }

    private void Answer(int client)
    {
        _clientState[client] = ClientState.Answered;
        _answeredAt[client] = _step;
        var attempt = _attempt[client];
        if (_failed[attempt])
        {
            _aborted[attempt] = true;
        }

        Say($"{ClientName(client)} is answered: {(_aborted[attempt] ? "aborted by its own code" : "committed")}.");
    }

    private bool AllAnswered()
    {
        for (var client = 0; client < _scenario.Count; client++)
        {
            if (_clientState[client] != ClientState.Answered)
            {
                return false;
            }
        }

        return true;
    }
}
