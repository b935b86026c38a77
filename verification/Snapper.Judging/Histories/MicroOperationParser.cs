using System.Globalization;
using System.Text.Json;

namespace Snapper.Judging.Histories;

/// <summary>Reads the operations of a line. What it returns is overwritten by the next line.</summary>
internal sealed class MicroOperationParser
{
    private const string Shapes = "an operation is [\"append\", key, integer], [\"r\", key, list], [\"w\", key, version, value] or [\"rv\", key, version, value]";

    private readonly List<MicroOperation> _operations = [];
    private readonly List<long> _list = [];
    private readonly Dictionary<string, string> _keys = [];
    private readonly Dictionary<string, string>.AlternateLookup<ReadOnlySpan<char>> _keysByText;
    private char[] _text = new char[64];

    public MicroOperationParser() => _keysByText = _keys.GetAlternateLookup<ReadOnlySpan<char>>();

    public List<MicroOperation> Parse(ref Utf8JsonReader json)
    {
        _operations.Clear();
        if (json.TokenType != JsonTokenType.StartArray)
        {
            throw new FormatException($"\"ops\" is an array of operations, found {JsonFields.Found(ref json)}.");
        }

        while (json.Read() && json.TokenType != JsonTokenType.EndArray)
        {
            try
            {
                _operations.Add(ParseOperation(ref json));
            }
            catch (FormatException wrong)
            {
                throw new FormatException($"operation {_operations.Count + 1}: {wrong.Message}", wrong);
            }
        }

        return _operations;
    }

    private MicroOperation ParseOperation(ref Utf8JsonReader json)
    {
        if (json.TokenType != JsonTokenType.StartArray || !json.Read() || json.TokenType != JsonTokenType.String)
        {
            throw new FormatException($"{Shapes}, found {JsonFields.Found(ref json)}.");
        }

        var operation = json.ValueTextEquals("r"u8) ? Read(Key(ref json), ref json)
            : json.ValueTextEquals("append"u8) ? MicroOperation.Append(Key(ref json), Next(ref json, "the value"))
            : json.ValueTextEquals("w"u8) ? Write(Key(ref json), ref json)
            : json.ValueTextEquals("rv"u8) ? ReadVersion(Key(ref json), ref json)
            : throw new FormatException($"{Shapes}, found {JsonFields.Found(ref json)}.");
        if (json.TokenType != JsonTokenType.EndArray && (!json.Read() || json.TokenType != JsonTokenType.EndArray))
        {
            throw new FormatException($"{Shapes}; found one field more, {JsonFields.Found(ref json)}.");
        }

        return operation;
    }

    private MicroOperation Read(string key, ref Utf8JsonReader json)
    {
        json.Read();
        if (json.TokenType is JsonTokenType.EndArray or JsonTokenType.Null)
        {
            return MicroOperation.UnseenRead(key);
        }

        if (json.TokenType != JsonTokenType.StartArray)
        {
            throw new FormatException($"what \"r\" returned is a list of whole numbers or null, found {JsonFields.Found(ref json)}.");
        }

        _list.Clear();
        while (json.Read() && json.TokenType != JsonTokenType.EndArray)
        {
            _list.Add(Whole(ref json, "an element of a list"));
        }

        // The end of the list must not be taken for the end of the operation.
        var read = MicroOperation.Read(key, [.. _list]);
        json.Read();
        return json.TokenType == JsonTokenType.EndArray ? read : throw new FormatException($"{Shapes}; found one field more, {JsonFields.Found(ref json)}.");
    }

    private static MicroOperation Write(string key, ref Utf8JsonReader json)
    {
        var version = Optional(ref json, "the version of \"w\"");
        return version is < 1
            ? throw new FormatException($"the version that \"w\" made is at least 1 (0 is the key before its first write), found {version}.")
            : MicroOperation.Write(key, version, Optional(ref json, "the value"));
    }

    private static MicroOperation ReadVersion(string key, ref Utf8JsonReader json)
    {
        var version = Optional(ref json, "the version of \"rv\"");
        return version is < 0
            ? throw new FormatException($"the version that \"rv\" read is at least 0, found {version}.")
            : MicroOperation.ReadVersion(key, version, Optional(ref json, "the value"));
    }

    /// <summary>A key as its text; the same text gives the same string, for a history names its keys over and over.</summary>
    private string Key(ref Utf8JsonReader json)
    {
        json.Read();
        if (json.TokenType == JsonTokenType.Number && json.TryGetInt64(out var number))
        {
            return number.ToString(CultureInfo.InvariantCulture);
        }

        if (json.TokenType != JsonTokenType.String)
        {
            throw new FormatException($"a key is a string or a whole number, found {JsonFields.Found(ref json)}.");
        }

        if (json.ValueSpan.Length > _text.Length)
        {
            _text = new char[json.ValueSpan.Length];
        }

        var text = _text.AsSpan(0, json.CopyString(_text));
        if (!_keysByText.TryGetValue(text, out var key))
        {
            key = text.ToString();
            _keys.Add(key, key);
        }

        return key;
    }

    private static long Next(ref Utf8JsonReader json, string what)
    {
        json.Read();
        return Whole(ref json, what);
    }

    private static long? Optional(ref Utf8JsonReader json, string what)
    {
        if (json.TokenType == JsonTokenType.EndArray)
        {
            return null;
        }

        json.Read();
        return json.TokenType is JsonTokenType.Null or JsonTokenType.EndArray ? null : Whole(ref json, what);
    }

    private static long Whole(ref Utf8JsonReader json, string what) =>
        json.TokenType == JsonTokenType.Number && json.TryGetInt64(out var value)
            ? value
            : throw new FormatException($"{what} is a whole number of 64 bits, found {JsonFields.Found(ref json)}.");
}
