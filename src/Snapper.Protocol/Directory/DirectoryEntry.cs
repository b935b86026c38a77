using System.Globalization;
using Snapper.Protocol.Identity;

namespace Snapper.Protocol.Directory;

/// <summary>
/// Who owns a partition or an actor, by the directory. It is owned in truth only while the owner's epoch is its current one: an entry of a fenced incarnation is
/// owned by nobody (R4).
/// </summary>
/// <param name="Key">The partition or the actor.</param>
/// <param name="Owner">The incarnation.</param>
/// <param name="Version">
/// 1 or more; each change of the directory has its own, from one counter. Notices of changes may arrive in any order (M7): of two entries for one key the one with
/// the higher version counts.
/// </param>
public sealed record DirectoryEntry(DirectoryKey Key, Incarnation Owner, long Version)
{
    /// <inheritdoc/>
    public override string ToString() => string.Create(CultureInfo.InvariantCulture, $"{Key} at {Owner}, version {Version}");
}
