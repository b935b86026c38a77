using System.Diagnostics;
using System.Net.NetworkInformation;
using System.Text;
using Snapper.Protocol.Identity;
using Snapper.Protocol.Messages;
using Snapper.Storage.Log;
using Snapper.Storage.Log.Records;

namespace Snapper.Storage.Tests.Support;

/// <summary>Example values.</summary>
internal static class Some
{
    public static ActorKey Actor(string id) => new("Account", id);

    public static ReadOnlyMemory<byte> Bytes(string text) => Encoding.UTF8.GetBytes(text);

    public static string Text(ReadOnlyMemory<byte>? bytes) => Encoding.UTF8.GetString(bytes!.Value.Span);

    public static ActorChange Change(string actor, long version, string state) =>
        new(Actor(actor), version, [new StateField(StateField.WholeState, Bytes(state))]);

    public static LocalBatchCommitted Batch(long bid, IReadOnlyList<ActorChange> changes, params OutcomeRecord[] outcomes) =>
        new() { Batch = new BatchId(bid), LastTransaction = new TransactionId(bid), Changes = changes, Outcomes = outcomes };

    /// <summary>A batch that brings one actor to a version.</summary>
    public static LocalBatchCommitted Batch(long bid, string actor, long version) => Batch(bid, [Change(actor, version, $"{{\"v\":{version}}}")]);

    public static OutcomeRecord Outcome(string id, long atUnixMs = 0, bool isCallerKey = true, string payload = "42") => new()
    {
        RequestId = id,
        IsCallerKey = isCallerKey,
        RequestHash = new UInt128(7, (ulong)id.Length),
        IsAct = false,
        Transaction = new TransactionId(5),
        Batch = new BatchId(4),
        Attempts = 1,
        AtUnixMs = atUnixMs,
        Abort = AbortReason.None,
        Payload = Bytes(payload),
    };

    public static ReadOnlyMemory<byte> Encode(params LogRecord[] records)
    {
        var buffer = new GroupBuffer();
        foreach (var record in records)
        {
            RecordEncoder.Encode(record, buffer);
        }

        return buffer.Written.ToArray();
    }

    public static List<(long Sequence, LogRecord Record)> Decode(LogGroup group)
    {
        var decoder = new GroupDecoder();
        decoder.Start(group);
        var records = new List<(long, LogRecord)>();
        while (decoder.MoveNext())
        {
            records.Add((decoder.Sequence, decoder.Current));
        }

        return records;
    }

    /// <summary>This machine has a connection whose other end is that port of its own, and that works.</summary>
    public static bool HasConnectionTo(int port) => IPGlobalProperties.GetIPGlobalProperties().GetActiveTcpConnections()
        .Any(c => c.RemoteEndPoint.Port == port && c.State == TcpState.Established);

    /// <summary>Polls until a condition holds; fails with what was awaited.</summary>
    public static async Task Until(Func<bool> condition, string awaited, double seconds = 20)
    {
        var watch = Stopwatch.StartNew();
        while (!condition())
        {
            if (watch.Elapsed.TotalSeconds > seconds)
            {
                throw new TimeoutException($"Not within {seconds} s: {awaited}.");
            }

            await Task.Delay(5);
        }
    }
}
