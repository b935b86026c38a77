using System.Buffers.Binary;
using Snapper.Fuzzing.Engine;
using Snapper.Storage.Files;
using Snapper.Storage.Log.Records;

namespace Snapper.Fuzzing.Storage;

/// <summary>Does the lines of a recipe to the files of a log. A file is named by its kind and number among those, <c>log:0</c>; an offset counts from the end when negative.</summary>
internal static class FileBreaker
{
    private static readonly string[] Meta =
    [
        "", "{}", "[]", "null", "7", "{\"format\":1}", "{\"format\":2,\"epoch\":1,\"firstSequence\":1,\"transaction\":0,\"actCounter\":0}", "{\"format\":1,\"epoch\":\"1\",\"firstSequence\":1,\"transaction\":0,\"actCounter\":0}",
        "{\"format\":1,\"epoch\":1e3,\"firstSequence\":1,\"transaction\":0,\"actCounter\":0}", "{\"id\":\"\\ud800\",\"format\":1,\"epoch\":1,\"firstSequence\":1,\"transaction\":0,\"actCounter\":0}", "{\"format\":1,",
    ];

    private static readonly string[] MetaFields = ["format", "epoch", "firstSequence", "transaction", "actCounter", "stateFile", "stateBytes"];

    /// <summary>A line for one of the kinds of files.</summary>
    public static string Step(Random random, params ReadOnlySpan<string> kinds)
    {
        var file = $"{random.One(kinds)}:{random.Next(3)}";
        var at = random.Next(3) switch { 0 => random.Next(80), 1 => -random.Next(120), _ => random.Next(100_000) };
        var frame = random.Next(6);
        return random.Next(17) switch
        {
            0 or 1 or 2 => $"flip {file} {at} {random.Next(8)}",
            3 => $"zero {file} {at} {random.Next(1, 3000)}",
            4 or 5 => $"cut {file} {at}",
            6 => $"insert {file} {at} {random.Next(1, 100)}",
            7 => $"drop {file} {at} {random.Next(1, 100)}",
            8 => $"dropframe {file} {frame}",
            9 => $"doubleframe {file} {frame}",
            10 => $"swapframes {file} {frame} {random.Next(6)}",
            11 => $"delete {file}",
            12 => $"rename {file} {NameOf(file, random)}",
            13 => $"copy {file} {NameOf(file, random)}",
            14 => random.Percent(50) ? $"meta {random.Next(Meta.Length)}" : $"metafield {random.One(MetaFields)} {Pieces.Number(random)}",
            15 => $"forge {file} {frame} {random.One("count", "number")} {random.One(0, -1, 1, 2, int.MaxValue, int.MinValue, long.MaxValue, long.MinValue)}",
            _ => $"forgebyte {file} {frame} {random.Next(200)} {random.Next(256)}",
        };
    }

    /// <summary>True: whoever did this knew the format; what comes out is then no legal beginning of what was written, only not harmful.</summary>
    public static bool IsForgery(string[] step) => step[0] is "forge" or "forgebyte" or "meta" or "metafield" or "rename" or "copy" or "delete";

    /// <summary>Does it.</summary>
    public static void Do(MemoryFiles files, string[] step)
    {
        if (step[0] == "meta")
        {
            files["meta.json"] = Pieces.Bytes(Meta[(int)Math.Clamp(Recipe.Number(step, 1), 0, Meta.Length - 1)]);
            return;
        }

        if (step[0] == "metafield")
        {
            var text = System.Text.Encoding.UTF8.GetString(files["meta.json"] ?? []);
            var field = step.ElementAtOrDefault(1) ?? "";
            var start = text.IndexOf($"\"{field}\":", StringComparison.Ordinal);
            if (start >= 0)
            {
                start += field.Length + 3;
                var end = text.IndexOfAny([',', '}'], start);
                files["meta.json"] = Pieces.Bytes(text[..start] + (step.ElementAtOrDefault(2) ?? "") + text[end..]);
            }

            return;
        }

        if (step.Length < 2 || Named(files, step[1]) is not { } name)
        {
            return;
        }

        var bytes = files[name]!;
        switch (step[0])
        {
            case "delete": files[name] = null; return;
            case "rename" when step.Length > 2: files[name] = null; files[step[2]] = bytes; return;
            case "copy" when step.Length > 2: files[step[2]] = bytes; return;
            case "dropframe" or "doubleframe" or "swapframes" or "forge" or "forgebyte": files[name] = Frames(bytes, step); return;
        }

        var at = Recipe.Number(step, 2);
        at = at < 0 ? bytes.Length + at : at;
        if (at < 0 || at >= bytes.Length)
        {
            return;
        }

        var offset = (int)at;
        var size = (int)Math.Clamp(Recipe.Number(step, 3), 0, bytes.Length - offset);
        switch (step[0])
        {
            case "flip": bytes[offset] ^= (byte)(1 << (int)(Recipe.Number(step, 3) & 7)); break;
            case "zero": bytes.AsSpan(offset, size).Clear(); break;
            case "cut": bytes = bytes[..offset]; break;
            case "insert": bytes = [.. bytes[..offset], .. Enumerable.Repeat((byte)0xA5, (int)Math.Clamp(Recipe.Number(step, 3), 0, 1000)), .. bytes[offset..]]; break;
            case "drop": bytes = [.. bytes[..offset], .. bytes[(offset + size)..]]; break;
        }

        files[name] = bytes;
    }

    /// <summary>Where the whole frames of a file are.</summary>
    public static List<(int Start, int Length, FrameHeader Header)> FramesOf(byte[] file)
    {
        var frames = new List<(int, int, FrameHeader)>();
        if (FileHeader.TryRead(file, out var salt))
        {
            for (var at = FileHeader.Bytes; FrameHeader.TryRead(file.AsSpan(at), salt, out var header) && header.PayloadBytes <= file.Length - at - FrameHeader.Bytes;)
            {
                frames.Add((at, FrameHeader.Bytes + header.PayloadBytes, header));
                at += FrameHeader.Bytes + header.PayloadBytes;
            }
        }

        return frames;
    }

    private static byte[] Frames(byte[] bytes, string[] step)
    {
        var frames = FramesOf(bytes);
        var (i, j) = (Recipe.Number(step, 2), Recipe.Number(step, 3));
        if (i < 0 || i >= frames.Count || !FileHeader.TryRead(bytes, out var salt))
        {
            return bytes;
        }

        var pieces = frames.ConvertAll(frame => bytes[frame.Start..(frame.Start + frame.Length)]);
        var tail = bytes[(frames[^1].Start + frames[^1].Length)..];
        var (at, header) = ((int)i, frames[(int)i].Header);
        switch (step[0])
        {
            case "dropframe": pieces.RemoveAt(at); break;
            case "doubleframe": pieces.Insert(at, pieces[at]); break;
            case "swapframes" when j >= 0 && j < pieces.Count: (pieces[at], pieces[(int)j]) = (pieces[(int)j], pieces[at]); break;
            case "forge":
                var value = Recipe.Number(step, 4);
                FrameHeader.Write(pieces[at], salt, step[3] == "number" ? value : header.Number, step[3] == "count" ? (int)value : header.Count, pieces[at].AsSpan(FrameHeader.Bytes));
                break;
            case "forgebyte" when j >= 0 && j < header.PayloadBytes:
                pieces[at][FrameHeader.Bytes + (int)j] = (byte)Recipe.Number(step, 4);
                SealRecords(pieces[at].AsSpan(FrameHeader.Bytes));
                FrameHeader.Write(pieces[at], salt, header.Number, header.Count, pieces[at].AsSpan(FrameHeader.Bytes));
                break;
        }

        return [.. bytes[..FileHeader.Bytes], .. pieces.SelectMany(piece => piece), .. tail];
    }

    /// <summary>Makes the checksums of a group's records right again, as far as their lengths lead.</summary>
    private static void SealRecords(Span<byte> group)
    {
        while (group.Length > RecordEncoder.HeaderBytes)
        {
            var length = BinaryPrimitives.ReadUInt32LittleEndian(group);
            if (length > group.Length - RecordEncoder.HeaderBytes)
            {
                return;
            }

            var body = group.Slice(RecordEncoder.HeaderBytes, (int)length);
            BinaryPrimitives.WriteUInt32LittleEndian(group[4..], Checksum.Of(body));
            group = group[(RecordEncoder.HeaderBytes + (int)length)..];
        }
    }

    private static string? Named(MemoryFiles files, string reference)
    {
        var parts = reference.Split(':');
        var names = files.Names.Where(name => name.StartsWith(parts[0], StringComparison.Ordinal)).ToArray();
        return parts.Length == 2 && int.TryParse(parts[1], out var at) && at >= 0 && at < names.Length ? names[at] : null;
    }

    private static string NameOf(string file, Random random)
    {
        var kind = file.Split(':')[0];
        var number = random.One("1", "0", "0000000000000000001", "000000000002", "0000000000000000009", "9223372036854775807", "9999999999999999999", "-1", "x", "", "000000000001", "0000000000000000004");
        return kind switch { "log" => $"log-{number}.seg", _ => $"{kind}-{number}.dat" } + random.One("", "", "", ".new");
    }
}
