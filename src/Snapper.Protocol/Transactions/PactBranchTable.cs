using Snapper.Protocol.Batches;
using Snapper.Protocol.Identity;

namespace Snapper.Protocol.Transactions;

/// <summary>A worker's branch of one PACT of a global batch, whether its root is there or not.</summary>
/// <param name="global">Global number.</param>
/// <typeparam name="TEarly">A message that may come before the branch has its place.</typeparam>
public abstract class PactBranchState<TEarly>(TransactionId global)
{
    internal List<TEarly>? Early { get; set; }

    /// <summary>Global number.</summary>
    public TransactionId Global { get; } = global;

    /// <summary>As the master sent it; null: its part has not come yet.</summary>
    public GlobalMember? Member => Ticket?.Global;

    /// <summary>Ticket of this worker; null: its part has not come yet.</summary>
    public PactTicket? Ticket { get; internal set; }

    /// <summary>This worker's number of it; none until its part has a place.</summary>
    public TransactionId Tid { get; internal set; }

    /// <summary>This worker's batch; none until its part has a place.</summary>
    public BatchId Bid { get; internal set; }
}

/// <summary>
/// A worker's branches of PACTs of global batches (thesis 4.2.3). Messages about a PACT that come before its part has a
/// place wait for that; those that come after its end here are dropped (A8). Parts come in the order of their numbers.
/// </summary>
/// <param name="create">Makes the branch of a global number.</param>
/// <typeparam name="TBranch">What the shell keeps of a branch.</typeparam>
/// <typeparam name="TEarly">A message that may come before the branch has its place.</typeparam>
public sealed class PactBranchTable<TBranch, TEarly>(Func<TransactionId, TBranch> create)
    where TBranch : PactBranchState<TEarly>
{
    private readonly Dictionary<TransactionId, TBranch> _branches = [];

    // What is not known up to here has ended.
    private TransactionId _highest;

    /// <summary>PACTs that have not ended here.</summary>
    public Dictionary<TransactionId, TBranch>.ValueCollection Branches => _branches.Values;

    /// <summary>The highest global batch of which a part has come; any number inside it.</summary>
    public BatchId HighestKnown => new(_highest.Value);

    /// <summary>The lowest global batch whose part has come and has no place; none: there is none.</summary>
    public BatchId LowestUnplaced
    {
        get
        {
            var lowest = BatchId.None;
            foreach (var branch in _branches.Values)
            {
                var isUnplaced = branch.Ticket is not null && branch.Tid == TransactionId.None;
                if (isUnplaced && (lowest == BatchId.None || branch.Global.Value < lowest.Value))
                {
                    lowest = new BatchId(branch.Global.Value);
                }
            }

            return lowest;
        }
    }

    /// <summary>The PACT's branch; null: it has ended here, or nothing of it has come yet.</summary>
    public TBranch? Find(TransactionId global) => _branches.GetValueOrDefault(global);

    /// <summary>The master's part of a global batch has come.</summary>
    /// <param name="tickets">The tickets of its members (<see cref="PactTicket.Global"/> is set).</param>
    public void OnPart(ReadOnlySpan<PactTicket> tickets)
    {
        foreach (var ticket in tickets)
        {
            var global = ticket.Global!.Tid;
            Of(global).Ticket = ticket;
            _highest = global.Value > _highest.Value ? global : _highest;
        }
    }

    /// <summary>
    /// Another is master, and what earlier masters had open here is settled: of those of their PACTs that are not known
    /// by now no part comes any more (R3).
    /// </summary>
    /// <param name="epoch">Epoch of the master's log.</param>
    public void OnMaster(long epoch)
    {
        var first = TransactionId.Global(epoch, 0);
        _highest = first.Value > _highest.Value ? first : _highest;
        List<TransactionId>? orphans = null;
        foreach (var branch in _branches.Values)
        {
            if (branch.Ticket is null && branch.Global.Value <= first.Value)
            {
                (orphans ??= []).Add(branch.Global); // a call was quicker than the part
            }
        }

        for (var i = 0; i < orphans?.Count; i++)
        {
            _branches.Remove(orphans[i]);
        }
    }

    /// <summary>A PACT's part has its place in this worker's order.</summary>
    /// <returns>The messages that have waited for it, in the order of their arrival; null: none.</returns>
    public List<TEarly>? OnPlaced(PactTicket ticket)
    {
        ArgumentNullException.ThrowIfNull(ticket);
        if (ticket.Global is not { } member || Find(member.Tid) is not { } branch)
        {
            return null;
        }

        branch.Tid = ticket.Tid;
        branch.Bid = ticket.Bid;
        var early = branch.Early;
        branch.Early = null;
        return early;
    }

    /// <summary>A message about a PACT has come.</summary>
    /// <param name="global">The PACT.</param>
    /// <param name="message">Kept if the branch has no place yet.</param>
    /// <returns>The branch, for which the message is now; null: the message waits, or came too late.</returns>
    public TBranch? Admit(TransactionId global, TEarly message)
    {
        if (global.Value <= _highest.Value && !_branches.ContainsKey(global))
        {
            return null;
        }

        var branch = Of(global);
        if (branch.Tid != TransactionId.None)
        {
            return branch;
        }

        (branch.Early ??= []).Add(message);
        return null;
    }

    /// <summary>
    /// The PACT has ended here: its batch is final, or it was removed (A5, A9), or its part was dropped before it had a
    /// place (A9).
    /// </summary>
    /// <returns>Its branch; null: it is known to have ended.</returns>
    public TBranch? OnEnded(PactTicket ticket)
    {
        ArgumentNullException.ThrowIfNull(ticket);
        return ticket.Global is { } member && _branches.Remove(member.Tid, out var branch) ? branch : null;
    }

    private TBranch Of(TransactionId global)
    {
        if (!_branches.TryGetValue(global, out var branch))
        {
            _branches.Add(global, branch = create(global));
        }

        return branch;
    }
}
