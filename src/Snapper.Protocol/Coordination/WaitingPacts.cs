using Snapper.Protocol.Batches;

namespace Snapper.Protocol.Coordination;

/// <summary>PACTs that wait for a number, in the order of their coming.</summary>
internal sealed class WaitingPacts
{
    private readonly Queue<PactTicket> _waiting = new();
    private readonly List<PactTicket> _taken = [];

    public int Count => _waiting.Count;

    public void Add(PactTicket ticket) => _waiting.Enqueue(ticket);

    /// <summary>Takes the members of a batch.</summary>
    /// <returns>Null: all that waited were withdrawn.</returns>
    public PactTicket[]? Take(int most)
    {
        _taken.Clear();
        while (_taken.Count < most && _waiting.TryDequeue(out var ticket))
        {
            if (!ticket.Withdrawn)
            {
                _taken.Add(ticket);
            }
        }

        return _taken.Count == 0 ? null : _taken.ToArray();
    }
}
