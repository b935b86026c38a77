using System.Globalization;
using System.Text.Json;

namespace Snapper.Sidecar.Hosting;

/// <summary>What is wrong with a body that is no JSON, without the words of the serializer.</summary>
public static class JsonProblem
{
    /// <summary>A sentence with the place, counted from 1.</summary>
    /// <param name="wrong">What the reader threw.</param>
    public static string Of(JsonException wrong)
    {
        ArgumentNullException.ThrowIfNull(wrong);
        return string.Create(
            CultureInfo.InvariantCulture,
            $"The body is not JSON (line {wrong.LineNumber + 1}, byte {wrong.BytePositionInLine + 1}).");
    }
}
