namespace Snapper.Storage.Log.Records;

/// <summary>
/// Remembers short texts by their bytes: a log names few actor types and fields, millions of times. A fixed table that
/// forgets on collision, so that hostile input cannot make it grow.
/// </summary>
internal sealed class NamePool
{
    private const int Slots = 128;
    private const int BytesMax = 64;
    private readonly byte[]?[] _bytes = new byte[]?[Slots];
    private readonly string[] _texts = new string[Slots];

    public string Get(ReadOnlySpan<byte> utf8)
    {
        if (utf8.Length > BytesMax)
        {
            return GroupBuffer.StrictUtf8.GetString(utf8);
        }

        var slot = Checksum.Of(utf8) % Slots;
        if (_bytes[slot] is { } known && utf8.SequenceEqual(known))
        {
            return _texts[slot];
        }

        var text = GroupBuffer.StrictUtf8.GetString(utf8);
        _bytes[slot] = utf8.ToArray();
        _texts[slot] = text;
        return text;
    }
}
