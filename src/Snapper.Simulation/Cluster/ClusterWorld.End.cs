using Snapper.Runtime.Door;
using Snapper.Simulation.Workers;
using Snapper.Testing.Histories;

namespace Snapper.Simulation.Cluster;

/// <summary>What is looked at when nothing goes wrong any more: first through every worker that lives, then, perhaps, through those that come after them.</summary>
internal sealed partial class ClusterWorld
{
    // Leases, the bounds of migrations and of requests are all far below.
    private static readonly long s_soon = TimeSpan.FromSeconds(30).Ticks;

    private const int IdsAskedAgain = 5;
    private const int MostIdsInDoubt = 10;

    private int _looksLeft;

    private string Standing =>
        $"the directory is at {Shared.Version}, of {string.Join(' ', Shared.Shares.Where(static share => share.Value > 0).Select(static share => $"w{share.Key}: {share.Value}"))}, {Shared.OpenPlans.Count} plans are open, the master is {Shared.MasterStanding()}:"
        + string.Concat(_processes.Select(static process => "\n  " + process.Standing));

    /// <summary>Everybody who shall live does, owns what the directory says, and has nothing under way; nobody else owns anything.</summary>
    private bool IsAtRest
    {
        get
        {
            if (_processes.Count == 0 || Shared.OpenPlans.Count > 0)
            {
                return false;
            }

            foreach (var process in _processes)
            {
                if (!process.IsAtRest || CurrentOf(process.Number) != process || process.Host!.Worker.Cluster!.Directory.Version != Shared.Version)
                {
                    return false;
                }
            }

            for (var number = 0; number < _seats.Length; number++)
            {
                if (_seats[number] is { } seat && seat.Current is null && (!seat.IsAway || Shared.Shares.GetValueOrDefault(number) > 0))
                {
                    return false;
                }
            }

            return true;
        }
    }

    /// <summary>The workers come to rest, and every one of them answers for every actor.</summary>
    private void LookAtTheLiving()
    {
        After(TimeSpan.TicksPerSecond + 1, null, static () => { }); // what was on its way arrives
        if (!StepUntil(() => Now - _healedAt > TimeSpan.TicksPerSecond && IsAtRest, s_soon))
        {
            Violated($"{TimeSpan.FromTicks(s_soon).TotalSeconds} s after the last fault and the last request, not everything is at rest: {Standing}");
            return;
        }

        Look(observe: false);
    }

    private void LookAtTheEnd()
    {
        IsFinal = true;
        if (_violations.Count > 0)
        {
            return;
        }

        if (Cluster.DieAtEnd != 0)
        {
            foreach (var process in _processes.ToArray())
            {
                End(process, Chance.Between(s_millisecond, 50 * s_millisecond));
            }

            if (!StepUntil(() => IsAtRest, s_soon))
            {
                Violated($"{TimeSpan.FromTicks(s_soon).TotalSeconds} s after all workers died and came back, not everything is at rest: {Standing}");
                return;
            }
        }

        Look(observe: true);
    }

    /// <summary>Looks at all actors; through every worker, or, for the history, through one.</summary>
    private void Look(bool observe)
    {
        var looks = Workload.Last().ToList();
        var through = observe ? [_processes[Chance.Next(_processes.Count)]] : _processes.ToArray();
        foreach (var process in through)
        {
            var looker = new SimulatedClient(this, Scenario.Clients + process.Number, () => process);
            foreach (var look in looks)
            {
                _looksLeft++;
                looker.Send(look, (verdict, envelope) =>
                {
                    _looksLeft--;
                    if (verdict != ObservedOutcome.Committed)
                    {
                        Violated($"A look at {look.Request.Actor} through w{process.Number}, when everything had come to rest, was {verdict} ({Answers.Describe(envelope)}); {Standing}");
                    }
                });
            }

            AskById(process, observe);
        }

        if (!StepUntil(() => _looksLeft == 0, s_soon))
        {
            Violated($"{_looksLeft} looks at workers that had come to rest were not answered; {Standing}");
        }
    }

    /// <summary>What workers know of ids: outcomes that somebody has, and what became of those that were told to be in doubt (I1, I2).</summary>
    private void AskById(ClusterProcess process, bool again)
    {
        for (var i = Math.Max(0, _inDoubt.Count - MostIdsInDoubt); i < _inDoubt.Count; i++)
        {
            var id = _inDoubt[i];
            _looksLeft++;
            process.Find(id, found =>
            {
                _looksLeft--;
                if (found is { Outcome: Outcome.InDoubt or Outcome.Running })
                {
                    Violated($"Request {id} is {found.Outcome} at w{process.Number}, and everything is at rest.");
                }
            });
        }

        var client = again ? new SimulatedClient(this, Scenario.Clients + ClusterScenario.MostWorkers + 1, () => process) : null;
        for (var count = Math.Min(IdsAskedAgain, _answered.Count); count > 0; count--)
        {
            var (transaction, envelope) = _answered[Chance.Next(_answered.Count)];
            var id = transaction.Request.Id!;
            _looksLeft++;
            process.Find(id, found =>
            {
                _looksLeft--;
                if (found is null || !Answers.Agree(found, envelope))
                {
                    Violated($"I2: request {id} was answered {Answers.Describe(envelope)}; asked for by id at w{process.Number} it is {Answers.Describe(found)}.");
                }
            });
            if (client is not null && _askedAgain.Add(transaction))
            {
                AskAgain(client, transaction, envelope, process);
            }
        }
    }

    /// <summary>An id that had its answer is sent again, to whatever worker, and hears the same.</summary>
    private void AskAgain(SimulatedClient client, Workloads.PlannedTransaction transaction, TransactionEnvelope envelope, ClusterProcess process)
    {
        _looksLeft++;
        client.Send(transaction, (verdict, again) =>
        {
            _looksLeft--;
            if (again is null || !Answers.Agree(again, envelope))
            {
                Violated($"I2: request {transaction.Request.Id} was answered {Answers.Describe(envelope)}; asked again at w{process.Number} it is {verdict}, {Answers.Describe(again)}.");
            }
        });
    }
}
