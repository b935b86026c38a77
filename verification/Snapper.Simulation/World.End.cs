using System.Text;
using Snapper.Protocol.Messages;
using Snapper.Runtime.Door;
using Snapper.Simulation.Core;
using Snapper.Simulation.Workers;
using Snapper.Judging.Histories;

namespace Snapper.Simulation;

/// <summary>What is looked at when nothing goes wrong any more: first on the worker that is there, then on the one that comes after it.</summary>
internal sealed partial class World
{
    private static readonly long s_onItsWay = TimeSpan.FromSeconds(1).Ticks;

    /// <summary>The worker that is there comes to rest and takes requests again: what got stuck must not be cured by its end.</summary>
    private void LookAtTheLiving(bool again = false)
    {
        if (Storage.IsLost || Folder.IsLost)
        {
            return; // it finds that out at its next flush, and ends
        }

        // What was on its way may fence the owner, or fail a probe, until it has arrived: calls are late by less than a second.
        After(s_onItsWay + 1, null, static () => { });
        if (Storage.PlacesGoodSince > 0)
        {
            // A state that could not be read is read again each second, and one that was set aside is stored with the
            // next checkpoint.
            var readAgain = Math.Max(Now, Storage.PlacesGoodSince) + TimeSpan.FromSeconds(12).Ticks;
            After(readAgain - Now, null, static () => { });
            StepUntil(() => Now >= readAgain, Soon + readAgain - Now);
        }

        if (!StepUntil(() => _owner is { IsAtRest: true } && (Now - HealedAt > s_onItsWay || !Scenario.MayFailStorage), Soon))
        {
            Violated($"{TimeSpan.FromTicks(Soon).TotalSeconds} s after the last fault and the last request: {_owner?.Standing ?? "no worker"}.");
            return;
        }

        _owner!.LookAtRest();
        var looks = Workload.Last().ToList();
        var left = looks.Count;
        var lives = _lives;
        var wasFenced = false;
        foreach (var look in looks)
        {
            new SimulatedClient(this, Scenario.Clients + 1).Send(look, (verdict, answer) =>
            {
                left--;
                var foundTheLoss = LogWasLost && _lives > lives; // at its first flush since: it ends, and does not know what became of what it was doing
                if (verdict == ObservedOutcome.Committed || foundTheLoss)
                {
                    return;
                }

                if (!again && Scenario.MayFailStorage && _lives > lives)
                {
                    // A life that had failed while it opened the log: its opening arrived after all, late, and an owner without work notices that when it is looked at. Once.
                    wasFenced = true;
                }
                else
                {
                    Violated($"A look at {look.Request.Actor} on the worker that had come to rest was {verdict} ({Answers.Describe(answer)}), {_lives - lives} lives later, {(LogWasLost ? "the log was lost" : "the log was not lost")}; {_owner?.Standing ?? "no worker"}.");
                }
            });
        }

        AskById(looks.FirstOrDefault()?.Request);
        if (!StepUntil(() => left + LooksLeft == 0, Deadline))
        {
            Violated($"{left + LooksLeft} looks on the worker that had come to rest were not answered.");
        }
        else if (wasFenced)
        {
            LookAtTheLiving(again: true);
        }
    }

    /// <summary>
    /// What the owner knows of ids, asked without a road between: outcomes that somebody has, and those of generated ids that were told to be in doubt. And an id that
    /// was used is refused for another request (null: the workload looks at nothing, and there is no other).
    /// </summary>
    private void AskById(TransactionRequest? other)
    {
        var owner = _owner!;
        foreach (var id in InDoubt)
        {
            AskInDoubt(owner, id);
        }

        for (var count = Math.Min(IdsAskedAgain, Answered.Count); count > 0; count--)
        {
            var (transaction, envelope) = Answered[Chance.Next(Answered.Count)];
            var id = transaction.Request.Id!;
            AskById(owner, id, envelope, where: "");
            if (other is null)
            {
                continue;
            }

            LooksLeft++;
            owner.Door.Submit(Under(id, other), CancellationToken.None).Hear(refused =>
            {
                LooksLeft--;
                if (refused.Rejection?.Kind != RejectionKind.IdConflict)
                {
                    Violated($"I2: the id of request {id}, which was answered {Answers.Describe(envelope)}, was used for another one: {Answers.Describe(refused)}.");
                }
            });
        }
    }

    private void AskInDoubt(SimulatedWorker owner, string id)
    {
        LooksLeft++;
        owner.Find(id, found =>
        {
            LooksLeft--;
            if (found is { Outcome: Outcome.InDoubt or Outcome.Running })
            {
                Violated($"Request {id} is {found.Outcome} on a worker that is at rest.");
            }

            if (StorageRules.OutcomeOf(id) is { } kept && (found is null || found.Transaction != kept.Transaction.Value || (found.Outcome == Outcome.Committed) != (kept.Abort == AbortReason.None)))
            {
                Violated($"I3: request {id} was told to be in doubt, and the log has its outcome under {kept.Transaction}; asked for by id it is {Answers.Describe(found)}.");
            }
        });
    }

    private static TransactionRequest Under(string id, TransactionRequest other) => new()
    {
        Actor = other.Actor,
        Method = other.Method,
        Mode = other.Mode,
        Access = other.Access,
        Timeout = other.Timeout,
        Id = id,
    };

    /// <summary>Kills the worker once more: what the next one reads is what the log holds.</summary>
    private void LookAtTheEnd()
    {
        IsFinal = true;
        if (Scenario.Files != 0 && Machine.Chance.Percent(50))
        {
            CrashMachine(Millisecond);
        }

        if (_owner is { } owner)
        {
            Restart(owner, Millisecond);
        }

        if (!StepUntil(() => _owner is { IsOpen: true }, Deadline))
        {
            Violated("No worker opens any more.");
            return;
        }

        var looks = Workload.Last().ToList();
        LooksLeft += looks.Count;
        var looker = new SimulatedClient(this, Scenario.Clients);
        AskAgain(looker);
        AskById(looks.FirstOrDefault()?.Request);
        foreach (var look in looks)
        {
            var before = LogRules.LastState(look.Request.Actor);
            looker.Send(look, (verdict, envelope) =>
            {
                LooksLeft--;
                if (verdict != ObservedOutcome.Committed)
                {
                    Violated($"A look at {look.Request.Actor} at the end was {verdict}.");
                }
                else if (LogRules.LastState(look.Request.Actor) is { } state && !Workload.Shows(envelope!, state) && (before is null || !Workload.Shows(envelope!, before)))
                {
                    // Before or after a late request that was on its way all the time; which of the two, the judge decides.
                    Violated($"{look.Request.Actor} came back as {Encoding.UTF8.GetString(envelope!.Result.Span)}; the last state in the log was {state}.");
                }
            });
        }

        if (!StepUntil(() => LooksLeft == 0, Deadline))
        {
            Violated($"{LooksLeft} looks at the end were not answered.");
        }
    }

    /// <summary>I1, I2: some of the ids that had their answer are asked again, over a restart at least, and must hear the same.</summary>
    private void AskAgain(SimulatedClient client)
    {
        for (var count = Math.Min(IdsAskedAgain, Answered.Count); count > 0; count--)
        {
            var (transaction, envelope) = Answered[Chance.Next(Answered.Count)];
            if (AskedAgain.Add(transaction))
            {
                SendAgain(client, transaction, envelope, where: "");
            }
        }
    }
}
