using Snapper.AspNetCore.Hosting;
using Snapper.AspNetCore.Processes;
using Snapper.Cli.Supervision;
using Snapper.Fuzzing.Engine;
using Snapper.Server.Hosting;

namespace Snapper.Fuzzing.Http;

/// <summary>A worker as <c>snapper worker</c> runs it, in this process: real routing, real actors, a log in files.</summary>
internal sealed class RunningWorker : IDisposable
{
    private static readonly TimeSpan Patience = TimeSpan.FromSeconds(60);
    private readonly string _folder = Directory.CreateTempSubdirectory("snapper-fuzz-").FullName;
    private readonly CancellationTokenSource _stop = new();
    private readonly Task<int> _running;

    public RunningWorker()
    {
        var ports = Ports.Free(2);
        Port = ports[0];
        var settings = new WorkerSettings
        {
            Actors = ServerActors.Own,
            Name = "w1",
            ListenPort = ports[0],
            SidecarPort = ports[1],
            SidecarKind = SidecarKind.Daprd,
            LogKind = LogKind.File,
            DataDirectory = _folder,
            Fsync = FsyncPolicy.EverySecond,
        };
        _running = Task.Run(() => WorkerProcess.Run(settings, _stop.Token));
        var started = Environment.TickCount64;
        while (!IsReady())
        {
            if (_running.IsCompleted || Environment.TickCount64 - started > Patience.TotalMilliseconds)
            {
                throw new InvalidOperationException($"The worker did not become ready within {Patience.TotalSeconds:0} s.", _running.Exception);
            }

            Thread.Sleep(50);
        }
    }

    /// <summary>Where it listens.</summary>
    public int Port { get; }

    /// <summary>It has stopped by itself.</summary>
    public bool HasStopped => _running.IsCompleted;

    public void Dispose()
    {
        _stop.Cancel();
        _running.Wait(Patience);
        _stop.Dispose();
        Directory.Delete(_folder, recursive: true);
    }

    private bool IsReady()
    {
        try
        {
            return HttpExchange.Send(Port, Pieces.Bytes("GET /readyz HTTP/1.1\r\nHost: localhost\r\n\r\n")).Status == 200;
        }
        catch (Exception notYet) when (notYet is IOException or System.Net.Sockets.SocketException)
        {
            return false;
        }
    }
}
