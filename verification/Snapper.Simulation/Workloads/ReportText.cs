using System.Globalization;

namespace Snapper.Simulation.Workloads;

/// <summary>
/// Text of a report of a scripted actor, in a buffer that is used again, at its size: new ones would be most of what a run allocates.
/// </summary>
internal sealed class ReportText
{
    private const int MaxKept = 64;

    [ThreadStatic]
    private static Stack<ReportText>? t_idle;

    private char[] _text = new char[512];
    private int _length;

    private ReportText()
    {
    }

    /// <summary>An empty text, the caller's own until <see cref="Free"/>; one whose call never ends is not used again.</summary>
    public static ReportText Begin() => t_idle is { Count: > 0 } idle ? idle.Pop() : new ReportText();

    /// <summary>The caller needs it no more.</summary>
    public void Free()
    {
        _length = 0;
#pragma warning disable SNAP207 // Texts that are kept for the next report are no state.
        var idle = t_idle ??= new Stack<ReportText>();
#pragma warning restore SNAP207
        if (idle.Count < MaxKept)
        {
            idle.Push(this);
        }
    }

    public ReportText Append(ReadOnlySpan<char> text)
    {
        text.CopyTo(Room(text.Length));
        _length += text.Length;
        return this;
    }

    public ReportText Append(char letter)
    {
        Room(1)[0] = letter;
        _length++;
        return this;
    }

    public ReportText Append(long number)
    {
        number.TryFormat(Room(20), out var written, default, CultureInfo.InvariantCulture);
        _length += written;
        return this;
    }

    public override string ToString() => new(_text, 0, _length);

    private Span<char> Room(int letters)
    {
        if (_text.Length - _length < letters)
        {
            Array.Resize(ref _text, Math.Max(_text.Length * 2, _length + letters));
        }

        return _text.AsSpan(_length);
    }
}
