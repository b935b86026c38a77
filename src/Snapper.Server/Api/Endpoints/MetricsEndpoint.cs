using System.Globalization;
using System.Text;
using Snapper.Runtime.Inspection;
using Snapper.Server.Api.Answers;

namespace Snapper.Server.Api.Endpoints;

/// <summary>GET /metrics in the Prometheus text exposition format, version 0.0.4.</summary>
internal sealed class MetricsEndpoint(IWorkerInspection inspection)
{
    private const string ContentType = "text/plain; version=0.0.4; charset=utf-8";

    private static readonly double ProcessStartSeconds = StartOfProcess();

    public Task Scrape(HttpContext context)
    {
        var text = new StringBuilder(4096);
        Write(new PrometheusText(text), inspection.Status(), inspection.Checks());
        return Respond.Send(context, StatusCodes.Status200OK, ContentType, Encoding.UTF8.GetBytes(text.ToString()));
    }

    private static void Write(PrometheusText text, WorkerStatus status, IReadOnlyList<HealthCheck> checks)
    {
        text.Family("snapper_worker_info", "gauge", "Facts about the worker; always 1.");
        text.Sample(1, ("worker", status.Worker), ("version", status.Version), ("dapr", status.Dapr), ("log", status.Log), ("durability", status.Durability));

        text.Family("snapper_transactions_total", "counter", "Transactions that ended, by mode where it is counted, and outcome.");
        text.Sample(status.CommittedPact, ("mode", "pact"), ("outcome", "committed"));
        text.Sample(status.CommittedAct, ("mode", "act"), ("outcome", "committed"));
        text.Sample(status.Aborted, ("outcome", "aborted"));

        text.Family("snapper_transaction_aborts_total", "counter", "Aborts by reason.");
        foreach (var (reason, count) in status.AbortsByReason)
        {
            text.Sample(count, ("reason", reason));
        }

        text.Family("snapper_transaction_repeats_total", "counter", "Attempts that the system ran again by itself, by reason.");
        foreach (var (reason, count) in status.RepeatsByReason)
        {
            text.Sample(count, ("reason", reason));
        }

        WriteDurations(text, status);
        text.Single("snapper_transactions_in_flight", "gauge", "Transactions accepted and not yet answered.", status.InFlight);
        text.Single("snapper_batches_total", "counter", "Batches formed.", status.Batches);
        text.Single("snapper_batch_highest_committed", "gauge", "Number of the highest committed batch.", status.HighestCommittedBatch);
        text.Single("snapper_undos_total", "counter", "Undos of speculative work.", status.Undos);
        text.Single("snapper_log_position", "gauge", "Last position appended to the log.", status.LogPosition);
        text.Single("snapper_log_durable_position", "gauge", "Last position of the log known to be durable.", status.DurablePosition);
        text.Single("snapper_resident_actors", "gauge", "Actors in memory.", status.ResidentActors);
        text.Single("snapper_worker_epoch", "gauge", "Epoch that the worker writes its log in.", status.Epoch);
        text.Single("snapper_store_losses_total", "counter", "How often the store was found to have less than it had acknowledged, since the log began.", status.Losses);
        text.Single("snapper_worker_uptime_seconds", "gauge", "Time since the worker started.", status.UptimeMs / 1000.0);

        if (status.Redis is { } redis)
        {
            text.Single("snapper_redis_used_bytes", "gauge", "Memory that the Redis of log and states uses.", redis.UsedBytes);
            text.Single("snapper_redis_max_bytes", "gauge", "Memory that it may use; 0: without a limit of its own.", redis.MaxBytes);
            text.Single("snapper_redis_system_bytes", "gauge", "Memory of its machine; 0: it does not tell.", redis.SystemBytes);
        }

        WriteCluster(text, status.Cluster);
        text.Family("snapper_health_check", "gauge", "1 when the check passes, else 0.");
        foreach (var check in checks)
        {
            text.Sample(check.Healthy ? 1 : 0, ("check", check.Name));
        }

        WriteProcess(text);
    }

    private static void WriteDurations(PrometheusText text, WorkerStatus status)
    {
        text.Family("snapper_transaction_duration_seconds", "histogram", "From arrival to answer, of committed transactions.");
        foreach (var (mode, durations) in (ReadOnlySpan<(string, DurationsView?)>)[("pact", status.PactDurations), ("act", status.ActDurations)])
        {
            if (durations is null)
            {
                continue;
            }

            for (var i = 0; i < durations.UpTo.Count; i++)
            {
                var bound = i < durations.Bounds.Count ? durations.Bounds[i].ToString("R", CultureInfo.InvariantCulture) : "+Inf";
                text.Part("_bucket", durations.UpTo[i], ("mode", mode), ("le", bound));
            }

            text.Part("_sum", durations.Sum, ("mode", mode));
            text.Part("_count", durations.UpTo[^1], ("mode", mode));
        }
    }

    private static void WriteProcess(PrometheusText text)
    {
        text.Single("process_cpu_seconds_total", "counter", "User and system CPU time of the process.", Environment.CpuUsage.TotalTime.TotalSeconds);
        text.Single("process_resident_memory_bytes", "gauge", "Resident memory of the process.", Environment.WorkingSet);
        text.Single("process_start_time_seconds", "gauge", "Start of the process, in seconds since the Unix epoch.", ProcessStartSeconds);
        text.Family("dotnet_gc_collections_total", "counter", "Garbage collections by generation.");
        for (var generation = 0; generation <= GC.MaxGeneration; generation++)
        {
            text.Sample(GC.CollectionCount(generation), ("generation", generation.ToString(CultureInfo.InvariantCulture)));
        }

        // What lives: garbage that awaits its collection, and room between objects, are not in it. Nobody can ask for a collection here.
        var last = GC.GetGCMemoryInfo(GCKind.Any);
        text.Single(
            "snapper_process_managed_heap_bytes", "gauge", "Bytes of objects in the managed heap at the end of the last collection; 0 before the first.",
            Math.Max(0, last.HeapSizeBytes - last.FragmentedBytes));
        text.Single("dotnet_gc_heap_size_bytes", "gauge", "Bytes in the managed heap.", GC.GetTotalMemory(forceFullCollection: false));
        text.Single("dotnet_gc_allocated_bytes_total", "counter", "Bytes allocated on the managed heap.", GC.GetTotalAllocatedBytes());
        text.Single("dotnet_gc_pause_seconds_total", "counter", "Time paused for garbage collections.", GC.GetTotalPauseDuration().TotalSeconds);
        text.Single("dotnet_thread_pool_threads", "gauge", "Threads of the thread pool.", ThreadPool.ThreadCount);
        text.Single("dotnet_thread_pool_queue_length", "gauge", "Work items waiting in the thread pool.", ThreadPool.PendingWorkItemCount);
    }

    private static void WriteCluster(PrometheusText text, ClusterStatusView? cluster)
    {
        if (cluster is null)
        {
            return;
        }

        text.Single("snapper_cluster_master_epoch", "gauge", "Epoch of the master that the worker listens to; 0: none.", cluster.MasterEpoch);
        text.Single("snapper_cluster_global_pacts", "gauge", "PACTs over several workers that have a number and are not over.", cluster.GlobalPacts);
        text.Single("snapper_cluster_remote_calls", "gauge", "Calls of this worker's transactions that run on other workers.", cluster.RemoteCalls);
        text.Single("snapper_cluster_waiting_for_number", "gauge", "PACTs that wait for a number of the master.", cluster.WaitingForNumber);
        text.Family("snapper_mailbox_queued", "gauge", "Messages to another worker that it has not taken yet.");
        foreach (var peer in cluster.Peers)
        {
            text.Sample(peer.Queued, ("peer", peer.Worker));
        }

        text.Family("snapper_mailbox_unanswered_seconds", "gauge", "For how long nothing of another worker has answered.");
        foreach (var peer in cluster.Peers)
        {
            text.Sample(peer.UnansweredMs / 1000, ("peer", peer.Worker));
        }

        text.Family("snapper_mailbox_detour", "gauge", "1: packets to another worker go by way of a third one, since it does not answer directly.");
        foreach (var peer in cluster.Peers)
        {
            text.Sample(peer.Via is null ? 0 : 1, ("peer", peer.Worker));
        }

        text.Family("snapper_mailbox_retransmissions_total", "counter", "Packets to another worker that were sent again.");
        foreach (var peer in cluster.Peers)
        {
            text.Sample(peer.Retransmissions, ("peer", peer.Worker));
        }
    }

    private static double StartOfProcess()
    {
        using var process = System.Diagnostics.Process.GetCurrentProcess();
        return new DateTimeOffset(process.StartTime).ToUnixTimeMilliseconds() / 1000.0;
    }
}
