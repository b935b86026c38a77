using System.Text.Json;
using System.Text.Json.Serialization.Metadata;
using Snapper.AspNetCore.Api.Answers;
using Snapper.Contracts;
using Snapper.Runtime.Inspection;

namespace Snapper.AspNetCore.Api.Events;

/// <summary>
/// What a worker tells by itself, with the forms of the other requests: <c>status</c> at once and then each second, <c>batches</c> with the batches that committed since the last one,
/// <c>aborts</c> with the aborts since; the last two only when there are any.
/// </summary>
/// <remarks>It reads what the worker keeps anyway, so watchers cost the worker's threads nothing. More than fit into that within a second are left out.</remarks>
internal static class OwnEvents
{
    private const int RecentMax = 1000;

    private static readonly TimeSpan s_period = TimeSpan.FromSeconds(1);

    /// <summary>Sends them until the reader has gone.</summary>
    public static async Task Send(IWorkerInspection inspection, EventWriter writer)
    {
        var cancellation = writer.Over;
        var lastBatch = inspection.Status().HighestCommittedBatch;
        var lastAbort = (await inspection.Aborts(1, null, null, cancellation)).FirstOrDefault();
        using var timer = new PeriodicTimer(s_period);
        do
        {
            await Write(writer, "status", inspection.Status(), ContractJson.Default.WorkerStatus);
            var batches = Since(await inspection.Batches(RecentMax, cancellation), lastBatch);
            if (batches.Count > 0)
            {
                lastBatch = batches[0].Batch;
                await Write(writer, "batches", new BatchesView { Batches = batches }, ContractJson.Default.BatchesView);
            }

            var aborts = Since(await inspection.Aborts(RecentMax, null, null, cancellation), lastAbort);
            if (aborts.Count > 0)
            {
                lastAbort = aborts[0];
                await Write(writer, "aborts", new AbortsView { Aborts = aborts }, ContractJson.Default.AbortsView);
            }
        }
        while (await timer.WaitForNextTickAsync(cancellation));
    }

    /// <summary>Batches commit in the order of their numbers. An undone one never does; its PACTs come again in a later one.</summary>
    private static List<BatchView> Since(IReadOnlyList<BatchView> newestFirst, long last) =>
        [.. newestFirst.Where(batch => batch.Batch > last && batch.CommittedMs is not null)];

    private static List<AbortView> Since(IReadOnlyList<AbortView> newestFirst, AbortView? last) =>
        [.. newestFirst.TakeWhile(abort => !ReferenceEquals(abort, last))];

    private static async Task Write<TView>(EventWriter writer, string name, TView view, JsonTypeInfo<TView> form)
    {
        using var buffer = JsonBuffer.Rent();
        JsonSerializer.Serialize(buffer.Json, view, form);
        await writer.Send(name, isNumbered: false, buffer.Written);
    }
}
