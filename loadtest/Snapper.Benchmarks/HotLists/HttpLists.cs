using System.Buffers;
using System.Buffers.Text;
using System.Globalization;
using System.Net.Sockets;
using System.Text;
using System.Text.Json;
using Snapper.Benchmarks.InProcess;
using Snapper.Benchmarks.Load;

namespace Snapper.Benchmarks.HotLists;

/// <summary>Where a transaction is sent, and as what.</summary>
/// <param name="Target">Of each transaction.</param>
/// <param name="Path">Of all.</param>
/// <param name="Write">The body.</param>
public sealed record HttpListDoor(
    Func<ListTransaction, Uri> Target, string Path, Action<Utf8JsonWriter, ListTransaction> Write);

/// <summary>
/// One loop's transactions over HTTP: a kept-alive connection to each address, one request at a time. For one thread.
/// </summary>
public sealed class HttpLists(HttpListDoor door) : IDisposable
{
    private readonly Dictionary<Uri, HttpConnection> _connections = [];
    private readonly ArrayBufferWriter<byte> _body = new(1024);
    private readonly ArrayBufferWriter<byte> _request = new(1024);
    private readonly Utf8JsonWriter _json = new(Stream.Null);

    /// <summary>A closed loop with connections of its own.</summary>
    public static ListPipeline Loop(ListRun run, HttpListDoor door, ulong seed)
    {
        var lists = new HttpLists(door);
        return new ListPipeline(run, lists.Execute, seed, lists);
    }

    /// <summary>Runs one to its end.</summary>
    /// <exception cref="SocketException">The connection broke.</exception>
    /// <exception cref="InvalidDataException">The answer is neither a commit, nor an abort, nor in doubt.</exception>
    public async ValueTask<TransactionEnd> Execute(ListTransaction transaction)
    {
        var target = door.Target(transaction);
        Prepare(target, transaction);
        if (!_connections.TryGetValue(target, out var connection))
        {
            _connections[target] = connection = await HttpConnection.OpenAsync(target);
        }

        try
        {
            return Read(await connection.ExchangeAsync(_request.WrittenMemory));
        }
        catch (Exception broken) when (broken is SocketException or InvalidDataException)
        {
            _connections.Remove(target);
            connection.Dispose();
            throw;
        }
    }

    /// <inheritdoc />
    public void Dispose()
    {
        foreach (var connection in _connections.Values)
        {
            connection.Dispose();
        }

        _json.Dispose();
    }

    /// <summary>How a transaction ended, by its envelope.</summary>
    /// <exception cref="InvalidDataException">It says nothing of it.</exception>
    internal static TransactionEnd Read(in HttpAnswer answer)
    {
        var body = answer.Body.Span;
        var attempts = AttemptsOf(body);
        if (answer.Status == 200 && body.IndexOf("\"outcome\":\"committed\""u8) >= 0)
        {
            return new TransactionEnd(true, attempts, null);
        }

        if (body.IndexOf("\"outcome\":\"aborted\""u8) >= 0)
        {
            return new TransactionEnd(false, attempts, AnswerText.Reason(body));
        }

        return body.IndexOf("\"outcome\":\"inDoubt\""u8) >= 0
            ? new TransactionEnd(false, attempts, "in doubt") { InDoubt = true }
            : throw new InvalidDataException(AnswerText.Describe(answer));
    }

    private static int AttemptsOf(ReadOnlySpan<byte> body)
    {
        var mark = "\"attempts\":"u8;
        var at = body.IndexOf(mark);
        return at >= 0 && Utf8Parser.TryParse(body[(at + mark.Length)..], out int attempts, out _)
            ? Math.Max(1, attempts)
            : 1;
    }

    private void Prepare(Uri target, ListTransaction transaction)
    {
        _body.ResetWrittenCount();
        _json.Reset(_body);
        door.Write(_json, transaction);
        _json.Flush();
        _request.ResetWrittenCount();
        var length = _body.WrittenCount.ToString(CultureInfo.InvariantCulture);
        Encoding.ASCII.GetBytes(
            $"POST {door.Path} HTTP/1.1\r\nHost: {target.Authority}\r\nContent-Type: application/json\r\n", _request);
        Encoding.ASCII.GetBytes($"Content-Length: {length}\r\n\r\n", _request);
        _request.Write(_body.WrittenSpan);
    }
}
