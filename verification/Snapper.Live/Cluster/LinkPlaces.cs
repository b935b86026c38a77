using Snapper.Live.Harness;
using Snapper.Live.Running;

namespace Snapper.Live.Cluster;

/// <summary>
/// Where workers take direct links: each listens on a port that it is told at its start, and tells the others the port
/// of a road that leads there.
/// </summary>
internal sealed class LinkPlaces
{
    /// <summary>Workers that there can be, and one that joins.</summary>
    private const int Most = 9;

    private readonly int _first = FreePorts.Base([.. Enumerable.Range(0, 4 * Most)]);
    private readonly StandFolder _folder;
    private readonly int[] _at = new int[Most + 1];
    private readonly int[] _astray = new int[Most + 1];

    public LinkPlaces(StandFolder folder)
    {
        _folder = folder;
        for (var worker = 1; worker <= Most; worker++)
        {
            Take(worker, true);
        }
    }

    /// <summary>Shell that gives the worker <c>$name</c>, which is about to start, its settings.</summary>
    public string Tells => $"""
        if [ -s '{_folder.PathOf(Name(""))}'"$name" ]; then
          read -r links port host <'{_folder.PathOf(Name(""))}'"$name"
          export Snapper__Cluster__Links="$links" Snapper__Cluster__LinkPort="$port" Snapper__Cluster__LinkHost="$host"
        fi
        """;

    /// <summary>Which port the others are told.</summary>
    public int DoorOf(int worker) => _first + (Volatile.Read(ref _at[worker]) * 2 * Most) + worker - 1;

    /// <summary>On which port it listens.</summary>
    public int EndOf(int worker) => DoorOf(worker) + Most;

    /// <summary>Where its callers arrive, if not there.</summary>
    public int? LeadsTo(int worker) => Volatile.Read(ref _astray[worker]) is > 0 and var other ? EndOf(other) : null;

    /// <summary>New connections to a worker arrive at another one; null: they arrive where they should.</summary>
    public void LeadAstray(int worker, int? other) => Volatile.Write(ref _astray[worker], other ?? 0);

    /// <summary>Its lives that begin from now on listen on another port, and tell the others another one.</summary>
    public void Move(int worker)
    {
        Volatile.Write(ref _at[worker], 1 - _at[worker]);
        Take(worker, true);
    }

    /// <summary>Its lives that begin from now on take links, and make links, or do neither.</summary>
    public void Take(int worker, bool links)
    {
        var (end, door) = (StandFolder.Text(EndOf(worker)), StandFolder.Text(DoorOf(worker)));
        File.WriteAllText(
            _folder.PathOf(Name($"w{StandFolder.Text(worker)}")),
            $"{(links ? "direct" : "sidecar")} {end} 127.0.0.1:{door}\n");
    }

    private static string Name(string worker) => $"links-{worker}";
}
