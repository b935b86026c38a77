using System.Text.Json;

namespace Snapper.DaprCompatibility;

/// <summary>How the values of named states are written and read.</summary>
internal static class ValueJson
{
    // A value stands inside the object of all of an actor's, which JSON's own limit of 64 must still take.
    private const int MaxDepth = 60;

    private static readonly JsonSerializerOptions s_default = Limited(JsonSerializerOptions.Web);

    // The last options that were asked for, with what was made of them: a host has one.
    private static Tuple<JsonSerializerOptions, JsonSerializerOptions>? s_last;

    /// <summary>The options, or the default ones, with a limit of depth.</summary>
    public static JsonSerializerOptions Of(JsonSerializerOptions? given)
    {
        if (given is null)
        {
            return s_default;
        }

        var last = s_last;
        if (last?.Item1 != given)
        {
            s_last = last = Tuple.Create(given, Limited(given));
        }

        return last.Item2;
    }

    private static JsonSerializerOptions Limited(JsonSerializerOptions given)
    {
        var limited = new JsonSerializerOptions(given)
        {
            MaxDepth = given.MaxDepth is > 0 and < MaxDepth ? given.MaxDepth : MaxDepth,
        };
        limited.MakeReadOnly(populateMissingResolver: true);
        return limited;
    }
}
