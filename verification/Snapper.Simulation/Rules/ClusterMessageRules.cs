using Snapper.Cluster.Wire;
using Snapper.Protocol.Batches;
using Snapper.Protocol.Channels;
using Snapper.Protocol.Global;
using Snapper.Protocol.Identity;
using Snapper.Protocol.Messages;
using Snapper.Storage.Memory;

namespace Snapper.Simulation.Rules;

/// <summary>
/// The rules of what workers tell each other, looked at in every message when it is sent for the first time: nothing on which others rely leaves before it is durable (L5, R), what
/// is said about a decision is what the logs say (R2), no part that an undo has removed votes (H7), nothing is numbered for what is frozen (M1, M3), a new master numbers nothing before everybody has settled (R3).
/// </summary>
internal sealed class ClusterMessageRules(ClusterLogRules logs, MemoryCluster shared, Action<string> violated) : RuleSet(violated)
{
    private readonly Dictionary<(Incarnation From, Incarnation To), long> _next = [];
    private readonly HashSet<(Incarnation Worker, TransactionId Tid)> _askedToCommit = [];
    private readonly HashSet<(Incarnation Worker, TransactionId Tid)> _undone = [];
    private readonly Dictionary<(Incarnation Caller, long Id), TransactionId> _calls = [];
    private readonly HashSet<(Incarnation Worker, TransactionId Tid)> _parts = [];
    private readonly Dictionary<Incarnation, long> _settled = [];
    private readonly Dictionary<long, List<Incarnation>> _awaited = [];
    private readonly Dictionary<(long MasterEpoch, Incarnation Source), HashSet<string>> _frozen = [];
    private readonly HashSet<(Incarnation Source, string Plan)> _answered = [];
    private readonly HashSet<Incarnation> _masters = [];

    /// <summary>A master has begun: the workers that live then have to settle what earlier ones had open.</summary>
    public void MasterBegins(long masterEpoch, Incarnation master)
    {
        _masters.Add(master);
        var living = new List<Incarnation>();
        foreach (var member in shared.Members.Values)
        {
            if (shared.Unfit(member.Incarnation) is null && shared.UnbrokenMs(member.Incarnation.Worker) >= 0)
            {
                living.Add(member.Incarnation);
            }
        }

        _awaited[masterEpoch] = living;
    }

    /// <summary>A packet is on its way, perhaps once more.</summary>
    public void Sent(ReadOnlyMemory<byte> bytes)
    {
        if (!ChannelPacket.TryRead(bytes, out var packet, out _) || packet.Count == 0)
        {
            return;
        }

        if (shared.Instance > 1 && shared.Log(packet.From.Worker).Epoch > packet.From.Epoch)
        {
            return; // its logs are gone with the server on which it began, and nobody who began later hears it
        }

        var road = (packet.From, packet.To);
        var next = _next.GetValueOrDefault(road, 1);
        var number = packet.First;
        foreach (var message in packet)
        {
            if (number++ >= next)
            {
                Look(packet.From, packet.To, WireCodec.Read(message.Span, packet.From));
            }
        }

        _next[road] = Math.Max(next, number);
    }

    /// <summary>A packet has come to whom it is for.</summary>
    public void Heard(byte[] bytes)
    {
        if (!ChannelPacket.TryRead(bytes, out var packet, out _))
        {
            return;
        }

        foreach (var message in packet)
        {
            if (message.Span[0] == (byte)WireKind.Frozen)
            {
                _answered.Add((packet.To, ((FrozenMessage)WireCodec.Read(message.Span, packet.From)).Plan));
            }
        }
    }

    /// <summary>A source is about to commit a plan. One that is, or was, the master has told itself, of which there is no packet.</summary>
    public void Committing(Incarnation source, string plan) =>
        Require(_masters.Contains(source) || _answered.Contains((source, plan)), $"M3: {source} commits plan {plan}, and no master has told it that this plan's keys are frozen");

    private void Look(Incarnation from, Incarnation to, WireMessage message)
    {
        switch (message)
        {
            case ActPrepareMessage { Committed: true } prepare:
                _askedToCommit.Add((to, prepare.Tid));
                break;
            case BranchFailedMessage { Failure.Reason: AbortReason.Undone } failed:
                _undone.Add((from, failed.Tid));
                break;
            case ActVotedMessage { Yes: true } voted when _undone.Contains((from, voted.Tid)):
                Require(false, $"H7: {from} votes for the end of ACT {voted.Tid}, and an undo has removed its part there");
                break;
            case CallMessage { Tid.IsAct: true } call:
                _calls[(from, call.Id)] = call.Tid;
                break;
            case ResultMessage { Failure: null } result when _calls.Remove((to, result.Id), out var act):
                _parts.Add((from, act));
                break;
            case ActVotedMessage { Yes: true } voted
                when _askedToCommit.Contains((from, voted.Tid)) || _parts.Contains((from, voted.Tid)):
                Require(logs.HasPrepared(from.Worker, voted.Tid), $"R: {from} votes for ACT {voted.Tid}, and its log has no part of it");
                break;
            case ActDecidedMessage { Committed: true } decided:
                Require(logs.IsDecided(decided.Tid.Value), $"R: {from} tells {to} that ACT {decided.Tid} is committed, which no log says");
                break;
            case ToMasterMessage { Message.Kind: GlobalMessageKind.PartPrepared } told:
                Require(logs.HasPrepared(from.Worker, told.Message.Bid), $"R: {from} acknowledges global batch {told.Message.Bid}, and its log has no part of it");
                break;
            case FromMasterMessage { Output.Kind: GlobalOutputKind.SendDecided } said:
                Require(logs.IsDecided(said.Output.Bid.Value), $"R: {from} tells {to} that global batch {said.Output.Bid} is committed, which the master's log does not say");
                break;
            case VerdictMessage verdict:
                OnVerdict(from, verdict);
                break;
            case SettledMessage settled:
                _settled[from] = Math.Max(settled.MasterEpoch, _settled.GetValueOrDefault(from));
                break;
            case FrozenMessage frozen:
                Frozen(frozen.MasterEpoch, to).Add(frozen.Plan);
                break;
            case PartMessage part:
                OnPart(from, to, part);
                break;
        }
    }

    private void OnVerdict(Incarnation from, VerdictMessage verdict)
    {
        if (verdict.Committed)
        {
            Require(logs.IsDecided(verdict.Number), $"R2: {from} says that {verdict.Number} is committed, which no log says");
        }
        else if (logs.IsDecided(verdict.Number))
        {
            // Whoever has all markers may forget a decision, and be asked once more by somebody who knows by now.
            Require(!logs.IsAwaited(verdict.Number), $"R2: {from} says that {verdict.Number} is aborted, and it is decided");
        }
        else
        {
            logs.Presumed(verdict.Number);
        }
    }

    private void OnPart(Incarnation master, Incarnation to, PartMessage message)
    {
        foreach (var worker in _awaited.GetValueOrDefault(message.MasterEpoch) ?? [])
        {
            var isWaitedFor = worker != master && shared.Unfit(worker) is null && shared.UnbrokenMs(worker.Worker) >= 0;
            Require(!isWaitedFor || _settled.GetValueOrDefault(worker) >= message.MasterEpoch, $"R3: {master} numbers {message.Part.Bid}, and {worker} has not settled what earlier masters had open");
        }

        _awaited.Remove(message.MasterEpoch); // once is enough
        foreach (var member in message.Part.Members)
        {
            logs.HasParts(message.Part.Bid, member.Owners.Select(static owner => owner.Worker));
            for (var i = 0; i < member.Owners.Length; i++)
            {
                var (pact, owner) = (member.Pact, member.Owners[i]);
                var isElsewhere = pact.Declared[i].Actor.Equals(pact.RootActor) && owner != pact.Root;
                Require(!isElsewhere,
                    $"A9: {member.Tid} is numbered, and {owner} owns the root of what {pact.Root} asked for");
                LookAtFrozen(message, member, i, to);
            }
        }
    }

    /// <summary>M3: on the road to the source, what was numbered before the answer has gone before it.</summary>
    private void LookAtFrozen(PartMessage message, GlobalMember member, int declared, Incarnation to)
    {
        if (member.Owners[declared] != to || !_frozen.TryGetValue((message.MasterEpoch, to), out var plans))
        {
            return;
        }

        var actor = member.Pact.Declared[declared].Actor;
        foreach (var id in plans)
        {
            if (shared.Plans.TryGetValue(id, out var plan) && plan.State == Snapper.Storage.MigrationPlans.PlanState.Planned)
            {
                var isFrozen = plan.Plan.Keys.Any(key => key.IsActor && key.Actor!.Equals(actor));
                Require(!isFrozen, $"M1, M3: {member.Tid} is numbered for {actor} at {to} after the master has answered that plan {id} froze it");
            }
        }
    }

    private HashSet<string> Frozen(long masterEpoch, Incarnation source)
    {
        if (!_frozen.TryGetValue((masterEpoch, source), out var plans))
        {
            _frozen.Add((masterEpoch, source), plans = new(StringComparer.Ordinal));
        }

        return plans;
    }
}
