using System.Text.Json.Serialization;

namespace Snapper.DaprCompatibility;

/// <summary>
/// The state of what was a plain Dapr actor: its named values, each as the JSON in which it was written. In JSON it is
/// an object of them. An object never changes.
/// </summary>
[JsonConverter(typeof(NamedStatesConverter))]
public sealed class NamedStates
{
    private readonly Dictionary<string, byte[]> _values;

    internal NamedStates(Dictionary<string, byte[]> values) => _values = values;

    /// <summary>No values.</summary>
    public static NamedStates Empty { get; } = new([]);

    /// <summary>The names of the values.</summary>
    public IReadOnlyCollection<string> Names => _values.Keys;

    internal IReadOnlyDictionary<string, byte[]> Values => _values;

    /// <summary>A value as UTF-8 JSON.</summary>
    /// <param name="name">Its name.</param>
    /// <param name="json">The value.</param>
    /// <returns>False: there is none of that name.</returns>
    public bool TryGet(string name, out ReadOnlyMemory<byte> json)
    {
        var found = _values.TryGetValue(name, out var value);
        json = value;
        return found;
    }

    internal NamedStates With(IEnumerable<KeyValuePair<string, byte[]?>> changes)
    {
        var next = new Dictionary<string, byte[]>(_values);
        foreach (var (name, json) in changes)
        {
            if (json is null)
            {
                next.Remove(name);
            }
            else
            {
                next[name] = json;
            }
        }

        return new NamedStates(next);
    }
}
