using System.Text;
using Microsoft.Extensions.DependencyInjection;
using Snapper.AspNetCore.Api;
using Snapper.AspNetCore.Api.Access;
using Snapper.AspNetCore.Hosting;
using Snapper.Runtime.Door;
using Snapper.Runtime.Execution;
using Snapper.Security;
using Snapper.Server.Tests.Api;
using Snapper.Server.Tests.Harness;
using Xunit;

namespace Snapper.Server.Tests.Access;

/// <summary>How many bytes requests and answers hold, and what becomes of those that want more.</summary>
public sealed class ByteShareTests
{
    private const int Megabyte = 1024 * 1024;
    private const string Call = "/actors/Account/alice/method/StartTransaction";

    private static readonly RequestCaller s_eve = new(new Principal("eve", Role.Caller), null, "10.0.0.1");
    private static readonly RequestCaller s_ann = new(new Principal("ann", Role.Caller), null, "10.0.0.1");

    [Fact]
    public void One_caller_has_its_share_and_all_together_have_all()
    {
        var all = new ByteBudget(100_000);
        var shares = new ByteShares(all, 0.5);
        using (var eves = shares.Open(s_eve))
        using (var anns = shares.Open(s_ann))
        using (var unknown = shares.Open(RequestCaller.Everybody))
        {
            Assert.True(eves.TryTake(40_000));
            Assert.False(eves.TryTake(10_000));
            Assert.Equal(RejectionKind.Overloaded, eves.Refused!.Kind);
            Assert.Contains("eve holds as many bytes", eves.Refused.Detail, StringComparison.Ordinal);
            Assert.True(anns.TryTake(40_000));
            Assert.False(unknown.TryTake(40_000));
            Assert.Equal(RejectionKind.Unavailable, unknown.Refused!.Kind);
            Assert.Equal(80_000 + (2 * ByteBudget.OfRequest), all.Used);

            anns.Give(30_000);
            Assert.True(unknown.TryTake(40_000));
            anns.Hold(30_000); // an answer that is there already
            Assert.True(all.Used > all.Most);
        }

        Assert.Equal(0, all.Used);
        using var again = shares.Open(s_eve);
        Assert.True(again.TryTake(40_000));
    }

    [Fact]
    public void What_comes_when_the_request_is_over_is_not_counted()
    {
        var all = new ByteBudget(100_000);
        var held = new ByteShares(all, 1).Open(s_eve);
        Assert.True(held.TryTake(1000));
        held.Dispose();
        held.Hold(5000);
        Assert.True(held.TryHold(5000));
        held.Give(5000);
        held.Dispose();
        Assert.Equal(0, all.Used);
    }

    [Fact]
    public void A_call_belongs_to_its_caller_once_that_is_known()
    {
        var all = new ByteBudget(100_000);
        var shares = new ByteShares(all, 0.5);
        using (var one = shares.Open(null))
        using (var other = shares.Open(null))
        {
            Assert.True(one.TryTake(40_000));
            Assert.True(other.TryTake(40_000));
            Assert.True(one.BelongsTo(s_eve));
            Assert.False(other.BelongsTo(s_eve));
            Assert.Equal(RejectionKind.Overloaded, other.Refused!.Kind);
        }

        Assert.Equal((0, 0), (all.Used, shares.ShareOf(s_eve)!.Used));
    }

    [Fact]
    public void Callers_that_hold_nothing_are_forgotten()
    {
        var all = new ByteBudget(long.MaxValue);
        var shares = new ByteShares(all, 1);
        using var held = shares.Open(s_eve);
        Assert.True(held.TryTake(1));
        var eves = shares.ShareOf(s_eve);
        for (var i = 0; i < 10_100; i++)
        {
            shares.ShareOf(new RequestCaller(Principal.Everybody, null, $"10.{i >> 16}.{(i >> 8) & 255}.{i & 255}"));
        }

        Assert.Same(eves, shares.ShareOf(s_eve));
        Assert.InRange(shares.Known, 1, 200);
    }

    [Fact]
    public async Task Bodies_inputs_and_what_waits_count_until_the_answer_is_there_at_both_doors()
    {
        await using var worker = await SecuredWorker.Start(
            also: new() { ["Snapper:Worker:MaxHeldBytes"] = $"{32 * Megabyte}" });
        var bytes = worker.App.Services.GetRequiredService<ByteBudget>();
        using var gate = new SemaphoreSlim(0);
        worker.Door.OnSubmit = async (request, cancellation) =>
        {
            await gate.WaitAsync(cancellation);
            return FakeTransactionService.Committed(request);
        };
        var ofActor = $$"""{"method":"M","input":"{{new string('x', Megabyte - 200)}}"}""";
        var large = Request(Megabyte - 200);
        var waiting = new List<Task<Answer>>();
        while (worker.Door.Submitted < 16)
        {
            waiting.Add(worker.Read(Role.Caller, "POST", "/v1/transactions", large));
            waiting.Add(worker.Read(Role.Sidecar, "PUT", Call, ofActor));
            await Eventually.True("both have entered", () => Task.FromResult(worker.Door.Submitted == waiting.Count));
        }

        Assert.InRange(bytes.Used, 15L * Megabyte, 17L * Megabyte);
        while (bytes.Most - bytes.Used > 4000)
        {
            var left = (int)Math.Min(Megabyte, bytes.Most - bytes.Used - ByteBudget.OfRequest);
            waiting.Add(worker.Read(Role.Operator, "POST", "/v1/transactions", Request(left - 200)));
            await Eventually.True("it has entered", () => Task.FromResult(worker.Door.Submitted == waiting.Count));
        }

        var refused = await worker.Read(Role.Admin, "POST", "/v1/transactions", Request(4000));
        Assert.Equal((503, "1"), (refused.Status, refused.RetryAfter));
        Assert.Equal("urn:snapper:unavailable", refused.String("type"));
        Assert.Contains("Snapper:Worker:MaxHeldBytes", refused.String("detail"), StringComparison.Ordinal);
        var small = $$"""{"method":"M","input":"{{new string('x', 4000)}}"}""";
        var call = await worker.Read(Role.Sidecar, "PUT", Call, small);
        Assert.Equal((200, "rejected"), (call.Status, call.String("outcome")));
        Assert.Equal(503, call.Json.GetProperty("problem").GetProperty("status").GetInt32());

        gate.Release(waiting.Count);
        Assert.All(await Task.WhenAll(waiting), answer => Assert.Equal(200, answer.Status));
        await Eventually.True("all is given back", () => Task.FromResult(bytes.Used == 0));
        gate.Release();
        Assert.Equal(200, (await worker.Read(Role.Caller, "POST", "/v1/transactions", large)).Status);
    }

    [Fact]
    public async Task One_token_holds_its_share_and_others_theirs()
    {
        await using var worker = await SecuredWorker.Start(also: new()
        {
            ["Snapper:Worker:MaxHeldBytes"] = $"{128 * Megabyte}",
            ["Snapper:Security:Share"] = "0.25",
        });
        using var gate = new SemaphoreSlim(0);
        worker.Door.OnSubmit = async (request, cancellation) =>
        {
            await gate.WaitAsync(cancellation);
            return FakeTransactionService.Committed(request);
        };
        var batch = $$"""{"transactions":[{{string.Join(',', Enumerable.Repeat(Request(Megabyte - 200), 16))}}]}""";
        var first = worker.Read(Role.Caller, "POST", "/v1/transactions", batch);
        var second = worker.Read(Role.Caller, "POST", "/v1/transactions", batch);
        await Eventually.True("they have entered", () => Task.FromResult(worker.Door.Submitted == 32));

        var refused = await worker.Read(Role.Caller, "POST", "/v1/transactions", Request(4000));
        Assert.Equal((429, "1"), (refused.Status, refused.RetryAfter));
        Assert.Contains("Snapper:Security:Share", refused.String("detail"), StringComparison.Ordinal);
        gate.Release(48);
        Assert.Equal(200, (await worker.Read(Role.Operator, "POST", "/v1/transactions", batch)).Status);
        Assert.All(await Task.WhenAll(first, second), answer => Assert.Equal(200, answer.Status));
    }

    [Fact]
    public async Task Results_of_batches_that_find_no_room_are_left_out_and_the_outcomes_stay()
    {
        var bytes = new ByteBudget(3 * Megabyte);
        var result = Encoding.ASCII.GetBytes($"\"{new string('x', Megabyte - 2)}\"");
        var last = new TaskCompletionSource();
        var door = new FakeTransactionService
        {
            OnSubmit = async (request, _) =>
            {
                if (request.Id == "r4") last.SetResult();
                if (request.Id == "r0") await last.Task; // so nothing is sent before all have entered
                return new TransactionEnvelope { Id = request.Id!, Outcome = Outcome.Committed, Result = result };
            },
        };
        await using var host = await ApiHost.Start(door, options: new ApiOptions { Bytes = new ByteShares(bytes, 1) });
        var requests = Enumerable.Range(0, 5).Select(
            i => $$"""{"actor":{"type":"Account","id":"alice"},"method":"M","id":"r{{i}}"}""");

        var answer = await host.Post($$"""{"transactions":[{{string.Join(',', requests)}}]}""");

        var results = answer.Json.GetProperty("results").EnumerateArray().ToArray();
        Assert.All(results, one => Assert.Equal("committed", one.GetProperty("outcome").GetString()));
        Assert.Equal(2, results.Count(one => one.TryGetProperty("result", out _)));
        var omitted = results.Where(one => one.TryGetProperty("problem", out _)).ToArray();
        Assert.Equal(3, omitted.Length);
        Assert.All(omitted, one => Assert.Equal(413, one.GetProperty("problem").GetProperty("status").GetInt32()));
        Assert.Equal(0, bytes.Used);
    }

    [Theory]
    [InlineData(0, 768, 192)]
    [InlineData(0, 100, 64)]
    [InlineData(40, 768, 40)]
    public void A_quarter_of_the_heap_unless_something_else_is_said(int said, int heap, int expected)
    {
        var options = new WorkerOptions { MaxHeldBytes = (long)said * Megabyte };
        Assert.Equal((long)expected * Megabyte, WorkerConfiguration.HeldBytes(options, (long)heap * Megabyte));
    }

    private static string Request(int input) =>
        $$"""{"actor":{"type":"Account","id":"alice"},"method":"M","input":"{{new string('x', input)}}"}""";
}
