using System.Globalization;

namespace Snapper.Cli.Importing;

/// <summary>What an import has come to, by actor type. Thread-safe.</summary>
internal sealed class ImportTally
{
    private readonly Lock _gate = new();
    private readonly SortedDictionary<string, Counts> _types = new(StringComparer.Ordinal);

    /// <summary>Actors that were dealt with so far.</summary>
    public long Done
    {
        get
        {
            lock (_gate) return _types.Values.Sum(static one => one.Imported + one.Present + one.Failed);
        }
    }

    /// <summary>Actors and keys that were not imported.</summary>
    public long Failed
    {
        get
        {
            lock (_gate) return _types.Values.Sum(static one => one.Failed) + Strangers;
        }
    }

    /// <summary>No key was found at all.</summary>
    public bool IsEmpty
    {
        get
        {
            lock (_gate) return _types.Count == 0 && Strangers == 0;
        }
    }

    /// <summary>Keys that are none of an actor's state.</summary>
    public long Strangers { get; set; }

    /// <summary>Adds to what is known of a type.</summary>
    public void Add(string type, int actors = 0, int states = 0, int imported = 0, int present = 0, int failed = 0)
    {
        lock (_gate)
        {
            if (!_types.TryGetValue(type, out var counts)) _types.Add(type, counts = new Counts());
            counts.Actors += actors;
            counts.States += states;
            counts.Imported += imported;
            counts.Present += present;
            counts.Failed += failed;
        }
    }

    /// <summary>Writes the table.</summary>
    public void WriteTo(TextWriter output, bool isDry)
    {
        var table = Tables.Of(isDry
            ? ["type", "actors", "states", "cannot be imported"]
            : ["type", "actors", "states", "imported", "there already", "not imported"]);
        lock (_gate)
        {
            foreach (var (type, one) in _types)
            {
                long[] numbers = isDry ? [one.Actors, one.States, one.Failed]
                    : [one.Actors, one.States, one.Imported, one.Present, one.Failed];
                table.Add([type, .. numbers.Select(static n => n.ToString(CultureInfo.InvariantCulture))]);
            }
        }

        table.WriteTo(output);
    }

    private sealed class Counts
    {
        public long Actors { get; set; }

        public long States { get; set; }

        public long Imported { get; set; }

        public long Present { get; set; }

        public long Failed { get; set; }
    }
}
