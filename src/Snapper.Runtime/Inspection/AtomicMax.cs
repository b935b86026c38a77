namespace Snapper.Runtime.Inspection;

/// <summary>The greatest of what several threads tell.</summary>
public static class AtomicMax
{
    /// <summary>Puts a value in the place of a smaller one.</summary>
    public static void Raise(ref long place, long value)
    {
        var seen = Volatile.Read(ref place);
        while (value > seen)
        {
            var before = Interlocked.CompareExchange(ref place, value, seen);
            if (before == seen)
            {
                return;
            }

            seen = before;
        }
    }
}
