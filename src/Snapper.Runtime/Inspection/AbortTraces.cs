using Snapper.Contracts;
using Snapper.Protocol.Messages;
using Snapper.Runtime.Door;

namespace Snapper.Runtime.Inspection;

/// <summary>
/// The most recent aborts, of each reason apart, and what callers saw apart from what the system ran again: thousands of conflicts that nobody hears of shall not drive out the one abort
/// that somebody asks about. Thread-safe.
/// </summary>
public sealed class AbortTraces
{
    /// <summary>Kept of each reason, twice: callers' and repeats.</summary>
    public const int Most = 256;

    /// <summary>Longest message that is kept, in UTF-16 code units; user code writes them.</summary>
    public const int MessageMax = 2048;

    /// <summary>Most actors of one abort whose names are kept.</summary>
    public const int ActorsMax = 16;

    /// <summary>Most UTF-16 code units of these names together; callers choose them, up to 512 bytes each.</summary>
    public const int NamesMax = 1024;

    private readonly Lock _lock = new();
    private readonly Queue<(long Order, AbortView Abort)>[] _final = Rings();
    private readonly Queue<(long Order, AbortView Abort)>[] _repeated = Rings();
    private long _count;

    /// <summary>A message as it is kept.</summary>
    public static string Clipped(string message) => message.Length <= MessageMax ? message : string.Concat(message.AsSpan(0, MessageMax), "…");

    /// <summary>The actors of an abort as they are kept: the first ones, and how many there are beside them.</summary>
    public static (IReadOnlyList<string> Names, int More) Clipped(IReadOnlyCollection<DeclaredAccess> touched)
    {
        var names = new List<string>(Math.Min(ActorsMax, touched.Count));
        var length = 0;
        foreach (var access in touched)
        {
            var name = access.Actor.ToString();
            length += name.Length;
            if (names.Count == ActorsMax || length > NamesMax)
            {
                break;
            }

            names.Add(name);
        }

        return (names, touched.Count - names.Count);
    }

    public void Add(AbortReason reason, AbortView abort)
    {
        lock (_lock)
        {
            var ring = (abort.Repeated ? _repeated : _final)[(int)reason];
            ring.Enqueue((_count++, abort));
            if (ring.Count > Most)
            {
                ring.Dequeue();
            }
        }
    }

    /// <summary>The newest first.</summary>
    /// <param name="limit">At most so many.</param>
    /// <param name="reason">Only of this one; null: of all.</param>
    /// <param name="repeated">Only those that the system ran again, or only the others; null: both.</param>
    public IReadOnlyList<AbortView> Recent(int limit, string? reason = null, bool? repeated = null)
    {
        var found = new List<(long Order, AbortView Abort)>();
        lock (_lock)
        {
            for (var i = 0; i < _final.Length; i++)
            {
                if (reason is null || reason == AbortReasons.Name((AbortReason)i))
                {
                    if (repeated != true)
                    {
                        found.AddRange(_final[i]);
                    }

                    if (repeated != false)
                    {
                        found.AddRange(_repeated[i]);
                    }
                }
            }
        }

        found.Sort(static (a, b) => b.Order.CompareTo(a.Order));
        return found.Take(Math.Max(0, limit)).Select(static one => one.Abort).ToList();
    }

    private static Queue<(long, AbortView)>[] Rings() => [.. Enumerable.Range(0, Enum.GetValues<AbortReason>().Max(static reason => (int)reason) + 1).Select(static _ => new Queue<(long, AbortView)>())];
}
