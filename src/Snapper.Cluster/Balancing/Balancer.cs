using System.Collections.Concurrent;
using System.Globalization;
using Snapper.Cluster.Node;
using Snapper.Cluster.Wire;
using Snapper.Contracts;
using Snapper.Protocol.Directory;
using Snapper.Protocol.Identity;
using Snapper.Runtime.Door;
using Snapper.Runtime.Execution;
using Snapper.Storage;
using Snapper.Storage.Membership;
using Snapper.Storage.MigrationPlans;
using WorkerLoad = Snapper.Protocol.Directory.WorkerLoad;

namespace Snapper.Cluster.Balancing;

/// <summary>
/// The shell of the policy that proposes moves: counts, tells the others what was counted, and looks at what all have told once an interval. Every worker sees the same proposals;
/// the master carries one out, if it is told to by configuration, and only while nothing else moves.
/// </summary>
internal sealed class Balancer(Worker worker, INode node, IClusterStore store, BalancingOptions options)
{
    private readonly ConcurrentDictionary<int, (Incarnation From, long At, LoadMessage Load)> _reports = new();
    private readonly PlacementPolicy _policy = new(options.Limits);
    private readonly LoadMeter _meter = new(node.Directory);
    private long _last = worker.Time.GetTimestamp();
    private long _moves;
    private long _tries;
    private volatile MigrationProposals _view = new(options.Mode.ToString().ToLowerInvariant(), options.Interval.TotalMilliseconds);

    public MigrationProposals View => _view;

    /// <summary>A request begins at the worker of its root.</summary>
    public void Note(TransactionRequest request) => _meter.Note(request);

    /// <summary>Another worker tells what it has counted.</summary>
    public void OnLoad(Incarnation from, LoadMessage load) => _reports[from.Worker] = (from, worker.Time.GetTimestamp(), load);

    /// <summary>Once an interval: counts, tells and looks. Called often.</summary>
    public async Task Step(IReadOnlyList<Member> members, bool isMaster, CancellationToken cancellation)
    {
        var since = worker.Time.GetElapsedTime(_last);
        if (since < options.Interval)
        {
            return;
        }

        _last = worker.Time.GetTimestamp();
        var own = _meter.Take(since);
        OnLoad(node.Self, own);
        var living = new List<Incarnation>();
        foreach (var member in members)
        {
            if (member.State == MemberState.Live)
            {
                living.Add(member.Incarnation);
                if (member.Incarnation != node.Self)
                {
                    node.Send(member.Incarnation, own);
                }
            }
        }

        var (loads, pairs) = Sum(living);
        var proposals = _policy.Look(loads, pairs);
        _view = new MigrationProposals(options.Mode.ToString().ToLowerInvariant(), options.Interval.TotalMilliseconds)
        {
            Workers = loads.ConvertAll(static load => new Contracts.WorkerLoad(NameOf(load.Worker), load.PerSecond)),
            Proposals = [.. proposals.Select(static proposal => new ProposedMove(
                proposal.Key.Actor is null ? proposal.Key.Partition.Number : null, proposal.Key.Actor?.Type, proposal.Key.Actor?.Id,
                NameOf(proposal.From), NameOf(proposal.To), proposal.PerSecond, proposal.Why, proposal.Confirmed, proposal.IsRipe))],
            Moves = _moves,
        };
        if (isMaster && options.Mode == BalancingMode.Execute && proposals.FirstOrDefault(static proposal => proposal.IsRipe) is { } ripe)
        {
            await CarryOut(ripe, cancellation).ConfigureAwait(false);
        }
    }

    private async Task CarryOut(MoveProposal ripe, CancellationToken cancellation)
    {
        if ((await store.Plans.ReadOpen(cancellation).ConfigureAwait(false)).Count > 0)
        {
            return; // one thing at a time; it stays ripe
        }

        var id = string.Create(CultureInfo.InvariantCulture, $"policy-{node.Self.Worker}-{node.Self.Epoch}-{++_tries}.1"); // whatever becomes of the call, the next plan has another id
        var made = await store.Plans.Create(new MigrationPlan(id, [ripe.Key], ripe.From, ripe.To, "policy: " + ripe.Why) { Asked = "policy" }, cancellation).ConfigureAwait(false);
        if (made.IsDone)
        {
            RuntimeLog.PolicyMoves(worker.Logger, ripe.Key.ToString(), ripe.To.ToString(), ripe.Why);
            _moves++;
            _policy.Moved();
            _view = _view with { Moves = _moves };
        }
    }

    private (List<WorkerLoad> Loads, List<PairLoad> Pairs) Sum(List<Incarnation> living)
    {
        var totals = new SortedDictionary<int, long>();
        var partitions = new SortedDictionary<int, long>();
        var pairs = new List<PairLoad>();
        // Its own ToArray: that of LINQ throws when a report comes in while it copies.
        foreach (var (number, (from, at, load)) in _reports.ToArray().OrderBy(static report => report.Key))
        {
            if (!living.Contains(from) || worker.Time.GetElapsedTime(at) > options.Interval * 3)
            {
                _reports.TryRemove(number, out _);
                continue;
            }

            foreach (var (owner, rate) in load.Workers)
            {
                totals[owner] = totals.GetValueOrDefault(owner) + rate;
            }

            foreach (var (partition, rate) in load.Partitions)
            {
                partitions[partition.Number] = partitions.GetValueOrDefault(partition.Number) + rate;
            }

            foreach (var (one, other, rate) in load.Pairs)
            {
                pairs.Add(new PairLoad(node.Directory.KeyOf(one), node.Directory.Resolve(one), node.Directory.KeyOf(other), node.Directory.Resolve(other), rate / 1000.0));
            }
        }

        var loads = new List<WorkerLoad>();
        foreach (var life in living)
        {
            var hottest = new List<PartitionLoad>();
            foreach (var (number, rate) in partitions)
            {
                if (node.Directory.Find(new Partition(number))?.Owner == life)
                {
                    hottest.Add(new PartitionLoad(new Partition(number), rate / 1000.0));
                }
            }

            loads.Add(new WorkerLoad(life, totals.GetValueOrDefault(life.Worker) / 1000.0, hottest));
        }

        return (loads, pairs);
    }

    private static string NameOf(Incarnation life) => Incarnation.NameOf(life.Worker);
}
