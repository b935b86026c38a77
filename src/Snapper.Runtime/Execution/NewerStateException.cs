using System.Globalization;
using System.Text.Json;
using Snapper.Protocol.Commitment;

namespace Snapper.Runtime.Execution;

/// <summary>A state is of a version that this program does not know: a newer program has written it.</summary>
/// <param name="type">Name of the actor type.</param>
/// <param name="version">The state's.</param>
/// <param name="known">The newest that this program knows.</param>
public sealed class NewerStateException(string type, int version, int known) : JsonException(string.Create(
    CultureInfo.InvariantCulture,
    $"it has version {version}, and this program's {type} knows versions up to {known}: a newer program wrote it"))
{
    /// <summary>Name of the actor type.</summary>
    public string Type => type;

    /// <summary>The state's version.</summary>
    public int Version => version;

    /// <summary>The newest version that this program knows.</summary>
    public int Known => known;

    /// <summary>What programs read of an abort because of it.</summary>
    public AbortCode Code { get; } = new(
        "newer_state", string.Create(CultureInfo.InvariantCulture, $"{{\"stored\":{version},\"known\":{known}}}"));
}
