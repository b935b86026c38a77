using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Logging.Abstractions;
using Snapper.AspNetCore.Hosting;
using Snapper.Runtime.Door;
using Snapper.Security;
using Snapper.Server.Tests.Api;
using Snapper.Server.Tests.Harness;
using Xunit;

namespace Snapper.Server.Tests.Access;

/// <summary>What a worker does whose heap is near its limit.</summary>
public sealed class MemoryHeadroomTests
{
    private const string Call = "/actors/Account/alice/method/StartTransaction";

    [Fact]
    public async Task Near_the_limit_of_the_heap_new_work_is_refused_and_what_is_under_way_ends()
    {
        await using var worker = await SecuredWorker.Start(tokens: false, appToken: null);
        var bytes = worker.App.Services.GetRequiredService<ByteBudget>();
        var heap = new HeapReading(86, 100, 1);
        var collected = 0;
        using var headroom = new MemoryHeadroom(bytes, NullLogger.Instance, () => heap, () => collected++);
        var gate = new TaskCompletionSource();
        worker.Door.OnSubmit = async (request, _) =>
        {
            await gate.Task;
            return FakeTransactionService.Committed(request);
        };
        const string one = """{"actor":{"type":"Account","id":"alice"},"method":"M"}""";
        var underWay = worker.Read(Role.Nobody, "POST", "/v1/transactions", one);
        await Eventually.True("it has entered", () => Task.FromResult(worker.Door.Submitted == 1));

        headroom.Look();
        Assert.Equal((null, 1), (bytes.Closed, collected)); // what is dead may be gone after a collection
        heap = heap with { Bytes = 70, FullCollection = 2 };
        headroom.Look();
        heap = heap with { Bytes = 86 };
        headroom.Look();
        heap = heap with { FullCollection = 3 };
        headroom.Look();
        Assert.Contains("out of memory headroom", bytes.Closed, StringComparison.Ordinal);

        var refused = await worker.Read(Role.Nobody, "POST", "/v1/transactions", one);
        Assert.Equal((503, "1"), (refused.Status, refused.RetryAfter));
        Assert.Contains("out of memory headroom", refused.String("detail"), StringComparison.Ordinal);
        var call = await worker.Read(Role.Nobody, "PUT", Call, """{"method":"M"}""");
        Assert.Equal(503, call.Json.GetProperty("problem").GetProperty("status").GetInt32());
        Assert.Equal(200, (await worker.Read(Role.Nobody, "GET", "/healthz")).Status);
        var memory = (await worker.Read(Role.Nobody, "GET", "/v1/status")).Json.GetProperty("memory");
        Assert.True(memory.GetProperty("refusing").GetBoolean());
        Assert.Equal(bytes.Used, memory.GetProperty("heldBytes").GetInt64());
        Assert.InRange(bytes.Used, ByteBudget.OfRequest, bytes.Most);
        gate.SetResult();
        Assert.Equal(200, (await underWay).Status);

        heap = heap with { Bytes = 82 };
        headroom.Look();
        Assert.NotNull(bytes.Closed); // not at once again
        heap = heap with { Bytes = 79 };
        headroom.Look();
        Assert.Equal(200, (await worker.Read(Role.Nobody, "POST", "/v1/transactions", one)).Status);

        heap = heap with { Bytes = 96 };
        headroom.Look();
        Assert.NotNull(bytes.Closed); // no time for a collection
    }

    [Fact]
    public void Where_nothing_is_let_in_the_heap_is_collected_again()
    {
        var collected = 0;
        using var headroom = new MemoryHeadroom(
            new ByteBudget(1), NullLogger.Instance, () => new HeapReading(99, 100, 1), () => collected++);
        for (var i = 0; i < 100; i++)
        {
            headroom.Look();
        }

        Assert.InRange(collected, 3, 10);
    }

    [Fact]
    public void The_heap_of_this_process_can_be_read()
    {
        GC.Collect();
        var now = HeapReading.Now();
        Assert.InRange(now.Bytes, 1, now.Limit);
        Assert.True(now.FullCollection > 0);
    }
}
