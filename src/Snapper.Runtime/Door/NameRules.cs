using System.Text;

namespace Snapper.Runtime.Door;

/// <summary>What names may look like at the doors. Each check gives null for a good name, else what is wrong with it.</summary>
/// <remarks>
/// Ids are free text: slashes, percent signs, quotes, pipes and emoji are the callers' business, and nothing in the worker
/// splits a name. Only what no reader or log can show is refused: control characters and lone surrogates; and <c>%2E</c> and
/// <c>%2E%2E</c>, which in an address stand for the ids <c>.</c> and <c>..</c>, of which HTTP would make another path.
/// </remarks>
public static class NameRules
{
    /// <summary>Longest actor id, in UTF-16 code units.</summary>
    public const int ActorIdLengthMax = 512;

    /// <summary>Longest actor type.</summary>
    public const int ActorTypeLengthMax = 64;

    /// <summary>Longest method name, in UTF-16 code units.</summary>
    public const int MethodLengthMax = 128;

    /// <summary>Longest idempotency key, in Unicode code points.</summary>
    public const int RequestIdLengthMax = 128;

    /// <summary>Actor types: 1 to 64 letters, digits, <c>_</c>, <c>-</c>, <c>.</c>; the first is a letter.</summary>
    public static string? ActorTypeError(string type)
    {
        if (type.Length is 0 or > ActorTypeLengthMax || !char.IsLetter(type[0]))
        {
            return "an actor type has 1 to 64 letters, digits, '_', '-' or '.', and begins with a letter";
        }

        foreach (var c in type)
        {
            if (!char.IsLetterOrDigit(c) && c is not ('_' or '-' or '.'))
            {
                return "an actor type has 1 to 64 letters, digits, '_', '-' or '.', and begins with a letter";
            }
        }

        return null;
    }

    /// <summary>Actor ids: 1 to 512 UTF-16 code units, no control characters, no lone surrogates.</summary>
    public static string? ActorIdError(string id) =>
        id.Length is 0 or > ActorIdLengthMax ? "an actor id has 1 to 512 characters" : EscapeError(id) ?? PrintableError(id);

    /// <summary>Method names that a caller may use: 1 to 128 UTF-16 code units, no control characters, no lone surrogates, not beginning with <see cref="StateMethods.Mark"/>.</summary>
    public static string? MethodError(string method) =>
        method.Length is 0 or > MethodLengthMax ? "a method name has 1 to 128 characters"
        : method[0] == StateMethods.Mark
            ? "names of methods that begin with $ are the worker's own; "
            + "PUT and DELETE /v1/actors/{type}/{id} and POST /v1/reads start them"
        : PrintableError(method);

    /// <summary>Idempotency keys: 1 to 128 Unicode code points, no control characters, no lone surrogates.</summary>
    public static string? RequestIdError(string id)
    {
        if ((EscapeError(id) ?? PrintableError(id)) is { } error)
        {
            return error;
        }

        var length = id.Length;
        if (length > RequestIdLengthMax)
        {
            foreach (var c in id)
            {
                length -= char.IsLowSurrogate(c) ? 1 : 0;
            }
        }

        return length is 0 or > RequestIdLengthMax ? "an id has 1 to 128 printable characters" : null;
    }

    private static string? EscapeError(string id) =>
        id.Length is 3 or 6 && id[0] == '%' && (id.Equals("%2E", StringComparison.OrdinalIgnoreCase) || id.Equals("%2E%2E", StringComparison.OrdinalIgnoreCase)) ? $"'{id}' is no id: in an address it stands for dots" : null;

    private static string? PrintableError(string text)
    {
        for (var i = 0; i < text.Length; i++)
        {
            var c = text[i];
            if (char.IsControl(c))
            {
                return "control characters are not allowed in names";
            }

            if (char.IsSurrogate(c))
            {
                if (!Rune.TryGetRuneAt(text, i, out _))
                {
                    return "the name contains half of a surrogate pair";
                }

                i++;
            }
        }

        return null;
    }
}
