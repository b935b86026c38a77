using System.Net.Http.Json;
using System.Text.Json;
using Microsoft.Extensions.Logging;
using Snapper.Sidecar.Client;

namespace Snapper.Sidecar.Embedded;

/// <summary>Waits for the app to listen and asks it once for its actor types, as daprd does at its start.</summary>
internal sealed class AppConfigReader : IAsyncDisposable
{
    private static readonly TimeSpan RetryInterval = TimeSpan.FromMilliseconds(50);

    private readonly CancellationTokenSource _stop = new();
    private readonly TaskCompletionSource<DaprConfig> _ready = new(TaskCreationOptions.RunContinuationsAsynchronously);
    private readonly AppChannel _app;
    private readonly ILogger _logger;
    private readonly Task _reading;

    public AppConfigReader(AppChannel app, ILogger logger)
    {
        _app = app;
        _logger = logger;
        _reading = Read();
    }

    /// <summary>The app's configuration; completes once the app has answered, and is cancelled when the stand-in stops.</summary>
    public Task<DaprConfig> Ready => _ready.Task;

    public async ValueTask DisposeAsync()
    {
        await _stop.CancelAsync();
        await _reading;
        _stop.Dispose();
    }

    private async Task Read()
    {
        string? lastProblem = null;
        while (!_stop.IsCancellationRequested)
        {
            try
            {
                _ready.SetResult(await Ask());
                return;
            }
            catch (Exception problem) when (problem is HttpRequestException or JsonException or InvalidOperationException)
            {
                // The app is not up yet, or not the one we want: say so once per kind of problem and ask again.
                if (problem.Message != lastProblem)
                {
                    lastProblem = problem.Message;
                    EmbeddedLog.AppNotReady(_logger, problem.Message);
                }
            }
            catch (OperationCanceledException)
            {
                break;
            }

            await Task.Delay(RetryInterval, _stop.Token).ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
        }

        _ready.TrySetCanceled();
    }

    private async Task<DaprConfig> Ask()
    {
        using var request = _app.Request(HttpMethod.Get, "/dapr/config");
        using var response = await _app.Send(request, _stop.Token);
        if ((int)response.StatusCode == 404)
        {
            // An app without actors.
            return new DaprConfig();
        }

        if (!response.IsSuccessStatusCode)
        {
            throw new InvalidOperationException($"The app answered {(int)response.StatusCode} to GET /dapr/config.");
        }

        return await response.Content.ReadFromJsonAsync(SidecarJson.Default.DaprConfig, _stop.Token)
            ?? throw new JsonException("The configuration is null.");
    }
}
