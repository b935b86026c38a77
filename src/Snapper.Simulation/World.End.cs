using System.Text;
using Snapper.Simulation.Workers;
using Snapper.Testing.Histories;

namespace Snapper.Simulation;

/// <summary>What is looked at when nothing goes wrong any more: first on the worker that is there, then on the one that comes after it.</summary>
internal sealed partial class World
{
    // As for everything else by then: requests end by their timeouts, which are shorter.
    private static readonly long s_soon = TimeSpan.FromSeconds(30).Ticks;

    private const int IdsAskedAgain = 5;

    /// <summary>The worker that is there comes to rest and takes requests again: what got stuck must not be cured by its end.</summary>
    private void LookAtTheLiving()
    {
        if (Storage.IsLost || Folder.IsLost)
        {
            return; // it finds that out at its next flush, and ends
        }

        if (!StepUntil(() => _owner is { IsAtRest: true }, s_soon))
        {
            Violated($"{TimeSpan.FromTicks(s_soon).TotalSeconds} s after the last fault and the last request: {_owner?.Standing ?? "no worker"}.");
            return;
        }

        var looks = Workload.Last().ToList();
        var left = looks.Count;
        foreach (var look in looks)
        {
            new SimulatedClient(this, Scenario.Clients + 1).Send(look, (verdict, _) =>
            {
                left--;
                if (verdict != ObservedOutcome.Committed)
                {
                    Violated($"A look at {look.Request.Actor} on the worker that had come to rest was {verdict}; {_owner?.Standing ?? "no worker"}.");
                }
            });
        }

        if (!StepUntil(() => left == 0, Deadline))
        {
            Violated($"{left} looks on the worker that had come to rest were not answered.");
        }
    }

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
        _looksLeft = looks.Count;
        var looker = new SimulatedClient(this, Scenario.Clients);
        AskAgain(looker);
        foreach (var look in looks)
        {
            var before = LogRules.LastState(look.Request.Actor);
            looker.Send(look, (verdict, envelope) =>
            {
                _looksLeft--;
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

        if (!StepUntil(() => _looksLeft == 0, Deadline))
        {
            Violated($"{_looksLeft} looks at the end were not answered.");
        }
    }

    /// <summary>I1, I2: some of the ids that had their answer are asked again, over a restart at least, and must hear the same.</summary>
    private void AskAgain(SimulatedClient client)
    {
        for (var count = Math.Min(IdsAskedAgain, _answered.Count); count > 0; count--)
        {
            var (transaction, envelope) = _answered[Chance.Next(_answered.Count)];
            if (!_askedAgain.Add(transaction))
            {
                continue;
            }

            _looksLeft++;
            client.Send(transaction, (verdict, again) =>
            {
                _looksLeft--;
                if (verdict != ObservedOutcome.Committed || !again!.Result.Span.SequenceEqual(envelope.Result.Span) || again.Transaction != envelope.Transaction)
                {
                    Violated($"I2: request {transaction.Request.Id} was committed as {envelope.Transaction}; asked again it is {verdict} as {again?.Transaction}.");
                }
            });
        }
    }
}
