using System.Buffers;
using System.Text.Json;
using System.Text.Unicode;

namespace Snapper.AspNetCore.Api.Requests;

/// <summary>
/// Looks at the texts in JSON that is kept as it came. Its form allows texts that are none of Unicode, such as
/// <c>"\ud800"</c>: no reader could show them.
/// </summary>
internal static class JsonText
{
    /// <summary>Looks at one JSON value.</summary>
    /// <param name="json">The value, which parses.</param>
    /// <returns>What is wrong with it; null: nothing.</returns>
    public static string? Error(ReadOnlySpan<byte> json)
    {
        if (!Utf8.IsValid(json))
        {
            return "it is not UTF-8";
        }

        return json.IndexOf("\\u"u8) < 0 || Unescapes(json) ? null : "it has a text with half of a surrogate pair";
    }

    private static bool Unescapes(ReadOnlySpan<byte> json)
    {
        var reader = new Utf8JsonReader(json);
        byte[]? rented = null;
        try
        {
            while (reader.Read())
            {
                if (reader.ValueIsEscaped)
                {
                    rented ??= ArrayPool<byte>.Shared.Rent(json.Length);
                    reader.CopyString(rented);
                }
            }

            return true;
        }
        catch (InvalidOperationException)
        {
            return false; // what the reader throws for halves of pairs
        }
        finally
        {
            if (rented is not null) ArrayPool<byte>.Shared.Return(rented);
        }
    }
}
