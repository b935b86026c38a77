using System.Globalization;
using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.Http;
using Microsoft.AspNetCore.Routing;
using Microsoft.AspNetCore.Routing.Patterns;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Logging.Abstractions;
using Snapper.AspNetCore.Api.Access;
using Snapper.AspNetCore.Api.Endpoints;
using Snapper.AspNetCore.Api.Events;
using Snapper.Contracts;
using Snapper.Protocol.Identity;
using Snapper.Runtime.Inspection;
using Snapper.Security;
using Snapper.Server.Tests.Api;
using Snapper.Tests.Support;
using Xunit;

namespace Snapper.Server.Tests.Access;

/// <summary>How many requests a caller may send.</summary>
public sealed class LimitTests
{
    private const string Deposit = """{"actor":{"type":"Account","id":"alice"},"method":"Balance"}""";

    [Fact]
    public async Task A_caller_over_its_rate_is_told_when_to_come_back_and_others_are_not_touched()
    {
        await using var worker = await SecuredWorker.Start(also: new() { ["Snapper:Security:Tokens:0:RatePerSecond"] = "0.1", ["Snapper:Security:Burst"] = "5" });
        for (var i = 0; i < 5; i++) Assert.Equal(200, (await worker.Read(Role.Caller, "POST", "/v1/transactions", Deposit)).Status);

        using var refused = await worker.Ask(Role.Caller, "POST", "/v1/transactions", Deposit);
        Assert.Equal(429, (int)refused.StatusCode);
        Assert.InRange(int.Parse(refused.Headers.RetryAfter!.ToString(), CultureInfo.InvariantCulture), 1, 10);
        var call = await worker.Read(Role.Sidecar, "PUT", "/actors/Account/alice/method/StartTransaction", """{"method":"Balance"}""", ("Authorization", "Bearer " + worker.TokenOf(Role.Caller)));
        Assert.Equal(429, call.Json.GetProperty("problem").GetProperty("status").GetInt32());
        Assert.Equal(5, worker.Door.Submitted);

        Assert.Equal(200, (await worker.Read(Role.Operator, "POST", "/v1/transactions", Deposit)).Status);
        for (var i = 0; i < 20; i++) Assert.Equal(200, (await worker.Read(Role.Nobody, "GET", "/healthz")).Status);
    }

    [Fact]
    public async Task The_ids_of_requests_are_counted_for_the_token_that_sends_them()
    {
        await using var worker = await SecuredWorker.Start();
        await worker.Read(Role.Caller, "POST", "/v1/transactions", Deposit);
        await worker.Read(
            Role.Sidecar, "PUT", "/actors/Account/alice/method/StartTransaction", """{"method":"Balance"}""",
            ("Authorization", "Bearer " + worker.TokenOf(Role.Caller)));
        Assert.Equal(2, worker.Door.Requests.Count);
        Assert.All(worker.Door.Requests, request =>
        {
            Assert.StartsWith("token:", request.CountedFor, StringComparison.Ordinal);
            Assert.Equal(request.Caller, request.CountedFor);
        });
    }

    [Theory]
    [InlineData("10.0.0.1", "10.0.0.1")]
    [InlineData("127.0.0.1", null)]
    [InlineData(RequestCaller.ThroughSidecar, null)]
    public void Without_a_token_an_address_of_another_machine_is_known_apart(string from, string? apart) =>
        Assert.Equal(apart, new RequestCaller(Principal.Everybody, null, from).Apart);

    [Fact]
    public async Task Those_who_guess_tokens_are_slowed_down_and_audited_and_others_are_not_touched()
    {
        await using var worker = await SecuredWorker.Start();
        var (refused, slowed) = (0, 0);
        for (var i = 0; i < 400; i++)
        {
            using var answer = await worker.Ask(
                Role.Nobody, "POST", "/v1/transactions", Deposit,
                ("Authorization", $"Bearer guess-{i:0000000000000000}"));
            refused += (int)answer.StatusCode == 401 ? 1 : 0;
            slowed += (int)answer.StatusCode == 429 && answer.Headers.RetryAfter is not null ? 1 : 0;
        }

        Assert.InRange(refused, 200, 399);
        Assert.Equal(400, refused + slowed);
        Assert.Equal(200, (await worker.Read(Role.Caller, "POST", "/v1/transactions", Deposit)).Status);
        var audit = (await worker.Read(Role.Admin, "GET", "/v1/audit")).Json.GetProperty("entries").EnumerateArray();
        Assert.Contains(audit, entry => entry.GetProperty("action").GetString() == "POST /v1/transactions");
    }

    [Fact]
    public async Task One_token_has_half_of_the_places_and_the_others_have_theirs()
    {
        await using var worker = await SecuredWorker.Start(also: new() { ["Snapper:Worker:MaxInFlight"] = "8" });
        using var held = new SemaphoreSlim(0);
        Hold(worker, held);
        var waiting = Enumerable.Range(0, 4)
            .Select(_ => worker.Ask(Role.Caller, "POST", "/v1/transactions", Deposit))
            .ToList();
        await Eventually(() => worker.Door.Submitted == 4);
        using var refused = await worker.Ask(Role.Caller, "POST", "/v1/transactions", Deposit);
        Assert.Equal((429, true), ((int)refused.StatusCode, refused.Headers.RetryAfter is not null));
        var batch = await worker.Read(Role.Operator, "POST", "/v1/transactions", Batch(5));
        Assert.Contains("operator has as many", batch.Text, StringComparison.Ordinal);
        waiting.Add(worker.Ask(Role.Operator, "POST", "/v1/transactions", Batch(4)));
        await Eventually(() => worker.Door.Submitted == 8);
        held.Release(8);
        foreach (var one in waiting)
        {
            using var answer = await one;
            Assert.Equal(200, (int)answer.StatusCode);
        }

        worker.Door.OnSubmit = (request, _) => Task.FromResult(FakeTransactionService.Committed(request));
        Assert.Equal(200, (await worker.Read(Role.Caller, "POST", "/v1/transactions", Batch(4))).Status); // given back
    }

    /// <summary>daprd calls an app 1,024 times at once, packets between workers included.</summary>
    [Fact]
    public async Task What_waits_through_the_sidecar_leaves_room_for_packets()
    {
        using var places = new RequestPlaces(20_000, 0.5);
        var taken = Enumerable.Range(0, RequestPlaces.SidecarMost).Select(_ => places.TakeOfSidecar()).ToArray();
        Assert.Contains("through the sidecar", places.TakeOfSidecar().Refused!.Detail, StringComparison.Ordinal);
        taken[0].Dispose();
        using (var again = places.TakeOfSidecar())
        {
            Assert.Null(again.Refused);
        }

        await using var worker = await SecuredWorker.Start();
        using var held = new SemaphoreSlim(0);
        Hold(worker, held);
        var waiting = Enumerable.Range(0, RequestPlaces.SidecarMost)
            .Select(_ => worker.Ask(Role.Sidecar, "POST", "/v1/transactions", Deposit))
            .ToArray();
        await Eventually(() => worker.Door.Submitted == RequestPlaces.SidecarMost);
        Assert.Equal(429, (await worker.Read(Role.Sidecar, "POST", "/v1/transactions", Deposit)).Status);
        const string Start = "/actors/Account/alice/method/StartTransaction";
        var call = await worker.Read(Role.Sidecar, "PUT", Start, """{"method":"Balance"}""");
        Assert.Equal(200, call.Status);
        held.Release(RequestPlaces.SidecarMost + 1);
        foreach (var one in await Task.WhenAll(waiting))
        {
            one.Dispose();
        }
    }

    private static void Hold(SecuredWorker worker, SemaphoreSlim held) =>
        worker.Door.OnSubmit = async (request, cancellation) =>
        {
            await held.WaitAsync(cancellation);
            return FakeTransactionService.Committed(request);
        };

    private static async Task Eventually(Func<bool> holds)
    {
        for (var i = 0; i < 2000 && !holds(); i++)
        {
            await Task.Delay(10);
        }

        Assert.True(holds());
    }

    private static string Batch(int size) =>
        "{\"transactions\":[" + string.Join(',', Enumerable.Repeat(Deposit, size)) + "]}";

    [Fact]
    public async Task A_batch_counts_as_many_as_it_holds()
    {
        await using var worker = await SecuredWorker.Start(tokens: false, appToken: null, also: new() { ["Snapper:Security:RatePerSecond"] = "0.1", ["Snapper:Security:Burst"] = "8" });
        Assert.Equal(429, (await worker.Read(Role.Nobody, "POST", "/v1/transactions", Batch(10))).Status);
        Assert.Equal(0, worker.Door.Submitted);
        Assert.Equal(200, (await worker.Read(Role.Nobody, "POST", "/v1/transactions", Batch(7))).Status);
        Assert.Equal(429, (await worker.Read(Role.Nobody, "POST", "/v1/transactions", Deposit)).Status);
    }

    [Fact]
    public void Addresses_are_cheap_and_their_buckets_are_not_kept_without_end()
    {
        using var limits = new RequestLimits(1, 1, false);
        var refused = 0;
        for (var i = 0; i < RequestLimits.AddressesMax + 500; i++)
        {
            if (limits.Take(new RequestCaller(Principal.Nobody, null, i.ToString(CultureInfo.InvariantCulture))) is not null) refused++;
        }

        // All over the number share one bucket.
        Assert.InRange(refused, 450, 499);
    }

    [Fact]
    public void Addresses_that_have_gone_make_room_for_others()
    {
        var clock = new StillTime();
        using var limits = new RequestLimits(1, 1, false, clock);
        TimeSpan? Take(string from) => limits.Take(new RequestCaller(Principal.Everybody, null, from));
        for (var i = 0; i < RequestLimits.AddressesMax; i++) Assert.Null(Take($"10.{i >> 16}.{(i >> 8) & 255}.{i & 255}"));
        Assert.Null(Take("10.9.0.1"));
        Assert.NotNull(Take("10.9.0.2")); // shares one with the other

        clock.Pass(TimeSpan.FromSeconds(15));
        Assert.Null(Take("10.9.0.3"));
        Assert.Null(Take("10.9.0.4"));
        Assert.NotNull(Take("10.9.0.4"));
    }

    [Theory]
    [InlineData("127.0.0.1", "127.0.0.2", true)]
    [InlineData("127.0.0.1", "::1", true)]
    [InlineData("127.0.0.1", "sidecar", true)]
    [InlineData("2001:db8:1:2::1", "2001:db8:1:2:ffff::9", true)]
    [InlineData("2001:db8:1:2::1", "2001:db8:1:3::1", false)]
    [InlineData("10.0.0.1", "10.0.0.2", false)]
    [InlineData("10.0.0.1", "127.0.0.1", false)]
    public void An_address_that_its_caller_can_change_at_will_is_no_other_caller(string one, string other, bool same)
    {
        using var limits = new RequestLimits(0.1, 1, false);
        Assert.Null(limits.Take(new RequestCaller(Principal.Everybody, null, one)));
        Assert.Equal(same, limits.Take(new RequestCaller(Principal.Everybody, null, other)) is not null);
    }

    [Theory]
    [InlineData(null)]
    [InlineData(SecuredWorker.SidecarToken)]
    public async Task The_actor_door_has_limits_without_tokens_too(string? appToken)
    {
        await using var worker = await SecuredWorker.Start(tokens: false, appToken: appToken, also: new() { ["Snapper:Security:RatePerSecond"] = "0.1", ["Snapper:Security:Burst"] = "3" });
        async Task<string> Call() => (await worker.Read(Role.Sidecar, "PUT", "/actors/Account/alice/method/StartTransaction", """{"method":"Balance"}""")).String("outcome");
        for (var i = 0; i < 3; i++) Assert.Equal("committed", await Call());
        Assert.Equal("rejected", await Call());
        Assert.Equal(429, (await worker.Read(Role.Sidecar, "POST", "/v1/transactions", Deposit)).Status);
        Assert.Equal(3, worker.Door.Submitted);
    }

    [Fact]
    public async Task One_token_has_half_of_the_streams_and_leaves_the_others_to_others()
    {
        await using var worker = await SecuredWorker.Start();
        var streams = new List<HttpResponseMessage>();
        try
        {
            for (var i = 0; i < EventsEndpoint.WatchersMax / 2; i++)
            {
                streams.Add(await worker.Ask(Role.Viewer, "GET", "/v1/events?view=/readyz"));
                Assert.Equal(200, (int)streams[^1].StatusCode);
            }

            using var more = await worker.Ask(Role.Viewer, "GET", "/v1/events?view=/readyz");
            Assert.Equal((429, "5"), ((int)more.StatusCode, more.Headers.RetryAfter!.ToString()));
            Assert.Contains("one token's part", await more.Content.ReadAsStringAsync(), StringComparison.Ordinal);
            using var another = await worker.Ask(Role.Operator, "GET", "/v1/events?view=/readyz");
            Assert.Equal(200, (int)another.StatusCode);
        }
        finally
        {
            streams.ForEach(stream => stream.Dispose());
        }

        // Those that are left make room again, when the worker notices.
        var until = DateTime.UtcNow.AddSeconds(60);
        for (var status = 429; status != 200;)
        {
            Assert.True(DateTime.UtcNow < until, "no stream has been given back");
            using var again = await worker.Ask(Role.Viewer, "GET", "/v1/events?view=/readyz");
            status = (int)again.StatusCode;
        }
    }

    [Fact]
    public async Task One_token_watches_half_of_the_timelines_and_leaves_the_others_to_others()
    {
        var endpoints = new WatchEndpoints(new FakeInspection { Watch = new Timelines() });
        async Task<int> Ask(Principal? principal, int actor, string type = "Account")
        {
            var context = new DefaultHttpContext();
            context.Response.Body = new MemoryStream();
            if (principal is not null) context.Features.Set(new RequestCaller(principal, null, "10.0.0.1"));
            await endpoints.Timeline(context, new ActorKey(type, actor.ToString(CultureInfo.InvariantCulture)));
            return context.Response.StatusCode;
        }

        var (eve, ann) = (new Principal("eve", Role.Viewer), new Principal("ann", Role.Operator));
        for (var i = 0; i < 100; i++) Assert.Equal(404, await Ask(eve, i, "Nothing")); // takes no place
        for (var i = 0; i < IWorkerWatch.TimelinesMax / 2; i++) Assert.Equal(200, await Ask(eve, i));
        Assert.Equal(429, await Ask(eve, 1000));
        Assert.Equal(200, await Ask(eve, 0)); // goes on with what it has
        Assert.Equal(200, await Ask(ann, 1000));
        for (var i = 0; i < 100; i++) Assert.Equal(200, await Ask(null, i)); // without tokens nobody is known apart
    }

    [Fact]
    public void A_place_is_given_back_by_time_or_by_leaving()
    {
        var clock = new StillTime();
        var share = new FairShare<string>(2, clock);
        var eve = new RequestCaller(new Principal("eve", Role.Viewer), null, "10.0.0.1");
        var lease = TimeSpan.FromSeconds(15);
        Assert.True(share.Take(eve, "a", lease));
        Assert.True(share.Take(eve, "b", Timeout.InfiniteTimeSpan));
        Assert.False(share.Take(eve, "c", lease));
        clock.Pass(lease);
        Assert.True(share.Take(eve, "c", lease));
        Assert.False(share.Take(eve, "d", lease));
        share.Leave(eve, "b");
        Assert.True(share.Take(eve, "d", lease));
    }

    [Fact]
    public async Task While_nothing_is_configured_the_gate_allocates_nothing()
    {
        var app = new Microsoft.AspNetCore.Builder.ApplicationBuilder(new ServiceCollection().BuildServiceProvider());
        new AuthorizationMiddleware(new KnownTokens([]), null, new RequestLimits(0, 0, false), AuditLog.InMemory(NullLogger.Instance), false).Use(app);
        app.Run(_ => Task.CompletedTask);
        var run = app.Build();
        var context = new DefaultHttpContext();
        context.Request.Method = "POST";
        context.SetEndpoint(new RouteEndpoint(_ => Task.CompletedTask, RoutePatternFactory.Parse("/v1/transactions"), 0, new EndpointMetadataCollection(AccessTable.Rows.First(row => row.Pattern == "/v1/transactions")), null));
        for (var i = 0; i < 1000; i++) await run(context);

        var all = true;
        Assert.Equal(0, Allocations.Of(() =>
        {
            for (var i = 0; i < 1000; i++) all &= run(context).IsCompletedSuccessfully;
        }));
        Assert.True(all);
        Assert.Equal(200, context.Response.StatusCode);
    }

    /// <summary>Knows the type Account, and keeps no limit of its own.</summary>
    private sealed class Timelines : IWorkerWatch
    {
        public Task<TimelineView?> Timeline(ActorKey actor, CancellationToken cancellation) =>
            Task.FromResult(actor.Type == "Account" ? new TimelineView(actor.Type, actor.Id, "w1", 1, 1) : null);

        public TracesView Traces(TraceFilter filter) => throw new NotSupportedException();

        public HotView Hot(int limit) => throw new NotSupportedException();

        public AccessView Access() => throw new NotSupportedException();

        public RingView Ring() => throw new NotSupportedException();
    }
}
