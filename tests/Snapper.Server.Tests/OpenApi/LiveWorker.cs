using System.Net;
using Snapper.Cli.Supervision;
using Snapper.Server.Commands;
using Snapper.Server.Hosting;
using Snapper.Server.Tests.Harness;

namespace Snapper.Server.Tests.OpenApi;

/// <summary>A whole worker in this process: HTTP, embedded sidecar, log in files; it wants a token.</summary>
internal sealed class LiveWorker : IAsyncDisposable
{
    public const string Token = "open sesame";

    private readonly TempFolder _temp = new();
    private readonly CancellationTokenSource _stop = new();
    private readonly Task<int> _running;

    private LiveWorker()
    {
        var ports = Ports.Free(2);
        var settings = WorkerCommand.Settings(
            ["--listen-port", $"{ports[0]}", "--sidecar-port", $"{ports[1]}", "--sidecar", "embedded", "--data", _temp.Path],
            name => name == "APP_API_TOKEN" ? Token : null);
        Address = new Uri($"http://127.0.0.1:{ports[0]}");
        _running = WorkerProcess.Run(settings, _stop.Token);
    }

    public Uri Address { get; }

    public static async Task<LiveWorker> Start()
    {
        var worker = new LiveWorker();
        using var http = new HttpClient { BaseAddress = worker.Address };
        await Eventually.True("the worker is ready", async () =>
        {
            if (worker._running.IsCompleted) throw new InvalidOperationException($"The worker ended with {await worker._running}.");
            try
            {
                using var answer = await http.GetAsync("/readyz");
                return answer.StatusCode == HttpStatusCode.OK;
            }
            catch (HttpRequestException)
            {
                return false;
            }
        });
        return worker;
    }

    public async ValueTask DisposeAsync()
    {
        await _stop.CancelAsync();
        await _running;
        _stop.Dispose();
        _temp.Dispose();
    }
}
