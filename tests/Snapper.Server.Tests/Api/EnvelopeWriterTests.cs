using System.Text;
using System.Text.Json;
using Snapper.AspNetCore.Api.Answers;
using Snapper.Protocol.Batches;
using Snapper.Protocol.Identity;
using Snapper.Protocol.Messages;
using Snapper.Runtime.Door;
using Xunit;

namespace Snapper.Server.Tests.Api;

/// <summary>The exact bytes of every kind of answer.</summary>
public sealed class EnvelopeWriterTests
{
    private static readonly TimeSpan RetryAfter = TimeSpan.FromSeconds(1);

    [Fact]
    public void Committed_with_a_result() => AssertEnvelope(
        """{"id":"order-4711","outcome":"committed","mode":"pact","transaction":9137,"batch":9120,"attempts":1,"result":{"left":90.50}}""",
        new TransactionEnvelope
        {
            Id = "order-4711",
            Outcome = Outcome.Committed,
            Mode = TransactionMode.Pact,
            Transaction = 9137,
            Batch = 9120,
            Attempts = 1,
            Result = Encoding.UTF8.GetBytes("""{"left":90.50}"""),
        });

    [Fact]
    public void Committed_without_a_result() => AssertEnvelope(
        """{"id":"ключ/\uD83C\uDFE6\"","outcome":"committed","mode":"act","transaction":4503599627370497,"batch":0,"attempts":3,"result":null}""",
        new TransactionEnvelope
        {
            Id = "ключ/🏦\"",
            Outcome = Outcome.Committed,
            Mode = TransactionMode.Act,
            Transaction = 4503599627370497,
            Attempts = 3,
        });

    [Fact]
    public void Committed_and_its_result_was_not_kept() => AssertEnvelope(
        """{"id":"r","outcome":"committed","mode":"act","transaction":5,"batch":0,"attempts":1,"resultDropped":true}""",
        new TransactionEnvelope
        {
            Id = "r",
            Outcome = Outcome.Committed,
            Mode = TransactionMode.Act,
            Transaction = 5,
            Attempts = 1,
            IsResultDropped = true,
        });

    [Fact]
    public void Committed_with_what_was_touched_in_the_shape_of_a_declaration() => AssertEnvelope(
        """{"id":"r","outcome":"committed","mode":"act","transaction":1,"batch":0,"attempts":1,"result":1,"touched":{"Account":{"alice":2,"bob":1},"Audit":{"x":3}}}""",
        new TransactionEnvelope
        {
            Id = "r",
            Outcome = Outcome.Committed,
            Mode = TransactionMode.Act,
            Transaction = 1,
            Attempts = 1,
            Result = "1"u8.ToArray(),
            Touched = [new(new("Account", "alice"), 2), new(new("Audit", "x"), 3), new(new("Account", "bob"), 1)],
        });

    [Fact]
    public void Aborted_on_an_actor() => AssertEnvelope(
        """{"id":"r","outcome":"aborted","mode":"pact","transaction":5,"batch":4,"attempts":1,"abort":{"reason":"application","message":"insufficient funds","retryable":false,"actor":{"type":"Account","id":"alice"}}}""",
        new TransactionEnvelope
        {
            Id = "r",
            Outcome = Outcome.Aborted,
            Mode = TransactionMode.Pact,
            Transaction = 5,
            Batch = 4,
            Attempts = 1,
            Abort = new AbortDetails(AbortReason.Application, "insufficient funds", false, new ActorKey("Account", "alice")),
        });

    [Fact]
    public void Aborted_nowhere_in_particular() => AssertEnvelope(
        """{"id":"r","outcome":"aborted","mode":"act","transaction":0,"batch":0,"attempts":0,"abort":{"reason":"failure","message":"worker lost","retryable":true}}""",
        new TransactionEnvelope
        {
            Id = "r",
            Outcome = Outcome.Aborted,
            Mode = TransactionMode.Act,
            Abort = new AbortDetails(AbortReason.Failure, "worker lost", true, null),
        });

    [Theory]
    [InlineData(Outcome.InDoubt, "inDoubt")]
    [InlineData(Outcome.Running, "running")]
    public void Not_ended_yet(Outcome outcome, string name) => AssertEnvelope(
        $$"""{"id":"r","outcome":"{{name}}","mode":"pact","transaction":5,"batch":4,"attempts":1}""",
        new TransactionEnvelope { Id = "r", Outcome = outcome, Mode = TransactionMode.Pact, Transaction = 5, Batch = 4, Attempts = 1 });

    [Fact]
    public void Rejected_by_the_worker() => AssertEnvelope(
        """{"id":"r","outcome":"rejected","mode":"pact","transaction":0,"batch":0,"attempts":0,"problem":{"type":"urn:snapper:not-found","title":"Not found","status":404,"detail":"Unknown method Fly."}}""",
        new TransactionEnvelope { Id = "r", Outcome = Outcome.Rejected, Rejection = new Rejection(RejectionKind.NotFound, "Unknown method Fly.") });

    [Fact]
    public void Refused_by_the_reader() => Assert.Equal(
        """{"id":null,"outcome":"rejected","problem":{"type":"urn:snapper:invalid-request","title":"Invalid request","status":400,"detail":"method is missing."}}""",
        Written(json => EnvelopeWriter.Write(json, new RequestRefusal(RejectionKind.Invalid, "method is missing.", null), RetryAfter)));

    [Fact]
    public void A_problem_carries_the_fields_of_the_envelope()
    {
        var envelope = new TransactionEnvelope
        {
            Id = "r",
            Outcome = Outcome.Aborted,
            Mode = TransactionMode.Act,
            Transaction = 5,
            Attempts = 2,
            Abort = new AbortDetails(AbortReason.Overloaded, "the queue is full", true, null),
        };

        Assert.Equal(
            """{"type":"urn:snapper:overloaded","title":"Overloaded","status":429,"detail":"the queue is full","retryAfterMs":1000,"id":"r","outcome":"aborted","mode":"act","transaction":5,"batch":0,"attempts":2,"abort":{"reason":"overloaded","message":"the queue is full","retryable":true}}""",
            Written(json => EnvelopeWriter.WriteProblem(json, Problem.Of(envelope, RetryAfter)!.Value, envelope)));
    }

    [Fact]
    public void An_abort_that_is_never_shown_is_not_shown()
    {
        var envelope = new TransactionEnvelope
        {
            Id = "r",
            Outcome = Outcome.Aborted,
            Abort = new AbortDetails(AbortReason.Undone, "", true, null),
        };

        Assert.Throws<System.Diagnostics.UnreachableException>(() => Written(json => EnvelopeWriter.Write(json, envelope, RetryAfter)));
    }

    private static void AssertEnvelope(string expected, TransactionEnvelope envelope)
    {
        var written = Written(json => EnvelopeWriter.Write(json, envelope, RetryAfter));

        Assert.Equal(expected, written);
        Assert.Equal(JsonValueKind.Object, JsonDocument.Parse(written).RootElement.ValueKind);
    }

    private static string Written(Action<Utf8JsonWriter> write)
    {
        using var buffer = JsonBuffer.Rent();
        write(buffer.Json);
        return Encoding.UTF8.GetString(buffer.Written.Span);
    }
}
