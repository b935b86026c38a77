using Snapper.Protocol.Batches;
using Snapper.Protocol.Coordination;
using Snapper.Protocol.Global;
using Snapper.Protocol.Identity;
using Snapper.Protocol.Messages;

namespace Snapper.Protocol.Tests.Cluster;

/// <summary>The master: its machine, its log, and the road to the workers.</summary>
internal sealed class MasterNode : IPlacement
{
    private readonly ClusterWorld _world;
    private readonly List<GlobalOutput> _outputs = [];
    private long _ticket;
    private long _flushed;

    public MasterNode(ClusterWorld world, CoordinatorOptions options)
    {
        _world = world;
        Machine = new GlobalCoordinatorMachine(1, this, options);
    }

    public GlobalCoordinatorMachine Machine { get; }

    public long Unflushed => _ticket - _flushed;

    public Incarnation OwnerOf(ActorKey actor) => _world.IncarnationOf(_world.Homes[_world.IndexOf(actor)]);

    public void Flush(long tickets)
    {
        _flushed = Math.Min(_ticket, _flushed + tickets);
        var flushed = _flushed;
        _world.At(_world.MasterNode, () => Step(new GlobalMessage(GlobalMessageKind.Flushed, Value: flushed)));
    }

    public void Step(in GlobalMessage message)
    {
        _world.Tell($"master <- {message.Kind} from {message.From} bid={message.Bid} value={message.Value} count={message.Count}");
        Machine.Step(message, _outputs);
        foreach (var output in _outputs)
        {
            _world.Tell($"  master: {output.Kind} to {output.To} bid={output.Bid} value={output.Value}");
            Do(output);
        }

        _outputs.Clear();
    }

    private void Do(GlobalOutput output)
    {
        if (output.Kind == GlobalOutputKind.Append)
        {
            Machine.Queued(output.Bid, ++_ticket);
            return;
        }

        var worker = _world.Workers[output.To.Worker - 1];
        _world.Send(worker.Index, output.Kind switch
        {
            GlobalOutputKind.SendPart => () => worker.OnPart((GlobalPart)output.Body!),
            GlobalOutputKind.SendDecided => () => worker.ToCommit(new Message { Kind = MessageKind.GlobalDecided, Bid = output.Bid }),
            GlobalOutputKind.SendUndo => () => worker.ToCoordinator(0, new Message { Kind = MessageKind.GlobalUndo, Bid = output.Bid, Value = output.Value, Count = output.Count }),
            GlobalOutputKind.SendUndoGo => () => worker.ToCommit(new Message { Kind = MessageKind.GlobalUndoGo, Value = output.Value }),
            GlobalOutputKind.SendDropped => () => worker.OnDropped(output.Value),
            _ => throw new InvalidOperationException($"Unknown effect {output.Kind}."),
        });
    }
}
