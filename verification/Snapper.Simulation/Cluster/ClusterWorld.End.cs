using Snapper.Cluster;
using Snapper.Runtime.Door;
using Snapper.Simulation.Workers;
using Snapper.Storage.MigrationPlans;
using Snapper.Judging.Histories;

namespace Snapper.Simulation.Cluster;

/// <summary>What is looked at when nothing goes wrong any more: first through every worker that lives, then, perhaps, through those that come after them.</summary>
internal sealed partial class ClusterWorld
{
    private long? _restsSince;

    private string Standing =>
        $"the directory is at {Shared.Version}, of {string.Join(' ', Shared.Shares.Where(static share => share.Value > 0).Select(static share => $"w{share.Key}: {share.Value}"))}, {Shared.OpenPlans.Count} plans are open, the master is {Shared.MasterStanding()}:"
        + string.Concat(Processes.Select(static process => "\n  " + process.Standing));

    /// <summary>Everybody who shall live does, owns what the directory says, and has nothing under way; nobody else owns anything.</summary>
    private bool IsAtRest
    {
        get
        {
            if (Processes.Count == 0 || Shared.OpenPlans.Count > 0)
            {
                return false;
            }

            foreach (var process in Processes)
            {
                if (!process.IsAtRest || CurrentOf(process.Number) != process || process.Host!.Worker.Cluster!.Directory.Version != Shared.Version)
                {
                    return false;
                }

                if (Shared.Log(process.Number).Epoch != process.Self.Epoch)
                {
                    return false; // it is fenced, for what happened before the last fault ended, and learns it soon
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

    /// <summary>
    /// All has been at rest for so long that no call to the store is on its way, which may end a worker yet: an
    /// eviction that was decided, say.
    /// </summary>
    private bool StaysAtRest
    {
        get
        {
            if (!IsAtRest)
            {
                _restsSince = null;
                return false;
            }

            _restsSince ??= Now;
            return Now - _restsSince > Scenario.StorageTicksMax + Millisecond;
        }
    }

    /// <summary>The workers come to rest, and every one of them answers for every actor.</summary>
    private void LookAtTheLiving()
    {
        After(TimeSpan.TicksPerSecond + 1, null, static () => { }); // what was on its way arrives
        if (PlacesGoodSince > 0)
        {
            // What was set aside is stored with the next checkpoint, and read again within a second.
            var readAgain = Now + TimeSpan.FromSeconds(12).Ticks;
            After(readAgain - Now, null, static () => { });
            StepUntil(() => Now >= readAgain, Soon + readAgain - Now);
        }

        var isAtRest = StepUntil(() => Now - HealedAt > TimeSpan.TicksPerSecond && StaysAtRest, Soon);
        LookAtFreezes();
        if (!isAtRest)
        {
            Violated($"{TimeSpan.FromTicks(Soon).TotalSeconds} s after the last fault and the last request, not everything is at rest: {Standing}");
            return;
        }

        Look(observe: false);
    }

    /// <summary>M4: a freeze ends with its plan, however that ended.</summary>
    private void LookAtFreezes()
    {
        foreach (var process in Processes)
        {
            foreach (var plan in process.Freezes(Actors))
            {
                if (!Shared.Plans.TryGetValue(plan, out var known) || known.State != PlanState.Planned)
                {
                    Violated($"M4: {process.Self} holds a freeze for plan {plan}, which is {known?.State.ToString() ?? "nowhere"}");
                }
            }
        }
    }

    private void LookAtTheEnd()
    {
        IsFinal = true;
        if (Violations.Count > 0)
        {
            return;
        }

        if (Cluster.DieAtEnd != 0)
        {
            foreach (var process in Processes.ToArray())
            {
                End(process, Chance.Between(Millisecond, 50 * Millisecond));
            }

            var isAtRest = StepUntil(() => StaysAtRest, Soon);
            LookAtFreezes();
            if (!isAtRest)
            {
                Violated($"{TimeSpan.FromTicks(Soon).TotalSeconds} s after all workers died and came back, not everything is at rest: {Standing}");
                return;
            }
        }

        Look(observe: true);
    }

    /// <summary>Looks at all actors; through every worker, or, for the history, through one.</summary>
    private void Look(bool observe)
    {
        var looks = Workload.Last().ToList();
        var through = observe ? [Processes[Chance.Next(Processes.Count)]] : Processes.ToArray();
        foreach (var process in through)
        {
            var looker = new SimulatedClient(this, Scenario.Clients + process.Number, () => process);
            foreach (var look in looks)
            {
                LooksLeft++;
                looker.Send(look, (verdict, envelope) =>
                {
                    LooksLeft--;
                    if (verdict != ObservedOutcome.Committed)
                    {
                        Violated($"A look at {look.Request.Actor} through w{process.Number}, when everything had come to rest, was {verdict} ({Answers.Describe(envelope)}); {Standing}");
                    }
                });
            }

            AskById(process, observe);
        }

        if (!StepUntil(() => LooksLeft == 0, Soon))
        {
            Violated($"{LooksLeft} looks at workers that had come to rest were not answered; {Standing}");
        }
    }

    /// <summary>What workers know of ids: outcomes that somebody has, and what became of those that were told to be in doubt (I1, I2).</summary>
    private void AskById(ClusterProcess process, bool again)
    {
        foreach (var id in InDoubt)
        {
            LooksLeft++;
            process.Find(id, found =>
            {
                LooksLeft--;
                if (found is { Outcome: Outcome.InDoubt or Outcome.Running })
                {
                    Violated($"Request {id} is {found.Outcome} at w{process.Number}, and everything is at rest.");
                }
            });
        }

        if (LogWasLost)
        {
            return; // what was answered may be gone
        }

        var client = again ? new SimulatedClient(this, Scenario.Clients + ClusterScenario.MostWorkers + 1, () => process) : null;
        for (var count = Math.Min(IdsAskedAgain, Answered.Count); count > 0; count--)
        {
            var (transaction, envelope) = Answered[Chance.Next(Answered.Count)];
            if (!IsKept(transaction.Request.Id!))
            {
                continue; // its window may end before it is looked at
            }

            AskById(process, transaction.Request.Id!, envelope, $" at w{process.Number}");
            if (client is not null && AskedAgain.Add(transaction))
            {
                SendAgain(client, transaction, envelope, $" at w{process.Number}"); // to whatever worker
            }
        }
    }
}
