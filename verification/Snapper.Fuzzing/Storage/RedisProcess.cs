using System.Diagnostics;
using System.Globalization;
using System.Net;
using System.Net.Sockets;
using Snapper.Cli.Supervision;

namespace Snapper.Fuzzing.Storage;

/// <summary>A redis-server of one's own: loopback, free port, nothing on disk.</summary>
internal sealed class RedisProcess : IDisposable
{
    private static readonly TimeSpan Patience = TimeSpan.FromSeconds(30);
    private readonly string _folder = Directory.CreateTempSubdirectory("snapper-fuzz-").FullName;
    private readonly Process _process;

    public RedisProcess()
    {
        Port = Ports.Free(1)[0];
        var start = new ProcessStartInfo(Executable!) { UseShellExecute = false, RedirectStandardOutput = true };
        foreach (var argument in (string[])["--port", Port.ToString(CultureInfo.InvariantCulture), "--bind", "127.0.0.1", "--dir", _folder, "--appendonly", "no", "--save", "", "--loglevel", "warning"])
        {
            start.ArgumentList.Add(argument);
        }

        _process = Process.Start(start)!;
        _ = _process.StandardOutput.ReadToEndAsync();
        var started = Stopwatch.GetTimestamp();
        while (!Answers())
        {
            if (_process.HasExited || Stopwatch.GetElapsedTime(started) > Patience)
            {
                throw new InvalidOperationException($"redis-server did not take connections on port {Port} within {Patience.TotalSeconds:0} s.");
            }

            Thread.Sleep(20);
        }
    }

    /// <summary>From SNAPPER_REDIS_SERVER or PATH; null: there is none.</summary>
    public static string? Executable { get; } = ExecutableFinder.System.Find("redis-server", "SNAPPER_REDIS_SERVER").FirstOrDefault(File.Exists);

    public int Port { get; }

    public void Dispose()
    {
        _process.Kill();
        _process.WaitForExit();
        _process.Dispose();
        Directory.Delete(_folder, recursive: true);
    }

    private bool Answers()
    {
        using var socket = new Socket(SocketType.Stream, ProtocolType.Tcp);
        try
        {
            socket.Connect(IPAddress.Loopback, Port);
            return true;
        }
        catch (SocketException)
        {
            return false;
        }
    }
}
