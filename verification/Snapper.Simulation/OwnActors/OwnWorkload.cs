using System.Globalization;
using Snapper.Runtime.Door;
using Snapper.Simulation.Core;
using Snapper.Simulation.Running;
using Snapper.Simulation.Workloads;
using Snapper.Judging.Histories;

namespace Snapper.Simulation.OwnActors;

/// <summary>An <see cref="ActorWorkload"/> as the world takes it: with ids, deadlines and what its clients saw.</summary>
internal sealed class OwnWorkload(Scenario scenario, ActorWorkload own) : IWorkload
{
    private static readonly TimeSpan s_lookTimeout = TimeSpan.FromSeconds(5);

    private readonly List<ActorTransaction> _transactions = [];
    private readonly SortedList<int, ActorTransaction> _last = [];
    private int _looks = -1;
    private readonly SeededChance[] _chances = SeededChance.OfClients(scenario.Seed, ChanceOf.OwnWorkload, scenario.Clients);
    private readonly SeededChance[] _ofRequests = SeededChance.OfClients(scenario.Seed, ChanceOf.OwnRequests, scenario.Clients);

    public PlannedTransaction Next(int client, int number)
    {
        var request = own.Next(_chances[client], client, number)
            ?? throw new InvalidOperationException($"{own.GetType().Name}.{nameof(ActorWorkload.Next)} gave no request for transaction {number} of client {client}.");
        var chance = _ofRequests[client];
        var drawnId = chance.Percent(scenario.KeyedPercent) ? string.Create(CultureInfo.InvariantCulture, $"own-{client}-{number}") : null;
        return new PlannedTransaction(client, number, request with { Id = request.Id ?? drawnId, Timeout = PlannedTransaction.DrawTimeout(chance) }, own);
    }

    public void Observe(PlannedTransaction transaction, ObservedOutcome verdict, TransactionEnvelope? envelope, long invoked, long completed)
    {
        var seen = new ActorTransaction
        {
            Client = transaction.Client,
            Number = transaction.Number,
            Request = transaction.Request,
            Outcome = verdict,
            Answer = envelope,
            Invoked = TimeSpan.FromTicks(invoked),
            Completed = TimeSpan.FromTicks(completed),
        };
        if (transaction.Client == scenario.Clients)
        {
            _last[transaction.Number] = seen;
        }
        else
        {
            _transactions.Add(seen);
        }
    }

    public IEnumerable<PlannedTransaction> Last()
    {
        var looks = own.Last().Select((request, number) => new PlannedTransaction(scenario.Clients, number, request with { Timeout = s_lookTimeout }, own)).ToList();
        _looks = looks.Count;
        return looks;
    }

    /// <summary>What an answer should show of a state, only its author knows.</summary>
    public bool Shows(TransactionEnvelope look, string state) => true;

    public IEnumerable<string> Judge()
    {
        if (_last.Count != _looks || _last.Values.Any(static look => look.Outcome != ObservedOutcome.Committed))
        {
            return []; // the run did not come so far, which is a violation already
        }

        try
        {
            return [.. own.Judge(new ActorRun(_transactions, [.. _last.Values]))];
        }
        catch (Exception exception)
        {
            return [exception is InvalidOperationException or ArgumentException ? exception.ToString() : exception.Message];
        }
    }
}
