using Snapper.Cluster.Wire;
using Snapper.Protocol.Directory;
using Snapper.Protocol.Identity;
using Snapper.Runtime.Execution;

namespace Snapper.Cluster.Node;

/// <summary>
/// A worker among others: who it is, what it knows of who owns what, and how it speaks to them. What each layer above
/// adds to it stands in an interface of that layer.
/// </summary>
internal interface INode
{
    /// <summary>This worker in this life.</summary>
    Incarnation Self { get; }

    /// <summary>Its link to the others.</summary>
    PeerMessenger Gate { get; }

    /// <summary>Who owns what, as far as this worker knows.</summary>
    DirectoryTable Directory { get; }

    Ownership Ownership { get; }

    /// <summary>Lives of others that are over and may still ask.</summary>
    DeadIncarnations Gone { get; }

    /// <summary>Where messages from other workers are handled.</summary>
    Executor First { get; }

    /// <summary>The workers that live, as far as this one knows.</summary>
    Func<IReadOnlyList<Incarnation>> Members { get; set; }

    /// <summary>Reads what is new in the directory, and applies it; a life that is fenced fails.</summary>
    Func<CancellationToken, Task> ReadDirectory { get; set; }

    /// <summary>
    /// Sends a message to one life of a worker, this one included. From any thread; messages of one thread to one worker
    /// arrive in their order.
    /// </summary>
    /// <returns>False: that life is over, and so is whatever the message was about.</returns>
    bool Send(Incarnation to, WireMessage message);

    /// <summary>Handles a message on the first executor; in order.</summary>
    /// <param name="from">Its sender.</param>
    /// <param name="message">The message.</param>
    /// <param name="wakes">As for <see cref="Executor.Post"/>.</param>
    void Receive(Incarnation from, WireMessage message, bool wakes = true);

    /// <summary>Handles a message at once; on the first executor.</summary>
    void Handle(Incarnation from, WireMessage message);

    /// <summary>A life of a worker is known.</summary>
    void OnUp(Incarnation peer);

    /// <summary>A life of a worker is over; from any thread, behind its last message.</summary>
    void OnGone(Incarnation peer);

    /// <summary>Reads something on the first executor.</summary>
    Task<T> Ask<T>(Func<T> look);

    /// <summary>
    /// News of the directory, in whatever order (M7). What comes to this worker opens: its last owner has checkpointed all
    /// of it; on the first executor.
    /// </summary>
    bool Apply(IReadOnlyList<DirectoryEntry> changed);

    /// <summary>What the directory says of an entry now. On the first executor.</summary>
    /// <param name="entry">The entry.</param>
    /// <param name="mayBeOld">
    /// It was read in pieces, and this worker may have received a later one meanwhile.
    /// </param>
    void Own(DirectoryEntry entry, bool mayBeOld = false);
}
