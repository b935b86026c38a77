using System.Runtime.CompilerServices;

namespace Snapper.RuleModel;

/// <summary>Words of a step, put together only when somebody reads them: millions of schedules run without.</summary>
[InterpolatedStringHandler]
internal ref struct TraceText
{
    private DefaultInterpolatedStringHandler _text;

    public TraceText(int literalLength, int formattedCount, RuleModel model, out bool isRead)
    {
        isRead = model.IsTraced;
        _text = isRead ? new DefaultInterpolatedStringHandler(literalLength, formattedCount) : default;
    }

    public void AppendLiteral(string value) => _text.AppendLiteral(value);

    public void AppendFormatted<T>(T value) => _text.AppendFormatted(value);

    public string ToStringAndClear() => _text.ToStringAndClear();
}
