using System.Net;
using System.Net.ServerSentEvents;
using System.Text.Json;
using Snapper.Dashboard.Workers;

namespace Snapper.Dashboard.Store;

/// <summary>Takes what a worker tells by itself.</summary>
internal interface IListener
{
    /// <summary>A view has changed, or is told for the first time.</summary>
    /// <param name="worker">Base address.</param>
    /// <param name="view">Path and query.</param>
    /// <param name="status">As if the worker had been asked.</param>
    /// <param name="body">UTF-8; gone afterwards.</param>
    void Told(Uri worker, string view, int status, ReadOnlySpan<byte> body);

    /// <summary>The worker tells no more.</summary>
    /// <param name="worker">Base address.</param>
    /// <param name="views">What it told.</param>
    /// <param name="heardAt">When it was heard last.</param>
    void Silent(Uri worker, IReadOnlyCollection<string> views, DateTimeOffset heardAt);
}

/// <summary>The stream of events of one worker: open while views are wanted of it, opened again with others when they change, and, by and by later, when it has failed. Thread-safe.</summary>
internal sealed partial class WorkerStream : IAsyncDisposable
{
    /// <summary>Workers tell their status each second; one that is not heard for this time is not there.</summary>
    private static readonly TimeSpan s_silenceMax = TimeSpan.FromSeconds(5);

    private static readonly TimeSpan s_retryMax = TimeSpan.FromSeconds(30);
    private static readonly TimeSpan s_retryOlder = TimeSpan.FromMinutes(1);
    private static readonly HashSet<string> s_nothing = [];

    private readonly Lock _lock = new();
    private readonly CancellationTokenSource _stop = new();
    private readonly Uri _url;
    private readonly WorkerApi _api;
    private readonly IListener _listener;
    private readonly ILogger _log;
    private readonly Task _running;
    private IReadOnlyList<string> _wanted = [];
    private CancellationTokenSource? _round;
    private volatile HashSet<string> _carried = s_nothing;
    private DateTimeOffset _heardAt;
    private int _failures;
    private bool _olderIsLogged;

    public WorkerStream(Uri url, WorkerApi api, IListener listener, ILogger log)
    {
        (_url, _api, _listener, _log) = (url, api, listener, log);
        _running = Task.Run(Run);
    }

    /// <summary>The worker tells this by itself now.</summary>
    public bool Carries(string view) => _carried.Contains(view);

    /// <summary>What the worker shall tell; nothing: the stream is closed.</summary>
    public void Want(IReadOnlyList<string> views)
    {
        lock (_lock)
        {
            if (_wanted.SequenceEqual(views)) return;
            _wanted = views;
            _round?.Cancel();
        }
    }

    public async ValueTask DisposeAsync()
    {
        await _stop.CancelAsync();
        await _running;
        _stop.Dispose();
    }

    private async Task Run()
    {
        while (!_stop.IsCancellationRequested)
        {
            using var round = CancellationTokenSource.CreateLinkedTokenSource(_stop.Token);
            IReadOnlyList<string> views;
            lock (_lock) (views, _round) = (_wanted, round);
            try
            {
                if (views.Count == 0)
                {
                    Close();
                    await Task.Delay(Timeout.InfiniteTimeSpan, round.Token).ConfigureAwait(false);
                }

                var retry = await Follow(views, round.Token).ConfigureAwait(false);
                Close();
                await Task.Delay(retry, _stop.Token).ConfigureAwait(false);
            }
            catch (OperationCanceledException) when (round.IsCancellationRequested)
            {
                // Other views are wanted, or it is over. What was told goes on being told as far as anybody is concerned.
            }
            finally
            {
                lock (_lock) _round = null;
            }
        }

        Close();
    }

    private void Close()
    {
        if (_carried.Count == 0) return;
        var carried = _carried;
        _carried = s_nothing;
        _listener.Silent(_url, carried, _heardAt);
    }

    /// <summary>Reads until it fails.</summary>
    /// <returns>When to try again.</returns>
    private async Task<TimeSpan> Follow(IReadOnlyList<string> views, CancellationToken cancellation)
    {
        using var silence = CancellationTokenSource.CreateLinkedTokenSource(cancellation);
        silence.CancelAfter(s_silenceMax);
        try
        {
            using var response = await _api.Events(_url, views, silence.Token).ConfigureAwait(false);
            if (response.StatusCode == HttpStatusCode.NotFound) return Older();
            if (!response.IsSuccessStatusCode) return Failed($"{(int)response.StatusCode}: {WorkerApi.Detail(await response.Content.ReadAsStringAsync(silence.Token).ConfigureAwait(false))}");
            using var body = new BoundedStream(await response.Content.ReadAsStreamAsync(silence.Token).ConfigureAwait(false), WorkerApi.LongestAnswer);
            HashSet<string> carried = [.. views];
            await foreach (var item in SseParser.Create(body, Take).EnumerateAsync(silence.Token).ConfigureAwait(false))
            {
                // One that does not know of views tells something else.
                if (!item.Data) return Older();
                if (_failures > 0) LogBack(_log, _url);
                (_failures, _olderIsLogged) = (0, false);
                _carried = carried;
                _heardAt = DateTimeOffset.UtcNow;
                body.Next();
                silence.CancelAfter(s_silenceMax);
            }

            return Failed("it was ended");
        }
        catch (OperationCanceledException) when (!cancellation.IsCancellationRequested)
        {
            return Failed($"nothing was heard for {s_silenceMax.TotalSeconds:0} s");
        }
        catch (Exception problem) when (problem is HttpRequestException or IOException)
        {
            return Failed(problem.Message);
        }
        catch (Exception problem) when (problem is not OperationCanceledException)
        {
            // Whatever a listener could not do must not leave its pages as they are for good.
            LogWrong(_log, problem, _url);
            return s_retryMax;
        }
    }

    private TimeSpan Older()
    {
        if (!_olderIsLogged) LogOlder(_log, _url);
        _olderIsLogged = true;
        return s_retryOlder;
    }

    private TimeSpan Failed(string why)
    {
        if (_failures == 0) LogFailed(_log, _url, why);
        return TimeSpan.FromSeconds(Math.Min(Math.Pow(2, Math.Min(_failures++, 10)), s_retryMax.TotalSeconds));
    }

    /// <summary>Takes an event, without a copy of what it holds.</summary>
    /// <returns>False: it is no view.</returns>
    private bool Take(string name, ReadOnlySpan<byte> data)
    {
        if (name != "view") return false;
        string? view = null;
        var (status, from, to) = (0, 0, 0);
        try
        {
            var json = new Utf8JsonReader(data);
            json.Read();
            while (json.Read() && json.TokenType == JsonTokenType.PropertyName)
            {
                var field = json.GetString();
                json.Read();
                if (field == "view") view = json.GetString();
                else if (field == "status") status = json.GetInt32();
                else if (field == "body" && json.TokenType != JsonTokenType.Null) from = (int)json.TokenStartIndex;
                json.Skip();
                if (field == "body" && from > 0) to = (int)json.BytesConsumed;
            }
        }
        catch (Exception wrong) when (wrong is JsonException or InvalidOperationException or FormatException)
        {
            throw new IOException($"an event that cannot be read: {wrong.Message}", wrong);
        }

        _listener.Told(_url, view ?? throw new IOException("an event that names no view"), status, data[from..to]);
        return true;
    }

    [LoggerMessage(EventId = 4001, Level = LogLevel.Information, Message = "{Worker} has no stream of views: it is of an older version, and asked once a second instead.")]
    private static partial void LogOlder(ILogger log, Uri worker);

    [LoggerMessage(EventId = 4002, Level = LogLevel.Warning, Message = "The stream of {Worker} is not there: {Why}. It is asked once a second until it is.")]
    private static partial void LogFailed(ILogger log, Uri worker, string why);

    [LoggerMessage(EventId = 4004, Level = LogLevel.Error, Message = "What {Worker} told could not be taken.")]
    private static partial void LogWrong(ILogger log, Exception problem, Uri worker);

    [LoggerMessage(EventId = 4003, Level = LogLevel.Information, Message = "The stream of {Worker} is there again.")]
    private static partial void LogBack(ILogger log, Uri worker);
}
