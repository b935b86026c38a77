using System.Buffers.Text;
using System.Globalization;
using System.Runtime.InteropServices;
using System.Text;
using StackExchange.Redis;

namespace Snapper.Storage.Redis;

/// <summary>
/// The bytes of one command at a time, as parts that are sent together: what is the same for all commands of a script, the
/// arguments, the group itself (not copied), the end. Reused for each command.
/// </summary>
internal sealed class AppendMessage
{
    private static readonly byte[] LineEnd = [(byte)'\r', (byte)'\n'];
    private readonly Script _append;
    private readonly Script _check;
    private readonly Script _appendOnInstance;
    private readonly Script _checkOnInstance;
    private readonly byte[] _arguments = new byte[512];
    private readonly ArraySegment<byte>[] _appendParts;
    private readonly ArraySegment<byte>[] _checkParts;
    private readonly ReplicaWait _replicas;
    private Script _script;
    private ArraySegment<byte>[] _parts;
    private int _length;

    public AppendMessage(RedisKey meta, RedisKey stream, ReplicaWait replicas)
    {
        var waits = replicas.Replicas > 0;
        _replicas = replicas;
        _appendParts = new ArraySegment<byte>[waits ? 5 : 4];
        _checkParts = new ArraySegment<byte>[waits ? 3 : 2];
        _append = new Script(RedisScripts.Append, [meta, stream], 8);
        _check = new Script(waits ? RedisScripts.CheckEpochTold : RedisScripts.CheckEpoch, [meta], 4);
        _appendOnInstance = new Script(RedisScripts.AppendOnInstance, [meta, stream], 8);
        _checkOnInstance = new Script(
            waits ? RedisScripts.CheckEpochToldOnInstance : RedisScripts.CheckEpochOnInstance, [meta], 4);
        _script = _check;
        _parts = _checkParts;
    }

    /// <summary>Each command looks whether the server is the one on which the log was opened.</summary>
    public bool IsBound { get; set; }

    /// <summary>Behind the script goes what asks the replicas for it, and has an answer of its own.</summary>
    public bool Waits => _replicas.Replicas > 0;

    /// <summary>What asks them asks for their disks.</summary>
    public bool WaitsForDisk { get; private set; }

    /// <summary>Bytes of the whole message when the script goes by its name.</summary>
    public int Bytes { get; private set; }

    /// <summary>The message that names the script (EVALSHA).</summary>
    public ArraySegment<byte>[] ByName() => With(_script.ByName);

    /// <summary>The message that carries the script (EVAL), for a server that does not know its name.</summary>
    public ArraySegment<byte>[] ByText() => With(_script.ByText);

    /// <summary>Takes a command in. The group's bytes are referred to until <see cref="Clear"/>.</summary>
    public void Encode(AppendCommand command)
    {
        _length = 0;
        Number(command.Epoch);
        Text(command.Mark);
        Number(command.AcknowledgedNext);
        _script = command.Count == 0 ? IsBound ? _checkOnInstance : _check : IsBound ? _appendOnInstance : _append;
        _parts = command.Count == 0 ? _checkParts : _appendParts;
        if (command.Count > 0)
        {
            Number(command.FirstSequence);
            Number(command.Behind);
            Number(command.Count);
            Head('$', command.Group.Length);

            // Memory that is not an array is copied: nobody uses such, and the socket takes arrays.
            _appendParts[2] = MemoryMarshal.TryGetArray(command.Group, out var group) ? group : command.Group.ToArray();
        }

        var head = _length;
        if (command.Count > 0)
        {
            EndLine();
        }

        Number(command.Changes);
        if (command.Count > 0)
        {
            _parts[1] = new ArraySegment<byte>(_arguments, 0, head);
            _parts[3] = new ArraySegment<byte>(_arguments, head, _length - head);
        }
        else
        {
            _parts[1] = new ArraySegment<byte>(_arguments, 0, _length);
        }

        Bytes = _script.ByName.Length + _length + command.Group.Length;
        if (Waits)
        {
            WaitsForDisk = _replicas.IsForDisk;
            _parts[^1] = _replicas.Command(WaitsForDisk);
        }
    }

    /// <summary>Lets go of the group.</summary>
    public void Clear() => _appendParts[2] = default;

    private ArraySegment<byte>[] With(byte[] start)
    {
        _parts[0] = start;
        return _parts;
    }

    private void Number(long number)
    {
        Span<byte> digits = stackalloc byte[20];
        _ = Utf8Formatter.TryFormat(number, digits, out var length);
        Head('$', length);
        digits[..length].CopyTo(_arguments.AsSpan(_length));
        _length += length;
        EndLine();
    }

    private void Text(string ascii)
    {
        Head('$', ascii.Length);
        _length += Encoding.ASCII.GetBytes(ascii, _arguments.AsSpan(_length));
        EndLine();
    }

    private void Head(char kind, int number)
    {
        _arguments[_length++] = (byte)kind;
        _ = Utf8Formatter.TryFormat(number, _arguments.AsSpan(_length), out var length);
        _length += length;
        EndLine();
    }

    private void EndLine()
    {
        LineEnd.CopyTo(_arguments, _length);
        _length += LineEnd.Length;
    }

    /// <summary>What every command of a script begins with.</summary>
    private sealed class Script(RedisScript script, RedisKey[] keys, int arguments)
    {
        public byte[] ByName { get; } = Start("EVALSHA", script.Sha, keys, arguments);

        public byte[] ByText { get; } = Start("EVAL", script.Text, keys, arguments);

        private static byte[] Start(string name, string script, RedisKey[] keys, int arguments)
        {
            var bytes = new MemoryStream();
            bytes.Write(Encoding.ASCII.GetBytes(string.Create(CultureInfo.InvariantCulture, $"*{3 + keys.Length + arguments}\r\n")));
            bytes.Write(RespText.Bulk(name));
            bytes.Write(RespText.Bulk(script));
            bytes.Write(RespText.Bulk(keys.Length.ToString(CultureInfo.InvariantCulture)));
            foreach (var key in keys)
            {
                bytes.Write(RespText.Bulk((byte[])key!));
            }

            return bytes.ToArray();
        }
    }
}

/// <summary>Texts of commands, for what is made once.</summary>
internal static class RespText
{
    public static byte[] Bulk(string text) => Bulk(Encoding.UTF8.GetBytes(text));

    public static byte[] Bulk(byte[] text) =>
        [.. Encoding.ASCII.GetBytes(string.Create(CultureInfo.InvariantCulture, $"${text.Length}\r\n")), .. text, (byte)'\r', (byte)'\n'];
}
