using Snapper.Actors.Generated;
using Snapper.Cluster.Wire;
using Snapper.Contracts;
using Snapper.Protocol;
using Snapper.Protocol.Batches;
using Snapper.Protocol.Commitment;
using Snapper.Protocol.Coordination;
using Snapper.Protocol.Directory;
using Snapper.Protocol.Identity;
using Snapper.Protocol.Messages;
using Snapper.Runtime.Execution;
using Snapper.Storage.Log.Records;

namespace Snapper.Cluster;

/// <content>What the worker asks and tells.</content>
internal sealed partial class ClusterNode : IPeers
{
    private const int PausesForMembers = 50;
    private static readonly TimeSpan s_pauseForMembers = TimeSpan.FromMilliseconds(20);

    bool IPeers.IsAlone => false;

    Incarnation IPeers.Master => Requests.Master;

    IOwnership IPeers.Ownership => this;

    int IPeers.Forwarded => Door.Passing;

    bool IPeers.MayBeReplaced => _worker.LogOutage is not null;

    int IPeers.MaxContentBytes => Gate.Hub.MaxContentBytes;

    ClusterStatusView IPeers.Status()
    {
        var peers = new List<PeerView>();
        foreach (var mailbox in Gate.Hub.Status())
        {
            var route = Gate.RouteOf(mailbox.Worker);
            peers.Add(new PeerView(
                Incarnation.NameOf(mailbox.Worker), mailbox.Peer.Epoch, mailbox.QueuedMessages,
                Math.Round(mailbox.Unanswered.TotalMilliseconds), mailbox.MessagesSent, mailbox.MessagesReceived,
                mailbox.Retransmissions, mailbox.LastProblem, mailbox.Via == 0 ? null : Incarnation.NameOf(mailbox.Via),
                route is { IsDirect: true }, route?.Problem));
        }

        var master = Requests.Master;
        return new ClusterStatusView(
            master.IsNone ? null : Incarnation.NameOf(master.Worker), Requests.MasterEpoch, Directory.Version,
            Requests.Waiting, Pacts.Count, Calls.Count, Door.Passing) { Peers = peers };
    }

    bool IPeers.IsListedHere(ActorKey actor) =>
        Directory.Resolve(actor) is { IsNone: false } owner && owner.Worker == Self.Worker;

    bool IPeers.MayKnow(ActorKey root) => _worker.MayBeReplaced || Ownership.Look(root).State != OwnershipState.Open;

    async Task<OutcomeRecord?> IPeers.FindOutcome(string id, CancellationToken cancellation)
    {
        // What was gained a moment ago may come from a worker that this one has not read yet.
        for (var pauses = 0; ArchivesAsOf is { } gains && gains != Gains; pauses++)
        {
            if (pauses == PausesForMembers)
            {
                throw new IOException(
                    "The workers have not been read since actors came here; one of them may know the id.");
            }

            await Background.Pause(s_pauseForMembers, _worker.Time, cancellation).ConfigureAwait(false);
        }

        var archives = Archives;
        if (archives.Count == 0)
        {
            return null;
        }

        var lookups = new Task<OutcomeRecord?>[archives.Count]; // all at once: one way to the server and back
        for (var i = 0; i < lookups.Length; i++)
        {
            lookups[i] = archives[i].FindOutcome(id, cancellation);
        }

        Task all = Task.WhenAll(lookups);
        await all.ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
        foreach (var lookup in lookups)
        {
            if (lookup is { IsCompletedSuccessfully: true, Result: { } found })
            {
                return found; // one that cannot be read holds no other outcome of the id
            }
        }

        await all.ConfigureAwait(false); // throws when one could not be read: it may know the id
        return null;
    }

    bool IPeers.TakesAct(Request request, Executor executor)
    {
        var state = Ownership.Look(request.Asked.Actor).State;
        if (state == OwnershipState.Open && !MayHaveRunElsewhere(request))
        {
            return false;
        }

        Door.NotHere(request, state == OwnershipState.Open ? OwnershipState.NotOwned : state, executor);
        return true;
    }

    bool IPeers.TakesPact(PactTicket ticket, Request request)
    {
        if (Ownership.Look(request.Asked.Actor).State == OwnershipState.NotOwned || MayHaveRunElsewhere(request))
        {
            Door.NotHere(request, OwnershipState.NotOwned, _worker.ExecutorOf(request.Asked.Actor));
            return true;
        }

        if (!Requests.IsLocal(ticket))
        {
            Requests.AskMaster(ticket);
            return true;
        }

        if (request.IsAtMaster)
        {
            Requests.TakeBack(request); // its batch was lost, and its actors are all here now
        }

        return false;
    }

    bool IPeers.Withdraw(Request request) => Requests.Withdraw(request);

    void IPeers.OnRemoved(PactTicket ticket) => Pacts.OnRemoved(ticket);

    void IPeers.GiveUpForwarded() => Door.GiveUpAll();

    bool IPeers.IsElsewhere(Attempt attempt, ActorKey actor, out Incarnation owner)
    {
        owner = default;
        var state = Ownership.Look(actor).State;
        if (state == OwnershipState.Open || (state != OwnershipState.NotOwned && attempt.Participates(actor)))
        {
            return false;
        }

        RequireNotIn(attempt, actor, state);
        if (Directory.Resolve(actor) is { IsNone: false } known && known != Self)
        {
            owner = known;
        }

        return true;
    }

    bool IPeers.IsFull(Incarnation peer) => TakesTooLittle(peer);

    Task IPeers.Call<TInput, TResult>(
        CallFrame caller, Incarnation to, ActorKey target, ActorMethodKey method, TInput input) =>
        Calls.Start<TInput, TResult>(caller, to, target, method, input);

    void IPeers.SendResult(CallFrame frame) => Calls.SendResult(frame);

    void IPeers.SendFailure(CallFrame frame, AbortInfo why) => Calls.SendFailure(frame, why);

    void IPeers.Forget(Attempt attempt) => Calls.Forget(attempt);

    void IPeers.TellRoot(Attempt attempt, AbortInfo why) => Acts.TellRoot(attempt, why);

    void IPeers.AbortElsewhere(Attempt attempt) => Acts.AbortElsewhere(attempt);

    void IPeers.OnBranchMessage(Attempt attempt, in Message message) => Acts.OnMessage(attempt, message);

    void IPeers.Send(in Output output)
    {
        switch (output.Kind)
        {
            case OutputKind.SendToMaster:
                Requests.Tell(output.Message);
                break;
            case OutputKind.SendToBranch:
                Pacts.TellEnded(output);
                break;
            case OutputKind.SendToParticipant:
                Acts.TellParticipant(output);
                break;
            case OutputKind.SendToRootWorker:
                Acts.TellRootWorker(output.Message);
                break;
            case OutputKind.NotNumbered:
                Requests.RouteLater(output.Message.Ticket);
                break;
            default:
                throw new ProtocolViolationException($"{Self}: {output.Kind} is not for another worker.");
        }
    }

    void IPeers.Handle(Incarnation from, object message) => Handle(from, (WireMessage)message);

    void IPeers.OnCommitMessage(in Message message)
    {
        if (message is { Kind: MessageKind.BatchFormed, Body: Batch { Part: not null } part })
        {
            Pacts.OnPlaced(part);
        }
        else if (message is { Kind: MessageKind.GlobalUndo, Body: List<PactTicket> dropped })
        {
            Pacts.OnDropped(dropped);
        }
    }

    void IPeers.OnFinal(Batch part) => Pacts.OnFinal(part);

    void IPeers.OnDecided(ActOutcome act, long sequence) => Decisions.NoteDecided(act, sequence);

    void IPeers.OnMarked(ActOutcome part) => Decisions.SendMarked(part);
}
