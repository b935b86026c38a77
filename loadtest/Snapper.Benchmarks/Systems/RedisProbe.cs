using System.Globalization;
using System.Net.Sockets;
using System.Text;

namespace Snapper.Benchmarks.Systems;

/// <summary>Asks a Redis server on this machine who it is, so that its CPU time counts and its durability stands in the table.</summary>
public static class RedisProbe
{
    /// <summary>Process id, version and fsync policy of the server at <c>host:port</c>; no password: it asks for none.</summary>
    public static async Task<(int ProcessId, string Version, string Fsync)> AskAsync(string address, string? password)
    {
        var colon = address.LastIndexOf(':');
        using var client = new TcpClient();
        await client.ConnectAsync(address[..colon], int.Parse(address[(colon + 1)..], CultureInfo.InvariantCulture));
        using var stream = client.GetStream();
        if (password is not null) await CallAsync(stream, $"AUTH {password}\r\n");
        var server = await CallAsync(stream, "INFO server\r\n");
        var appendOnly = await CallAsync(stream, "CONFIG GET appendonly\r\n");
        var fsync = await CallAsync(stream, "CONFIG GET appendfsync\r\n");
        var on = appendOnly.Contains("yes", StringComparison.Ordinal);
        var policy = fsync.Contains("always", StringComparison.Ordinal) ? "always" : fsync.Contains("everysec", StringComparison.Ordinal) ? "everysec" : "no";
        return (int.Parse(Field(server, "process_id"), CultureInfo.InvariantCulture), Field(server, "redis_version"), on ? policy : "none (appendonly no)");
    }

    /// <summary>The value of a line <c>name:value</c>.</summary>
    internal static string Field(string info, string name)
    {
        foreach (var line in info.Split('\n'))
        {
            if (line.StartsWith(name + ":", StringComparison.Ordinal))
            {
                return line[(name.Length + 1)..].Trim();
            }
        }

        throw new InvalidDataException($"Redis did not tell its {name}.");
    }

    // Enough RESP for the questions above: a simple answer, a bulk string, or a list of two.
    private static async Task<string> CallAsync(NetworkStream stream, string command)
    {
        await stream.WriteAsync(Encoding.ASCII.GetBytes(command));
        using var reader = new StreamReader(stream, Encoding.UTF8, leaveOpen: true);
        var head = await reader.ReadLineAsync() ?? throw new InvalidDataException("Redis closed the connection.");
        if (head.StartsWith('$'))
        {
            return await BulkAsync(reader, head);
        }

        if (head == "+OK")
        {
            return head;
        }

        if (!head.StartsWith('*'))
        {
            throw new InvalidDataException($"Redis answered \"{head}\" to \"{command.Split(' ')[0]}\".");
        }

        var text = new StringBuilder();
        for (var left = int.Parse(head.AsSpan(1), CultureInfo.InvariantCulture); left > 0; left--)
        {
            text.Append(await BulkAsync(reader, await reader.ReadLineAsync() ?? "")).Append('\n');
        }

        return text.ToString();
    }

    private static async Task<string> BulkAsync(StreamReader reader, string head)
    {
        var buffer = new char[int.Parse(head.AsSpan(1), CultureInfo.InvariantCulture) + 2];
        await reader.ReadBlockAsync(buffer);
        return new string(buffer, 0, buffer.Length - 2);
    }
}
