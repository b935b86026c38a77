using System.Diagnostics;
using System.Globalization;
using System.Net.Http.Headers;
using System.Security.Cryptography;
using System.Text;
using System.Text.Json;
using Snapper.Live.Harness;

namespace Snapper.Live.Exhaust;

/// <summary>
/// One worker of <c>./snapper up</c>, with the real daprd and Redis, and little memory: a heap of 768 MiB, and Redis
/// with 200 MB. Two callers may run transactions, each with a token of its own; the third one operates.
/// </summary>
internal sealed class ExhaustSystem : IAsyncDisposable
{
    /// <summary>The worker's heap, in bytes.</summary>
    public const long Heap = 768L << 20;

    private readonly PrivateRedis _redis = new();
    private readonly HttpClient _operator;
    private SnapperProcess? _process;

    private ExhaustSystem()
    {
        (Others, Attacker, Operator) = (NewToken(), NewToken(), NewToken());
        _operator = ClientOf(Operator);
    }

    /// <summary>The token of those who work.</summary>
    public string Others { get; }

    /// <summary>The token of the one who attacks.</summary>
    public string Attacker { get; }

    /// <summary>An admin's.</summary>
    public string Operator { get; }

    /// <summary>The worker's own API.</summary>
    public Uri Worker => _process!.Worker.Url;

    public static async Task<ExhaustSystem> Start(CancellationToken cancellation)
    {
        var system = new ExhaustSystem();
        try
        {
            await system._redis.Start();
            await system._redis.Ask("CONFIG SET maxmemory 200000000");
            var options = UpOptions.Random(embedded: false, 2);
            var tokens = Path.Combine(options.Data, "tokens");
            Directory.CreateDirectory(options.Data);
            await File.WriteAllLinesAsync(
                tokens,
                [Line("others", system.Others, "caller"), Line("attacker", system.Attacker, "caller"),
                    Line("operator", system.Operator, "admin")],
                cancellation);
            if (!OperatingSystem.IsWindows())
            {
                File.SetUnixFileMode(tokens, UnixFileMode.UserRead | UnixFileMode.UserWrite);
            }

            system._process = await SnapperProcess.Start(
                options with
                {
                    Redis = system._redis.Address,
                    Environment = new Dictionary<string, string>
                    {
                        ["SNAPPER_TOKENS_FILE"] = tokens,
                        ["APP_API_TOKEN"] = NewToken(),
                        ["DOTNET_GCHeapHardLimit"] = Heap.ToString("x", CultureInfo.InvariantCulture),
                    },
                },
                cancellation);
            return system;
        }
        catch
        {
            await system.DisposeAsync();
            throw;
        }
    }

    /// <summary>A client that shows a token.</summary>
    public static HttpClient ClientOf(string token)
    {
        var client = new HttpClient { Timeout = TimeSpan.FromSeconds(60) };
        client.DefaultRequestHeaders.Authorization = new AuthenticationHeaderValue("Bearer", token);
        return client;
    }

    /// <summary>Resident bytes of the worker's process, or of no process: 0.</summary>
    public long ResidentBytes()
    {
        try
        {
            using var worker = Process.GetProcessById(_process!.Worker.Pid);
            return worker.WorkingSet64;
        }
        catch (ArgumentException)
        {
            return 0; // it has ended
        }
    }

    /// <summary>Makes an actor's list long: its JSON has some 900,000 bytes.</summary>
    public async Task WriteLargeList(string id, CancellationToken cancellation)
    {
        var state = new StringBuilder("[");
        for (var i = 0; i < 128_000; i++)
        {
            state.Append(i == 0 ? "" : ",").Append(100_000 + i);
        }

        using var content = new StringContent(state.Append(']').ToString(), Encoding.UTF8, "application/json");
        using var answer = await _operator.PutAsync(
            new Uri(Worker, $"/v1/actors/ListAppend/{id}"), content, cancellation);
        var text = await answer.Content.ReadAsStringAsync(cancellation);
        if (!text.Contains("\"committed\"", StringComparison.Ordinal))
        {
            throw new InvalidOperationException($"The large list was not written: {(int)answer.StatusCode} {text}");
        }
    }

    public async ValueTask DisposeAsync()
    {
        _operator.Dispose();
        if (_process is not null)
        {
            await _process.DisposeAsync();
        }

        _redis.Dispose();
    }

    private static string NewToken() => "snapper_" + Convert.ToHexStringLower(RandomNumberGenerator.GetBytes(32));

    private static string Line(string name, string token, string role) => JsonSerializer.Serialize(
        new { name, sha256 = Convert.ToHexStringLower(SHA256.HashData(Encoding.UTF8.GetBytes(token))), role });
}
