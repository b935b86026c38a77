using System.Text.Json;
using Snapper.Protocol.Identity;
using Snapper.Storage.Log.Records;

namespace Snapper.Simulation.Rules;

/// <summary>
/// What programs of two versions, side by side, make of states: no older version over a newer one, and nothing lost
/// that the newer program wrote, in the order in which changes become durable.
/// </summary>
/// <param name="violated">Takes what is wrong.</param>
/// <param name="isNewer">The worker's log was opened by the newer program last.</param>
internal sealed class ProgramRules(Action<string> violated, Func<int, bool> isNewer)
{
    private const string VersionName = "$stateVersion";

    private readonly Dictionary<ActorKey, Form> _forms = [];

    /// <summary>States that the older program wrote over one of the newer, and kept what that had.</summary>
    public int WrittenOver { get; private set; }

    /// <summary>A change of an actor is durable.</summary>
    /// <param name="worker">In whose log.</param>
    /// <param name="change">The change.</param>
    public void Changed(int worker, ActorChange change)
    {
        if (change.Fields is not [{ Value: { } json }] || !TryRead(json, isNewer(worker), out var now))
        {
            _forms.Remove(change.Actor); // it was deleted, or is of another form of state than an object
            return;
        }

        var before = _forms.GetValueOrDefault(change.Actor);
        _forms[change.Actor] = now;
        if (before is null)
        {
            return;
        }

        if (now.Version < before.Version)
        {
            violated(
                $"A state of version {before.Version} was overwritten: {change.Actor} is of version {now.Version} "
                + $"since a change by w{worker}, which runs the {(now.IsOfNewer ? "newer" : "older")} program");
            return;
        }

        if (now.Version > before.Version || !before.IsOfNewer || now.IsOfNewer)
        {
            return;
        }

        var lost = before.Names.Except(now.Names).Order(StringComparer.Ordinal).ToList();
        if (lost.Count > 0)
        {
            violated(
                $"A state of the newer program was overwritten: {change.Actor} has lost {string.Join(", ", lost)} by a "
                + $"change by w{worker}, which runs the older program and reads the same version {now.Version}");
            return;
        }

        WrittenOver++;
    }

    private static bool TryRead(ReadOnlyMemory<byte> json, bool isOfNewer, out Form form)
    {
        form = null!;
        using var document = JsonDocument.Parse(json);
        if (document.RootElement.ValueKind != JsonValueKind.Object)
        {
            return false;
        }

        var names = new HashSet<string>(StringComparer.Ordinal);
        var version = 1;
        foreach (var property in document.RootElement.EnumerateObject())
        {
            if (property.NameEquals(VersionName))
            {
                version = property.Value.GetInt32();
            }
            else
            {
                names.Add(property.Name);
            }
        }

        form = new Form(version, isOfNewer, names);
        return true;
    }

    private sealed record Form(int Version, bool IsOfNewer, HashSet<string> Names);
}
