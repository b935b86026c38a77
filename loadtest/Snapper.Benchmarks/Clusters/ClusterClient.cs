using System.Globalization;
using System.Net.Http.Json;
using System.Text.Json;
using Snapper.Benchmarks.Load;
using Snapper.Benchmarks.Systems;
using Snapper.Protocol.Identity;

namespace Snapper.Benchmarks.Clusters;

/// <summary>A worker as the others know it.</summary>
public sealed record SeenWorker(string Name, long Epoch, string State, bool IsMaster, int ProcessId);

/// <summary>Asks workers of <c>./snapper up</c> about themselves.</summary>
public sealed class ClusterClient(Uri worker) : IDisposable
{
    private readonly HttpClient _client = new() { BaseAddress = worker, Timeout = TimeSpan.FromSeconds(5) };

    /// <summary>All workers, by number.</summary>
    public async Task<IReadOnlyList<SeenWorker>> WorkersAsync()
    {
        var answer = await _client.GetFromJsonAsync<JsonElement>("/v1/workers");
        return answer.GetProperty("workers").EnumerateArray().Select(static each => new SeenWorker(
            each.GetProperty("worker").GetString()!, each.GetProperty("epoch").GetInt64(), each.GetProperty("state").GetString()!,
            each.GetProperty("master").GetBoolean(), each.GetProperty("pid").GetInt32())).ToArray();
    }

    /// <summary>The worker of each account, 1 for <c>w1</c>.</summary>
    /// <exception cref="InvalidOperationException">A partition has no owner.</exception>
    public async Task<int[]> OwnersAsync(int accounts, IReadOnlyList<ReadyWorker> workers)
    {
        var byPartition = await PartitionsAsync(workers);
        var owners = new int[accounts];
        for (var i = 0; i < accounts; i++)
        {
            owners[i] = byPartition[Partition.Of(new ActorKey("Account", AccountIds.Of(i))).Number];
            if (owners[i] == 0)
            {
                throw new InvalidOperationException($"Account {AccountIds.Of(i)} has no owner.");
            }
        }

        return owners;
    }

    /// <summary>The worker of each partition, 1 for <c>w1</c>; 0: none.</summary>
    public async Task<int[]> PartitionsAsync(IReadOnlyList<ReadyWorker> workers)
    {
        var byPartition = new int[Partition.Count];
        foreach (var worker in workers)
        {
            var answer = await _client.GetFromJsonAsync<JsonElement>($"/v1/directory?worker={worker.Name}");
            foreach (var partition in answer.GetProperty("partitions").EnumerateArray())
            {
                byPartition[partition.GetInt32()] = int.Parse(worker.Name.AsSpan(1), NumberStyles.None, CultureInfo.InvariantCulture);
            }
        }

        return byPartition;
    }

    /// <inheritdoc />
    public void Dispose() => _client.Dispose();
}
