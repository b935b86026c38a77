using System.Net.Sockets;

namespace Snapper.Live.Harness;

/// <summary>One command to a Redis, as a person types it.</summary>
internal static class RedisLine
{
    private static readonly TimeSpan Patience = TimeSpan.FromSeconds(10);

    /// <summary>A line of its answer.</summary>
    /// <param name="port">Where it listens on loopback.</param>
    /// <param name="command">As it is typed.</param>
    /// <param name="password">Null: it asks for none.</param>
    /// <param name="line">Which one, from 1.</param>
    /// <exception cref="SocketException">It does not listen; also <see cref="IOException"/>, <see cref="TimeoutException"/>.</exception>
    public static async Task<string?> Ask(int port, string command, string? password = null, int line = 1)
    {
        using var client = new TcpClient();
        await client.ConnectAsync("127.0.0.1", port);
        using var stream = client.GetStream();
        using var writer = new StreamWriter(stream) { NewLine = "\r\n", AutoFlush = true };
        using var reader = new StreamReader(stream);
        if (password is not null)
        {
            await writer.WriteLineAsync($"AUTH {password}");
            if (await reader.ReadLineAsync().WaitAsync(Patience) is var welcome && welcome != "+OK") return welcome;
        }

        await writer.WriteLineAsync(command);
        for (var before = 1; before < line; before++)
        {
            await reader.ReadLineAsync().WaitAsync(Patience);
        }

        return await reader.ReadLineAsync().WaitAsync(Patience);
    }

    /// <summary>The password of the Redis that <c>up</c> started on a data directory.</summary>
    public static string PasswordIn(string data) => File.ReadAllText(Path.Combine(data, "redis-password")).Trim();

    /// <summary>One value of INFO; null: it has none of this name.</summary>
    public static async Task<string?> Section(int port, string section, string name, string? password = null)
    {
        using var client = new TcpClient();
        await client.ConnectAsync("127.0.0.1", port);
        using var stream = client.GetStream();
        using var writer = new StreamWriter(stream) { NewLine = "\r\n", AutoFlush = true };
        using var reader = new StreamReader(stream);
        if (password is not null) await writer.WriteLineAsync($"AUTH {password}");
        await writer.WriteLineAsync($"INFO {section}");
        await writer.WriteLineAsync("QUIT");
        var text = await reader.ReadToEndAsync().WaitAsync(Patience);
        return text.Split('\n').FirstOrDefault(line => line.StartsWith(name + ":", StringComparison.Ordinal))?.Trim()[(name.Length + 1)..];
    }
}
