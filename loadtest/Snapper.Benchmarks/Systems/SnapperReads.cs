using System.Net.Http.Json;
using System.Text.Json;
using Snapper.Benchmarks.Load;

namespace Snapper.Benchmarks.Systems;

/// <summary>Reads states at a worker's HTTP API, to check what a load has left behind.</summary>
public sealed class SnapperReads(Uri worker) : IDisposable
{
    // The most that one read may name.
    private const int Together = 256;

    private readonly HttpClient _client = new() { BaseAddress = worker, Timeout = TimeSpan.FromSeconds(30) };

    /// <summary>What the checking accounts hold together.</summary>
    public async Task<decimal> SumAsync(int accounts)
    {
        var sum = 0m;
        foreach (var some in Enumerable.Range(0, accounts).Select(AccountIds.Of).Chunk(Together))
        {
            foreach (var state in await StatesAsync("Account", some))
            {
                sum += state is { } written ? written.GetProperty("checking").GetDecimal() : Balances.Initial;
            }
        }

        return sum;
    }

    /// <summary>A list of <c>ListAppend</c>.</summary>
    public async Task<IReadOnlyList<long>> ListAsync(string key)
    {
        var states = await StatesAsync("ListAppend", [key]);
        return states[0] is { } list ? [.. list.EnumerateArray().Select(static value => value.GetInt64())] : [];
    }

    /// <inheritdoc />
    public void Dispose() => _client.Dispose();

    // Null: never written.
    private async Task<JsonElement?[]> StatesAsync(string type, string[] ids)
    {
        var actors = ids.Select(id => new { type, id }).ToArray();
        using var answer = await _client.PostAsJsonAsync("/v1/reads", new { actors });
        answer.EnsureSuccessStatusCode();
        var read = await answer.Content.ReadFromJsonAsync<JsonElement>();
        return [.. read.GetProperty("actors").EnumerateArray().Select(static actor => actor.GetProperty("state"))
            .Select(static state => state.ValueKind == JsonValueKind.Null ? (JsonElement?)null : state)];
    }
}
