using Snapper.Storage.Log;
using Snapper.Storage.Log.Records;

namespace Snapper.Storage.Files;

/// <summary>A file of frames that is appended to; knows where its good end is, and never trusts what a failed write left behind it.</summary>
internal sealed class FrameFile : IDisposable
{
    private readonly ILogFile _file;
    private readonly string _name;
    private readonly uint _salt;
    private bool _tailUnsure;
    private int _encoded;

    // Where the last append begins, of a file that was found; behind it, nobody knows what is on disk.
    private long? _uncertainFrom;

    private FrameFile(ILogFile file, string name, uint salt, long length)
    {
        _file = file;
        _name = name;
        _salt = salt;
        Length = length;
    }

    /// <summary>Called for each whole frame.</summary>
    public delegate void Visit(FrameHeader header, long start, ReadOnlySpan<byte> payload);

    /// <summary>Where the next frame goes.</summary>
    public long Length { get; private set; }

    /// <summary>Opens an existing file and visits its frames; a torn end is left out. Null: not even its header is whole.</summary>
    public static FrameFile? Open(ILogFileSystem files, string path, Visit visit)
    {
        var file = files.Open(path, create: false);
        try
        {
            var length = file.Length;
            var reader = new FrameFileReader(file, path, length) { HasAppendsOfSeveral = true };
            if (!reader.Start())
            {
                file.Dispose();
                return null;
            }

            var append = 0L; // a file without frames may not even have its header on disk
            while (reader.Next(mayBeTorn: true, static _ => true, out var payload))
            {
                append = reader.Header.Count == 1 ? reader.FrameStart : append;
                visit(reader.Header, reader.FrameStart, payload);
            }

            return new FrameFile(file, path, reader.Salt, reader.Position) { _uncertainFrom = append, _tailUnsure = reader.Position < length };
        }
        catch
        {
            file.Dispose();
            throw;
        }
    }

    /// <summary>Makes an empty file, in place of one that may be there; its name is durable after <see cref="Flush"/> and a flush of the folder.</summary>
    public static FrameFile Create(ILogFileSystem files, string path)
    {
        var salt = (uint)Random.Shared.NextInt64(1, uint.MaxValue);
        Span<byte> header = stackalloc byte[FileHeader.Bytes];
        FileHeader.Write(header, salt);
        var file = files.Open(path, create: true);
        try
        {
            file.Truncate(0);
            file.Write(header, 0);
            return new FrameFile(file, path, salt, FileHeader.Bytes);
        }
        catch
        {
            file.Dispose();
            throw;
        }
    }

    /// <summary>Makes an empty file, durable with its name; on an error one may be there that has nothing in it, to be made again.</summary>
    public static FrameFile CreateDurable(LogFolder folder, string path)
    {
        var made = Create(folder.Files, path);
        try
        {
            made.Flush();
            folder.Files.FlushFolder(folder.Path);
            return made;
        }
        catch
        {
            made.Dispose();
            throw;
        }
    }

    /// <summary>Encodes a frame behind what is in the buffer, to be written by <see cref="Append"/>. Its count is its place in that append, from 1.</summary>
    public void Encode(GroupBuffer into, long number, ReadOnlySpan<byte> payload)
    {
        _encoded = into.Length == 0 ? 1 : _encoded + 1;
        FrameHeader.Write(into.Take(FrameHeader.Bytes), _salt, number, _encoded, payload);
        into.WriteBytes(payload);
    }

    /// <summary>
    /// Makes certain that what was read when the file was found is on disk, with its name: whoever wrote the last of it may have died before the flush, or
    /// after one that failed. Then the system holds bytes that it will not write any more, so they are written again.
    /// </summary>
    public void MakeCertain(LogFolder folder)
    {
        if (_uncertainFrom is not { } from)
        {
            return;
        }

        CutTail();
        var last = new byte[Length - from];
        if (_file.Read(last, from) < last.Length)
        {
            throw new CorruptLogException($"File {_name}, offset {from}: the file has become shorter.");
        }

        _file.Write(last, from);
        _file.Flush();
        folder.Files.FlushFolder(folder.Path);
        _uncertainFrom = null;
    }

    /// <summary>Writes frames at the end and flushes them; on an error the end stays where it was.</summary>
    public void Append(ReadOnlySpan<byte> frames)
    {
        CutTail();
        _tailUnsure = true;
        try
        {
            _file.Write(frames, Length);
            _file.Flush();
        }
        catch (IOException error) when (DiskFull.Is(error))
        {
            _file.Truncate(Length);
            throw;
        }

        _tailUnsure = false;
        Length += frames.Length;
    }

    public void Flush() => _file.Flush();

    /// <summary>Flushed, or a crash could leave what was cut off behind what is written in its place.</summary>
    private void CutTail()
    {
        if (_tailUnsure)
        {
            _file.Truncate(Length);
            _file.Flush();
            _tailUnsure = false;
        }
    }

    /// <summary>Payload of the frame at a position that was visited or appended.</summary>
    public byte[] ReadPayload(long start)
    {
        Span<byte> bytes = stackalloc byte[FrameHeader.Bytes];
        if (_file.Read(bytes, start) < bytes.Length || !FrameHeader.TryRead(bytes, _salt, out var header))
        {
            throw new CorruptLogException($"File {_name}, offset {start}: the header of a frame is damaged.");
        }

        var payload = new byte[header.PayloadBytes];
        if (_file.Read(payload, start + FrameHeader.Bytes) < payload.Length || Checksum.Of(payload) != header.PayloadChecksum)
        {
            throw new CorruptLogException($"File {_name}, offset {start}: a frame fails its checksum.");
        }

        return payload;
    }

    public void Dispose() => _file.Dispose();
}
