using System.Diagnostics;
using System.Text;
using Snapper.AspNetCore.Api;
using Snapper.AspNetCore.Api.Answers;
using Snapper.AspNetCore.Api.Requests;
using Snapper.Runtime.Door;
using Xunit;
using Xunit.Abstractions;

namespace Snapper.Server.Tests.Api;

/// <summary>What reading one request and writing its answer costs, for a transfer to three others.</summary>
public sealed class RequestCostTests(ITestOutputHelper output)
{
    private const int Rounds = 5;
    private const int PerRound = 40_000;

    private static readonly ApiOptions Options = new();

    private static readonly byte[] MultiTransfer = Encoding.UTF8.GetBytes(
        """{"actor":{"type":"Account","id":"customer-4711"},"method":"MultiTransfer","input":{"to":["customer-17","customer-2345","customer-9876"],"amount":1},"access":{"Account":{"customer-4711":1,"customer-17":1,"customer-2345":1,"customer-9876":1}},"id":"0f8fad5b-d9cb-469f-a165-70867728950e"}""");

    [Fact]
    public void One_request_and_its_answer_allocate_little_more_than_the_request_itself()
    {
        var nanoseconds = new double[Rounds];
        double bytes = 0;
        for (var round = 0; round < Rounds; round++)
        {
            var before = GC.GetAllocatedBytesForCurrentThread();
            var watch = Stopwatch.StartNew();
            for (var i = 0; i < PerRound; i++)
            {
                ReadAndAnswer(MultiTransfer);
            }

            nanoseconds[round] = watch.Elapsed.TotalNanoseconds / PerRound;
            bytes = (GC.GetAllocatedBytesForCurrentThread() - before) / (double)PerRound;
        }

        Array.Sort(nanoseconds);
        output.WriteLine($"4-actor MultiTransfer, {MultiTransfer.Length} bytes: median {nanoseconds[Rounds / 2]:F0} ns, best {nanoseconds[0]:F0} ns, {bytes:F0} bytes allocated per request.");

        // Request object, 4 keys with their ids, access set, input, method, id, envelope. Buffers, writers, tokens: nothing.
        Assert.True(bytes < 1_500, $"{bytes} bytes per request.");
    }

    /// <summary>Large arrays are garbage of which only a full collection disposes.</summary>
    [Fact]
    public void An_answer_with_a_large_result_leaves_no_garbage_of_its_size()
    {
        var envelope = FakeAnswer(TransactionRequestReader.Read(MultiTransfer, default, Options).Single.Request!) with
        {
            Result = Encoding.UTF8.GetBytes($"\"{new string('x', 1_000_000)}\""),
        };
        Write();
        var before = GC.GetAllocatedBytesForCurrentThread();
        for (var i = 0; i < 10; i++)
        {
            Write();
        }

        Assert.InRange(GC.GetAllocatedBytesForCurrentThread() - before, 0, 100_000);

        void Write()
        {
            using var buffer = JsonBuffer.Rent();
            EnvelopeWriter.Write(buffer.Json, envelope, Options.RetryAfter);
            Assert.InRange(buffer.Written.Length, 1_000_000, 1_001_000);
        }
    }

    private static void ReadAndAnswer(byte[] body)
    {
        var request = TransactionRequestReader.Read(body, default, Options).Single.Request!;
        var envelope = FakeAnswer(request);
        using var buffer = JsonBuffer.Rent();
        EnvelopeWriter.Write(buffer.Json, envelope, Options.RetryAfter);
        Assert.False(buffer.Written.IsEmpty);
    }

    private static readonly byte[] Result = "9997"u8.ToArray();

    private static TransactionEnvelope FakeAnswer(TransactionRequest request) => new()
    {
        Id = request.Id!,
        Outcome = Outcome.Committed,
        Mode = request.Mode,
        Transaction = 9137,
        Batch = 9120,
        Attempts = 1,
        Result = Result,
    };
}
