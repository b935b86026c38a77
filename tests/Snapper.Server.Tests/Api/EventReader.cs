using System.Net.ServerSentEvents;
using System.Text;
using System.Text.Json;

namespace Snapper.Server.Tests.Api;

/// <summary>A reader of a stream of views, by the framework's parser.</summary>
internal sealed class EventReader : IAsyncDisposable
{
    private readonly HttpResponseMessage _answer;
    private readonly CancellationTokenSource _timeout;
    private readonly IAsyncEnumerator<SseItem<string>> _items;

    private EventReader(HttpResponseMessage answer, Stream body, CancellationTokenSource timeout)
    {
        (_answer, _timeout) = (answer, timeout);
        _items = SseParser.Create(body, (_, data) => Encoding.UTF8.GetString(data)).EnumerateAsync(timeout.Token).GetAsyncEnumerator(timeout.Token);
    }

    public static async Task<EventReader> Open(HttpClient client, string query)
    {
        var answer = await client.GetAsync(new Uri("/v1/events?" + query, UriKind.Relative), HttpCompletionOption.ResponseHeadersRead);
        answer.EnsureSuccessStatusCode();
        var timeout = new CancellationTokenSource(TimeSpan.FromSeconds(40));
        return new EventReader(answer, await answer.Content.ReadAsStreamAsync(timeout.Token), timeout);
    }

    /// <summary>The next event; null: the stream has ended.</summary>
    public async Task<(string View, int Status, JsonElement Body)?> Next()
    {
        if (!await _items.MoveNextAsync()) return null;
        Xunit.Assert.Equal("view", _items.Current.EventType);
        Xunit.Assert.NotNull(_items.Current.EventId);
        var json = JsonDocument.Parse(_items.Current.Data).RootElement;
        return (json.GetProperty("view").GetString()!, json.GetProperty("status").GetInt32(), json.GetProperty("body"));
    }

    public async ValueTask DisposeAsync()
    {
        _answer.Dispose();
        try
        {
            await _items.DisposeAsync();
        }
        finally
        {
            _timeout.Dispose();
        }
    }
}
