using System.Collections.Concurrent;
using System.Diagnostics;
using System.Net;
using System.Text;

namespace Snapper.Live.Exhaust;

/// <summary>
/// Those who work while one attacks: callers that transfer between accounts, one after the other each, half of them
/// PACTs.
/// </summary>
internal sealed class Others : IAsyncDisposable
{
    private const int Callers = 12;
    private const int Accounts = 1000;

    private readonly CancellationTokenSource _end = new();
    private readonly HttpClient _client;
    private readonly Uri _address;
    private readonly Task[] _callers;
    private ConcurrentBag<Seen> _seen = [];

    public Others(ExhaustSystem system)
    {
        _client = ExhaustSystem.ClientOf(system.Others);
        _address = new Uri(system.Worker, "/v1/transactions");
        _callers = [.. Enumerable.Range(0, Callers).Select(caller => Task.Run(() => Call(new Random(caller))))];
    }

    /// <summary>What they see from now until <paramref name="done"/> has ended.</summary>
    public async Task<Sight> Watch(Task done)
    {
        _seen = [];
        var began = Stopwatch.GetTimestamp();
        await done;
        return new Sight([.. _seen], Stopwatch.GetElapsedTime(began));
    }

    public async ValueTask DisposeAsync()
    {
        await _end.CancelAsync();
        await Task.WhenAll(_callers);
        _client.Dispose();
        _end.Dispose();
    }

    private async Task Call(Random random)
    {
        while (!_end.IsCancellationRequested)
        {
            var (from, to) = (random.Next(Accounts), random.Next(Accounts));
            if (from == to)
            {
                continue;
            }

            var access = random.Next(2) == 0 ? "" : $",\"access\":{{\"Account\":[\"o{from}\",\"o{to}\"]}}";
            using var content = new StringContent(
                $"{{\"actor\":{{\"type\":\"Account\",\"id\":\"o{from}\"}},\"method\":\"Transfer\","
                + $"\"input\":{{\"to\":\"o{to}\",\"amount\":1}}{access}}}",
                Encoding.UTF8,
                "application/json");
            var began = Stopwatch.GetTimestamp();
            HttpStatusCode? status = null;
            try
            {
                using var answer = await _client.PostAsync(_address, content, _end.Token);
                await answer.Content.ReadAsByteArrayAsync(_end.Token);
                status = answer.StatusCode;
            }
            catch (OperationCanceledException) when (_end.IsCancellationRequested)
            {
                return;
            }
            catch (Exception broken) when (broken is HttpRequestException or OperationCanceledException)
            {
                // Counted: it has no status.
                await Task.Delay(10);
            }

            _seen.Add(new Seen(Stopwatch.GetElapsedTime(began).TotalMilliseconds, status));
        }
    }

    /// <summary>One answer; without a status: the connection broke, or nothing came for a minute.</summary>
    internal readonly record struct Seen(double Ms, HttpStatusCode? Status);

    /// <summary>What they saw for some time.</summary>
    internal sealed class Sight(Seen[] seen, TimeSpan time)
    {
        private readonly double[] _ms = [.. seen.Select(static one => one.Ms).Order()];

        /// <summary>Answers of a transaction, whatever its outcome, per second.</summary>
        public double PerSecond => seen.Count(static one => one.Status == HttpStatusCode.OK) / time.TotalSeconds;

        /// <summary>Answers 500 to 599, and none.</summary>
        public int Failed => seen.Count(static one => one.Status is null || (int)one.Status >= 500);

        /// <summary>In milliseconds; NaN: there was no answer.</summary>
        public double P99 => _ms.Length == 0 ? double.NaN : _ms[(int)(0.99 * (_ms.Length - 1))];
    }
}
