using System.Globalization;
using System.Text;

namespace Snapper.Server.Api.Endpoints;

/// <summary>Writes metric families: the head once, then its samples.</summary>
internal sealed class PrometheusText(StringBuilder text)
{
    private string _name = string.Empty;

    public void Family(string name, string type, string help)
    {
        _name = name;
        text.Append("# HELP ").Append(name).Append(' ').Append(help).Append('\n');
        text.Append("# TYPE ").Append(name).Append(' ').Append(type).Append('\n');
    }

    public void Single(string name, string type, string help, double value)
    {
        Family(name, type, help);
        Sample(value);
    }

    /// <summary>One sample of the family begun last.</summary>
    public void Sample(double value, params ReadOnlySpan<(string Name, string Value)> labels) => Part(string.Empty, value, labels);

    /// <summary>One sample of a part of the family begun last: of a histogram <c>_bucket</c>, <c>_sum</c> or <c>_count</c>.</summary>
    public void Part(string suffix, double value, params ReadOnlySpan<(string Name, string Value)> labels)
    {
        text.Append(_name).Append(suffix);
        var separator = '{';
        foreach (var (name, label) in labels)
        {
            text.Append(separator).Append(name).Append("=\"");
            AppendEscaped(label);
            text.Append('"');
            separator = ',';
        }

        text.Append(separator == ',' ? "} " : " ").Append(value.ToString("R", CultureInfo.InvariantCulture)).Append('\n');
    }

    private void AppendEscaped(string label)
    {
        foreach (var c in label)
        {
            switch (c)
            {
                case '\\': text.Append("\\\\"); break;
                case '"': text.Append("\\\""); break;
                case '\n': text.Append("\\n"); break;
                default: text.Append(c); break;
            }
        }
    }
}
