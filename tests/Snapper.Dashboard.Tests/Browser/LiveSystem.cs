using System.Net.Http.Json;
using System.Text.Json;
using Snapper.Live.Harness;

namespace Snapper.Dashboard.Tests.Browser;

/// <summary><c>./snapper up</c> with two workers, its dashboard, and a light mixed load on few accounts, of which some transactions abort.</summary>
public sealed class LiveSystem : IAsyncLifetime
{
    private const int Clients = 2;

    private readonly CancellationTokenSource _over = new();
    private readonly HttpClient _http = new() { Timeout = TimeSpan.FromSeconds(40) };
    private SnapperProcess? _snapper;
    private Task _load = Task.CompletedTask;
    private long _committed;

    /// <summary>Address of the dashboard.</summary>
    public string Dashboard => $"http://127.0.0.1:{_snapper!.Options.DashboardPort}";

    internal SnapperProcess Snapper => _snapper!;

    /// <summary>Committed by this load so far.</summary>
    public long Committed => Interlocked.Read(ref _committed);

    public async Task InitializeAsync()
    {
        _snapper = await SnapperProcess.Start(UpOptions.Random(embedded: false, 2, 11) with
        {
            More = ["--workers", "2"], Environment = new Dictionary<string, string> { ["SNAPPER_DASHBOARD"] = "on" },
        });
        _load = Task.WhenAll(Enumerable.Range(0, Clients).Select(Load));
        await Eventually.Holds("the load to run", TimeSpan.FromSeconds(60), () => Task.FromResult(Committed > 50 ? null : $"{Committed} committed"));
    }

    public async Task DisposeAsync()
    {
        await _over.CancelAsync();
        await _load;
        if (_snapper is not null)
        {
            try
            {
                await _snapper.Stop();
            }
            finally
            {
                await _snapper.DisposeAsync();
            }

            Directory.Delete(_snapper.Options.Data, recursive: true); // of one that did not stop it is kept, with its logs
        }

        _http.Dispose();
        _over.Dispose();
    }

    /// <summary>A worker's own answer.</summary>
    internal async Task<JsonElement> Ask(int worker, string path) => await _http.GetFromJsonAsync<JsonElement>(new Uri(_snapper!.Ready.Workers[worker].Url, path));

    private async Task Load(int client)
    {
        var random = new Random(client);
        for (var i = 0; !_over.IsCancellationRequested; i++)
        {
            var from = $"acc-{(int)(100 * Math.Pow(random.NextDouble(), 3))}";
            var to = $"acc-{100 + random.Next(20)}";
            var body = new Dictionary<string, object>
            {
                ["actor"] = new { type = "Account", id = from }, ["method"] = "Transfer", ["id"] = $"load-{client}-{i}",
                ["input"] = new { to, amount = random.Next(100) < 4 ? 1_000_000_000 : 1 },
            };
            var kind = random.Next(100);
            if (kind < 50) body["access"] = new Dictionary<string, string[]> { ["Account"] = kind < 3 ? [from] : [from, to] };
            try
            {
                var worker = _snapper!.Ready.Workers[random.Next(2)].Url;
                using var response = await _http.PostAsJsonAsync(new Uri(worker, "/v1/transactions"), body, _over.Token);
                if (response.IsSuccessStatusCode) Interlocked.Increment(ref _committed);
                await Task.Delay(40, _over.Token);
            }
            catch (OperationCanceledException) when (_over.IsCancellationRequested)
            {
                return;
            }
            catch (HttpRequestException)
            {
                // A worker that a test moves everything away from, or ends, is not what is tested here.
                await Task.Delay(200, CancellationToken.None);
            }
        }
    }
}

/// <summary>Tests that share the running system.</summary>
[CollectionDefinition(Name)]
public sealed class OnLiveSystem : ICollectionFixture<LiveSystem>, ICollectionFixture<Chromium>
{
    /// <summary>The collection's name.</summary>
    public const string Name = "live system";
}
