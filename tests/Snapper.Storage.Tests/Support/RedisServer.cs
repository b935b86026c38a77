using System.Diagnostics;
using System.Net;
using System.Net.Sockets;
using System.Runtime.InteropServices;
using System.Text;

namespace Snapper.Storage.Tests.Support;

/// <summary>
/// A redis-server of one's own: loopback, free port, own folder, <c>appendonly yes</c>, <c>appendfsync always</c>. Found by the environment
/// variable SNAPPER_REDIS_SERVER or on PATH. Needs nothing but the base class library, so that it can be copied.
/// </summary>
public sealed class RedisServer : IAsyncDisposable
{
    public const string NotFound = "no redis-server: set SNAPPER_REDIS_SERVER or put it on PATH";
    private const int SigStop = 19;
    private const int SigCont = 18;
    private const int SigKill = 9;
    private readonly string[] _more;
    private Process? _process;

    private RedisServer(string executable, int port, string folder, string[] more)
    {
        Executable = executable;
        Port = port;
        Folder = folder;
        _more = more;
    }

    public string Executable { get; }

    public int Port { get; }

    public string Folder { get; }

    public static string? FindExecutable()
    {
        var given = Environment.GetEnvironmentVariable("SNAPPER_REDIS_SERVER");
        if (!string.IsNullOrEmpty(given))
        {
            return File.Exists(given) ? given : null;
        }

        foreach (var folder in (Environment.GetEnvironmentVariable("PATH") ?? "").Split(Path.PathSeparator, StringSplitOptions.RemoveEmptyEntries))
        {
            var candidate = Path.Combine(folder, "redis-server");
            if (File.Exists(candidate))
            {
                return candidate;
            }
        }

        return null;
    }

    /// <summary>Starts a server; further arguments override the defaults.</summary>
    public static async Task<RedisServer> Start(params string[] more)
    {
        var executable = FindExecutable() ?? throw new InvalidOperationException(NotFound);
        for (var attempt = 1; ; attempt++)
        {
            var server = new RedisServer(executable, FreePort(), Directory.CreateTempSubdirectory("snapper-redis-").FullName, more);
            try
            {
                await server.Restart();
                return server;
            }
            catch (InvalidOperationException) when (attempt < 5)
            {
                // Another process took the port between our look and the server's start.
                await server.DisposeAsync();
            }
        }
    }

    /// <summary>Starts the server again in its folder and waits until it answers.</summary>
    public async Task Restart()
    {
        var start = new ProcessStartInfo(Executable) { RedirectStandardOutput = true, RedirectStandardError = true };
        string[] arguments =
        [
            "--port", $"{Port}", "--bind", "127.0.0.1", "--dir", Folder, "--appendonly", "yes", "--appendfsync", "always",
            "--save", "", "--daemonize", "no", "--loglevel", "warning", .. _more,
        ];
        foreach (var argument in arguments)
        {
            start.ArgumentList.Add(argument);
        }

        var said = new StringBuilder();
        var process = Process.Start(start)!;
        process.OutputDataReceived += (_, line) => said.AppendLine(line.Data);
        process.ErrorDataReceived += (_, line) => said.AppendLine(line.Data);
        process.BeginOutputReadLine();
        process.BeginErrorReadLine();
        _process = process;
        var deadline = Stopwatch.StartNew();
        while (!await Answers())
        {
            if (process.HasExited)
            {
                throw new InvalidOperationException($"redis-server ended with code {process.ExitCode}: {said}");
            }

            if (deadline.Elapsed > TimeSpan.FromSeconds(20))
            {
                throw new TimeoutException($"redis-server did not answer PING within 20 s: {said}");
            }

            await Task.Delay(10);
        }
    }

    /// <summary>kill -9; returns when the process is gone.</summary>
    public async Task Kill()
    {
        if (_process is { } process)
        {
            _process = null;
            Signal(process, SigKill);
            await process.WaitForExitAsync();
            process.Dispose();
        }
    }

    /// <summary>Stops the process in its tracks; its connections stay open.</summary>
    public void Pause() => Signal(_process!, SigStop);

    public void Continue() => Signal(_process!, SigCont);

    /// <summary>Throws away what the server had on disk; only while it is down.</summary>
    public void Wipe()
    {
        foreach (var entry in Directory.GetFileSystemEntries(Folder))
        {
            if (Directory.Exists(entry))
            {
                Directory.Delete(entry, recursive: true);
            }
            else
            {
                File.Delete(entry);
            }
        }
    }

    /// <summary>Runs one command over a connection of its own and returns the answer as it came.</summary>
    public async Task<string> Command(params string[] words)
    {
        using var client = new TcpClient();
        await client.ConnectAsync(IPAddress.Loopback, Port);
        var text = new StringBuilder($"*{words.Length}\r\n");
        foreach (var word in words)
        {
            text.Append($"${Encoding.UTF8.GetByteCount(word)}\r\n{word}\r\n");
        }

        var stream = client.GetStream();
        await stream.WriteAsync(Encoding.UTF8.GetBytes(text.ToString()));
        var answer = new byte[64 * 1024];
        var length = await stream.ReadAsync(answer).AsTask().WaitAsync(TimeSpan.FromSeconds(10));
        return Encoding.UTF8.GetString(answer, 0, length);
    }

    public async ValueTask DisposeAsync()
    {
        await Kill();
        Directory.Delete(Folder, recursive: true);
    }

    private async Task<bool> Answers()
    {
        try
        {
            return (await Command("PING")).StartsWith("+PONG", StringComparison.Ordinal);
        }
        catch (SocketException)
        {
            return false;
        }
        catch (IOException)
        {
            return false;
        }
    }

    private static int FreePort()
    {
        using var listener = new TcpListener(IPAddress.Loopback, 0);
        listener.Start();
        return ((IPEndPoint)listener.LocalEndpoint).Port;
    }

    private static void Signal(Process process, int signal)
    {
        if (kill(process.Id, signal) != 0 && !process.HasExited)
        {
            throw new InvalidOperationException($"Signal {signal} to process {process.Id} failed: error {Marshal.GetLastPInvokeError()}.");
        }
    }

    [DllImport("libc", SetLastError = true)]
    private static extern int kill(int process, int signal);
}
