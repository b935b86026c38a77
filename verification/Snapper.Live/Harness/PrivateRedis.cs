using System.Diagnostics;
using System.Globalization;
using System.Net.Sockets;

namespace Snapper.Live.Harness;

/// <summary>A Redis of the test's own, for <c>up --redis</c>: durable, on one port and folder for all its lives, loopback only.</summary>
internal sealed class PrivateRedis : IDisposable
{
    private readonly string _folder = Directory.CreateTempSubdirectory("snapper-it-redis-").FullName;
    private Process? _process;

    public int Port { get; } = FreePorts.Base(0);

    /// <summary>Of its present life.</summary>
    public int Pid => _process!.Id;

    /// <summary>Where its files are; a backup is put here before it starts.</summary>
    public string Folder => _folder;

    public string Address => $"127.0.0.1:{Port}";

    /// <summary>Starts it on what its last life left, and waits until it answers.</summary>
    /// <param name="appendOnly">Whether it begins with an append-only file; no: it begins with <c>dump.rdb</c>.</param>
    public async Task Start(bool appendOnly = true)
    {
        _process = Process.Start(new ProcessStartInfo(ServerPrograms.PathOf("redis-server"),
        [
            "--port", Port.ToString(CultureInfo.InvariantCulture), "--bind", "127.0.0.1", "--save", "", "--appendonly", appendOnly ? "yes" : "no", "--appendfsync", "always",
            "--logfile", "redis.log",
        ])
        { WorkingDirectory = _folder })!;
        await Eventually.Holds($"Redis on {Address} to answer", TimeSpan.FromSeconds(20), async () =>
        {
            try
            {
                return await Ask("PING") == "+PONG" ? null : "it answers otherwise";
            }
            catch (Exception away) when (away is SocketException or IOException)
            {
                return away.Message;
            }
        });
    }

    /// <summary>kill -9.</summary>
    public async Task Kill()
    {
        _process!.Kill();
        await _process.WaitForExitAsync();
        _process.Dispose();
        _process = null;
    }

    /// <summary>The first line of its answer to one command.</summary>
    public Task<string?> Ask(string command) => RedisLine.Ask(Port, command);

    public void Dispose()
    {
        if (_process is not null)
        {
            _process.Kill();
            _process.WaitForExit();
            _process.Dispose();
        }

        Directory.Delete(_folder, recursive: true);
    }
}
