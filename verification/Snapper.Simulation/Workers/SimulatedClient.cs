using System.Globalization;
using Snapper.Protocol.Messages;
using Snapper.Runtime.Door;
using Snapper.Runtime.Requests;
using Snapper.Simulation.Core;
using Snapper.Simulation.Faults;
using Snapper.Simulation.Workloads;
using Snapper.Judging.Histories;

namespace Snapper.Simulation.Workers;

/// <summary>
/// A client behind an unreliable road (its sidecar): sends one transaction after the other. A request with an id is sent again when no answer
/// comes; one without is sent once. It concludes what a careful client may conclude, no more.
/// </summary>
/// <param name="world">Where it is.</param>
/// <param name="number">Its number among the clients.</param>
/// <param name="route">Where all of its requests go; null: where the world leads them.</param>
internal sealed class SimulatedClient(IClientWorld world, int number, Func<IRequestTarget?>? route = null)
{
    private const int MaxSends = 6;
    private const int MaxLooks = 4;
    private static readonly TimeSpan s_ample = TimeSpan.FromMilliseconds(500);
    private const long Road = 3 * TimeSpan.TicksPerMillisecond;

    private readonly SeededChance _chance = SeededChance.For(world.Scenario.Seed, ChanceOf.Client, (uint)number);
    private readonly SeededChance _sentAgain = SeededChance.For(world.Scenario.Seed, ChanceOf.GeneratedIds, (uint)number);
    private int _begun;

    /// <summary>Sends its first transaction.</summary>
    public void Start() => world.After(_chance.Between(0, Road), null, Next);

    /// <summary>Sends one transaction; for the looks at the end.</summary>
    public void Send(PlannedTransaction transaction, Action<ObservedOutcome, TransactionEnvelope?> concluded) => new Exchange(this, transaction, concluded).Send();

    private void Next()
    {
        if (_begun >= world.Scenario.TransactionsPerClient)
        {
            world.ClientIsDone();
            return;
        }

        var next = AsCaller(world.Workload.Next(number, _begun++));
        Send(next, (_, _) => world.After(world.DrawPause(_chance), null, Next));
    }

    /// <summary>Some clients share a caller, and some are of none.</summary>
    private PlannedTransaction AsCaller(PlannedTransaction planned)
    {
        var of = number % (world.Scenario.Callers + 1);
        var caller = of == 0 ? null : of.ToString(CultureInfo.InvariantCulture);
        return planned with { Request = planned.Request with { CountedFor = caller } };
    }

    /// <summary>One transaction from its first sending to the client's conclusion.</summary>
    private sealed class Exchange(SimulatedClient client, PlannedTransaction transaction, Action<ObservedOutcome, TransactionEnvelope?> concluded)
    {
        private readonly IClientWorld _world = client.World;
        private readonly long _invoked = client.World.Now;
        private TransactionEnvelope? _final;
        private TransactionEnvelope? _lastAbort;
        private int _sends;
        private int _undecided; // deliveries that may still have an effect
        private readonly PlannedTransaction _asked = transaction;
        private PlannedTransaction _sent = transaction; // with an id, where a worker made it one
        private bool _isConcluded;
        private bool _isTold; // its id was made by a worker

        private SeededChance Chance => client._chance;

        private bool HasKey => _sent.Request.Id is not null;

        public void Send()
        {
            _sends++;
            var mark = _sends;
            _undecided++;
            if (Strikes())
            {
                SendBadly();
            }
            else
            {
                Deliver(misrouted: false, gone: false);
            }

            var patience = _sent.Request.Timeout.Ticks + Chance.Between(Road, 20 * Road);
            _world.After(patience, null, () =>
            {
                if (mark == _sends)
                {
                    NoAnswer();
                }
            });
        }

        private void SendBadly()
        {
            switch (Chance.Next(HasKey ? 6 : 4))
            {
                case 0:
                    _world.Faults.Note(FaultKind.RequestLost); // perhaps: the client cannot tell
                    break;
                case 1:
                    _world.Faults.Note(FaultKind.ClientGone);
                    Deliver(misrouted: false, gone: true);
                    break;
                case 2:
                    Deliver(misrouted: true, gone: false);
                    break;
                case 3:
                    _world.Faults.Note(FaultKind.AnswerLost);
                    Deliver(misrouted: false, gone: false, answerLost: true);
                    break;
                case 4:
                    _world.Faults.Note(FaultKind.RequestRepeated);
                    Deliver(misrouted: false, gone: false);
                    _undecided++;
                    Deliver(misrouted: false, gone: false, late: true);
                    break;
                default:
                    _world.Faults.Note(FaultKind.ClientImpatient);
                    Deliver(misrouted: false, gone: false);
                    _undecided++;
                    Deliver(misrouted: false, gone: false);
                    break;
            }
        }

        private void Deliver(bool misrouted, bool gone, bool answerLost = false, bool late = false)
        {
            var way = Chance.Between(Road / 20, late ? 200 * Road : Road);
            _world.After(way, null, () =>
            {
                var worker = client.Route(misrouted);
                if (worker is not { IsOpen: true })
                {
                    Back(NotOpen(), answerLost);
                    return;
                }

                worker.Scope.Do(() => Submit(worker, gone, answerLost));
            });
        }

        private void Submit(IRequestTarget worker, bool gone, bool answerLost)
        {
            var leaving = CancellationToken.None;
            if (gone)
            {
                var source = new CancellationTokenSource();
                leaving = source.Token;
                _world.After(Chance.Between(0, 4 * Road), worker.Scope, source.Cancel);
            }

            _world.Sent(_sent.Request);
            // One worker alone that was replaced, and has not met that, knows nothing of the next one (I2).
            var hadCommitted = HasKey && !worker.IsAlone && _world.HasCommitted(_sent.Request.Id!);
            var answer = worker.Door.Submit(_sent.Request, leaving);
            if (answer.IsCompleted)
            {
                Left(answer.Result, answerLost || gone, hadCommitted);
                return;
            }

            _world.Open.Add(worker, _sent.Request, answer);
            answer.Hear(envelope => Left(envelope, answerLost || gone, hadCommitted));
        }

        /// <summary>An answer has left the worker, whether it arrives or not.</summary>
        private void Left(TransactionEnvelope envelope, bool lost, bool hadCommitted)
        {
            var deniesIt = envelope is { Outcome: Outcome.Rejected }
                or { Outcome: Outcome.Aborted, Abort.Retryable: true };
            if (hadCommitted && deniesIt && _world.IsKept(_sent.Request.Id!))
            {
                _world.Violated(
                    $"I2: request {Name} had committed when it was sent again, and was answered "
                    + $"{Answers.Describe(envelope)}.");
            }

            if (envelope.Doubt == RequestManager.OutcomeIsMoving && !_world.LogWasLost)
            {
                _world.Violated($"I3: request {Name} has an outcome, and it is neither in the log nor stored.");
            }

            if (envelope.Outcome == Outcome.InDoubt && !HasKey)
            {
                _world.ToldInDoubt(envelope.Id);
            }

            Back(envelope, lost);
        }

        private void Back(TransactionEnvelope envelope, bool lost)
        {
            if (!lost)
            {
                _world.After(Chance.Between(Road / 20, Road), null, () => Answered(envelope));
            }
        }

        private void Answered(TransactionEnvelope envelope)
        {
            if (envelope.Abort is { Reason: AbortReason.Timeout } && _world.IsCalm && _sent.Request.Timeout >= s_ample)
            {
                _world.Violated($"Request {Name} timed out although nothing went wrong: {envelope.Abort.Message}");
            }

            switch (envelope.Outcome)
            {
                case Outcome.Committed:
                    Settle(envelope);
                    break;
                case Outcome.Aborted when HasKey && !envelope.Abort!.Retryable:
                    Settle(envelope); // kept: every other delivery of this id hears the same
                    break;
                case Outcome.Aborted or Outcome.Rejected:
                    _undecided--;
                    _lastAbort = envelope;
                    GoOn();
                    break;
                case Outcome.InDoubt when !HasKey && !_isConcluded && client._sentAgain.Percent(50):
                    // As the API's documentation says: the same request again, with the id that was told.
                    _sent = _sent with { Request = _sent.Request with { Id = envelope.Id } };
                    _isTold = true;
                    GoOn();
                    break;
                case Outcome.InDoubt when (!HasKey || _isTold) && !_isConcluded:
                    _sends++; // it waits for what it hears by the id
                    AskLater(envelope.Id, MaxLooks);
                    break;
                default:
                    GoOn(); // in doubt, or still running
                    break;
            }
        }

        /// <summary>Asks by the generated id what became of the request.</summary>
        private void AskLater(string id, int looks) => _world.After(Chance.Between(Road, 30 * Road), null, () =>
        {
            if (looks == 0)
            {
                Conclude(ObservedOutcome.Unknown);
            }
            else if (client.Route(misrouted: false) is { IsOpen: true } worker)
            {
                Ask(worker, id, looks);
            }
            else
            {
                AskLater(id, looks - 1);
            }
        });

        private void Ask(IRequestTarget worker, string id, int looks)
        {
            var isHeard = false;
            var hadCommitted = _world.HasCommitted(id);
            worker.Scope.Do(() => worker.Find(id, found =>
            {
                if (hadCommitted && found is null && _world.IsKept(id))
                {
                    _world.Violated($"I2: id {id} had committed when it was asked for, and is unknown.");
                }

                _world.After(Chance.Between(Road / 20, Road), null, () =>
                {
                    if (!isHeard)
                    {
                        isHeard = true;
                        Heard(id, found, looks);
                    }
                });
            }));
            _world.After(200 * Road, null, () =>
            {
                if (!isHeard)
                {
                    isHeard = true; // the worker ended, or stands still
                    AskLater(id, looks - 1);
                }
            });
        }

        private void Heard(string id, TransactionEnvelope? found, int looks)
        {
            switch (found?.Outcome)
            {
                case Outcome.Committed:
                    Settle(found);
                    break;
                case Outcome.Aborted when !found.Abort!.Retryable:
                    Settle(found); // kept, as that of an id of its own
                    break;
                case Outcome.Aborted:
                    _undecided--;
                    _lastAbort = found;
                    Conclude(_undecided == 0 ? ObservedOutcome.Aborted : ObservedOutcome.Unknown);
                    break;
                default:
                    AskLater(id, looks - 1); // not known here is no decision
                    break;
            }
        }

        /// <summary>A final answer. All final answers to one id must agree, however late they come.</summary>
        private void Settle(TransactionEnvelope envelope)
        {
            if (_final is not null && !Answers.Agree(_final, envelope) && !_world.AnswersWereLost)
            {
                _world.Violated($"I2: request {Name} was answered {Answers.Describe(_final)} and {Answers.Describe(envelope)}.");
            }

            _final ??= envelope;
            Conclude(envelope.Outcome == Outcome.Committed ? ObservedOutcome.Committed : ObservedOutcome.Aborted);
        }

        /// <summary>Without a final answer: again, if that is safe and makes sense.</summary>
        private void GoOn()
        {
            if (_isConcluded)
            {
                return;
            }

            if ((HasKey || _undecided == 0) && (_sends < MaxSends || _world.IsFinal))
            {
                _sends++; // whoever waits for the answer of the last one waits no more
                _world.After(Chance.Between(Road, 30 * Road) + (HasKey ? _world.DrawLongPause(Chance) : 0), null, SendAgain);
            }
            else
            {
                Conclude(_undecided == 0 ? ObservedOutcome.Aborted : ObservedOutcome.Unknown);
            }
        }

        private void SendAgain()
        {
            if (_isConcluded)
            {
                return;
            }

            if (HasKey && !_world.IsKept(_sent.Request.Id!))
            {
                Conclude(ObservedOutcome.Unknown); // it would run once more, as it may
                return;
            }

            _sends--;
            Send();
        }

        private void NoAnswer()
        {
            if (HasKey && _sends < MaxSends)
            {
                if (_world.DrawLongPause(Chance) is > 0 and var pause)
                {
                    _sends++;
                    _world.After(pause, null, SendAgain);
                    return;
                }

                Send();
            }
            else
            {
                Conclude(ObservedOutcome.Unknown);
            }
        }

        private void Conclude(ObservedOutcome verdict)
        {
            if (_isConcluded)
            {
                return;
            }

            _isConcluded = true;
            _sends = int.MaxValue;
            _world.Concluded(_asked, verdict, _final ?? (verdict == ObservedOutcome.Aborted ? _lastAbort : null), _invoked);
            concluded(verdict, _final);
        }

        private bool Strikes() => !_world.IsHealed && Chance.PerMille(_world.Scenario.RequestFaultPerMille);

        private string Name => _sent.Request.Id ?? $"{_sent.Client}-{_sent.Number}";

        private TransactionEnvelope NotOpen() => new()
        {
            Id = _sent.Request.Id ?? string.Empty,
            Outcome = Outcome.Rejected,
            Mode = _sent.Request.Mode,
            Rejection = new Rejection(RejectionKind.Unavailable, "simulated: nobody listens"),
        };
    }

    private IClientWorld World => world;

    private IRequestTarget? Route(bool misrouted) => route is null ? world.Route(misrouted) : route();
}
