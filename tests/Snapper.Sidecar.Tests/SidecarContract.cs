using System.Net;
using System.Security.Cryptography;
using System.Text;
using System.Text.Json;
using Snapper.Sidecar.Client;
using Xunit;

namespace Snapper.Sidecar.Tests;

[OnRealDapr]
public sealed class Real_daprd(SharedRig<RealDapr> shared) : SidecarContract(shared.Rig), IClassFixture<SharedRig<RealDapr>>;

[OnRealDapr]
public sealed class Real_daprd_over_h2c(SharedRig<RealDaprOverH2c> shared) : SidecarContract(shared.Rig), IClassFixture<SharedRig<RealDaprOverH2c>>;

public sealed class Embedded_stand_in(SharedRig<StandIn> shared) : SidecarContract(shared.Rig), IClassFixture<SharedRig<StandIn>>;

/// <summary>What host and client rely on, whatever the sidecar is.</summary>
public abstract class SidecarContract(Rig rig)
{
    private const string TraceParent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

    private static readonly byte[] SomeJson = "{\"amount\":1}"u8.ToArray();

    [SidecarFact]
    public async Task Actor_types_are_read_from_the_app_and_registered()
    {
        var metadata = await rig.Client.GetMetadata(default);

        Assert.Equal("snapper", metadata.Id);
        Assert.True(metadata.ActorRuntime.HostReady);
        Assert.Equal(["Account", "Account@w1", "Raw"], metadata.ActorRuntime.ActiveActors.Select(actor => actor.Type).Order());
    }

    [SidecarFact]
    public async Task Both_health_questions_are_answered_yes()
    {
        Assert.True(await rig.Client.IsHealthy(default));
        Assert.True(await rig.Client.IsOutboundHealthy(default));
    }

    [SidecarFact]
    public async Task An_actor_call_carries_body_reentrancy_id_and_trace_context()
    {
        var answer = await rig.Client.InvokeActor("Account@w1", "alice", "Transfer", SomeJson, default, traceParent: TraceParent);

        Assert.Equal(200, answer.Status);
        Assert.Equal("application/json", answer.ContentType);
        Assert.Equal(new SeenCall("Account@w1", "alice", "Transfer", SomeJson.Length, false, "snapper", TraceParent, "snapper"), Seen(answer));
    }

    [SidecarFact]
    public async Task A_call_without_reentrancy_id_gets_a_random_one()
    {
        var answer = await rig.Client.InvokeActor("Account", "alice", "Transfer", SomeJson, default, reentrancyId: null);

        Assert.True(Guid.TryParse(Seen(answer).Reentrancy, out _));
    }

    [SidecarFact]
    public async Task Ids_arrive_exactly_as_the_caller_wrote_them()
    {
        string[] ids =
        [
            "a/b", "/a", "a/", "a//b", "a/method/b", "../..", ".", "..", "50%", "a%2Fb", "a%zz", "a||b", "it's \"quoted\"", "😀", "a+b", "a b", "a b/c d%", "a?b=c",
            "a#b", "a\\b", "a;b", "a:b", "a,b&c=d$e@f", "(a)*!~_-.", "[a]{b}|c^`<>", "é", "日本", "a\nb\t", "\u0085", "\u200b\u202e", new string('x', 1000),
        ];
        foreach (var id in ids)
        {
            var answer = await rig.Client.InvokeActor("Account", id, "Balance", SomeJson, default);

            Assert.True(answer.Status == 200, $"{id}: {answer.Status} {Encoding.UTF8.GetString(answer.Body)}");
            Assert.Equal(id, Seen(answer).Id);
        }
    }

    [SidecarFact]
    public async Task What_daprd_does_to_ids_that_are_encoded_once()
    {
        Assert.Equal((200, "a||b"), await PutOnce("a%7C%7Cb"));
        Assert.Equal((200, "😀"), await PutOnce("%F0%9F%98%80"));
        Assert.Equal((200, "a b"), await PutOnce("a+b"));
        Assert.Equal((200, "a/b"), await PutOnce("a%252Fb"));
        Assert.Equal((400, "ERR_BAD_REQUEST invalid request: invalid actorId: name contains forbidden character: \"a/b\""), await PutOnce("a%2Fb"));
        Assert.Equal((400, "ERR_BAD_REQUEST invalid request: invalid actorId: name contains forbidden character: \"a?b\""), await PutOnce("a%3Fb"));
        var (status, error) = await PutOnce("50%25");
        Assert.Equal(500, status);
        Assert.Contains("ERR_ACTOR_INVOKE_METHOD error invoke actor method: parse ", error, StringComparison.Ordinal);
        Assert.Contains("/actors/Account/50%/method/Balance\": invalid URL escape \"%/m\"", error, StringComparison.Ordinal);
    }

    [SidecarFact]
    public async Task Two_hundred_calls_with_the_constant_id_are_inside_one_actor_at_one_time()
    {
        var gate = rig.Host.GateOf("crowded");
        var calls = Enumerable.Range(0, 200).Select(_ => rig.Client.InvokeActor("Account", "crowded", "wait", SomeJson, default)).ToArray();

        await gate.Filled(200);
        gate.Open();

        Assert.All(await Task.WhenAll(calls), answer => Assert.Equal(200, answer.Status));
    }

    [SidecarFact]
    public async Task Calls_without_an_id_run_one_at_a_time()
    {
        var before = rig.Host.GateOf("strict");
        var calls = Enumerable.Range(0, 5).Select(_ => rig.Client.InvokeActor("Account", "strict", "wait", SomeJson, default, reentrancyId: null)).ToArray();
        await before.Filled(1);

        // A call to another actor goes all the way through while four wait: had they been let in, they would be inside by now.
        await rig.Client.InvokeActor("Account", "other", "Balance", SomeJson, default, reentrancyId: null);
        Assert.Equal(1, before.Inside);
        before.Open();

        Assert.All(await Task.WhenAll(calls), answer => Assert.Equal(200, answer.Status));
    }

    [SidecarFact]
    public async Task A_call_without_an_id_waits_for_those_with_one_and_runs_then()
    {
        var gate = rig.Host.GateOf("mixed");
        var marked = rig.Client.InvokeActor("Account", "mixed", "wait", SomeJson, default);
        await gate.Filled(1);
        var unmarked = rig.Client.InvokeActor("Account", "mixed", "Balance", SomeJson, default, reentrancyId: null);

        // Marked calls overtake it.
        Assert.Equal(200, (await rig.Client.InvokeActor("Account", "mixed", "Balance", SomeJson, default)).Status);
        Assert.False(unmarked.IsCompleted);
        gate.Open();

        Assert.Equal(200, (await marked).Status);
        Assert.Equal(200, (await unmarked.WaitAsync(TimeSpan.FromSeconds(20))).Status);
    }

    [SidecarFact]
    public async Task Twelve_hundred_calls_at_one_time_all_end()
    {
        var calls = Enumerable.Range(0, 1200).Select(i => rig.Client.InvokeActor("Account", "many", "linger", SomeJson, default)).ToArray();

        var answers = await Task.WhenAll(calls).WaitAsync(TimeSpan.FromSeconds(60));

        Assert.All(answers, answer => Assert.Equal(200, answer.Status));

        // The HTTP/1.1 channel to the app carries 1,024 calls at a time, h2c has no such bound.
        Assert.InRange(rig.Host.MaxInside, 2, rig.Kind.AppProtocol == "http" ? 1024 : 1200);
    }

    [SidecarFact]
    public async Task An_actor_that_answers_other_than_200_becomes_a_bare_500()
    {
        foreach (var (status, message) in new[]
        {
            ("204", "error from actor service: (204) "),
            ("201", "error from actor service: (201) {\"oops\":\"bad\"}"),
            ("409", "error from actor service: (409) {\"oops\":\"bad\"}"),
            ("500", "error from actor service: (500) {\"oops\":\"bad\"}"),
            ("404", "actor method not found: actors/Raw/x/method/404"),
        })
        {
            var answer = await rig.Client.InvokeActor("Raw", "x", status, SomeJson, default);

            Assert.Equal(500, answer.Status);
            Assert.Equal(new SidecarError("ERR_ACTOR_INVOKE_METHOD", "error invoke actor method: " + message), answer.SidecarError);
        }
    }

    [SidecarFact]
    public async Task A_defect_of_the_host_is_an_error_that_tells_no_details_and_the_next_call_works()
    {
        var answer = await rig.Client.InvokeActor("Account", "x", "throw", SomeJson, default);

        Assert.Equal(500, answer.Status);
        Assert.Equal("ERR_ACTOR_INVOKE_METHOD", answer.SidecarError!.Code);
        Assert.Contains("failed in the app", answer.SidecarError.Message, StringComparison.Ordinal);
        Assert.DoesNotContain("a defect of the host", answer.SidecarError.Message, StringComparison.Ordinal);
        Assert.Equal(200, (await rig.Client.InvokeActor("Account", "x", "Balance", SomeJson, default)).Status);
    }

    [SidecarFact]
    public async Task An_unknown_actor_type_is_reported_as_not_found()
    {
        var answer = await rig.Client.InvokeActor("Nope", "x", "Balance", SomeJson, default);

        Assert.Equal(500, answer.Status);
        Assert.Equal(
            new SidecarError(
                "ERR_ACTOR_INVOKE_METHOD",
                "error invoke actor method: failed to lookup actor: api error: code = FailedPrecondition desc = did not find address for actor 'Nope/x'"),
            answer.SidecarError);
        Assert.Contains("did not find address", answer.SidecarError!.Message, StringComparison.Ordinal);
    }

    [SidecarFact]
    public async Task Service_invocation_keeps_the_apps_status_body_and_retry_after()
    {
        foreach (var status in new[] { 200, 202, 400, 404, 409, 413, 422, 429, 500, 503, 504 })
        {
            var answer = await rig.Client.InvokeService(HttpMethod.Post, "snapper", $"status/{status}", SomeJson, default);

            Assert.Equal(status, answer.Status);
            Assert.Equal("{\"title\":\"so\"}", Encoding.UTF8.GetString(answer.Body));
            Assert.Equal("application/problem+json", answer.ContentType);
            Assert.Equal(TimeSpan.FromSeconds(3), answer.RetryAfter);
            Assert.Null(answer.SidecarError);
        }
    }

    [SidecarFact]
    public async Task Service_invocation_keeps_verb_path_query_and_headers()
    {
        using var http = new HttpClient { BaseAddress = rig.Sidecar.Endpoint };
        foreach (var verb in new[] { "GET", "POST", "PUT", "PATCH", "DELETE" })
        {
            using var request = new HttpRequestMessage(new HttpMethod(verb), "/v1.0/invoke/snapper/method/echo/a%20b/c?q=1&r=%2F");
            request.Headers.Add("x-mine", "kept");
            using var response = await http.SendAsync(request);

            Assert.Equal(HttpStatusCode.OK, response.StatusCode);
            Assert.Equal($"{verb} /echo/a%20b/c?q=1&r=%2F kept", Assert.Single(response.Headers.GetValues("x-saw")));
        }
    }

    [SidecarFact]
    public async Task An_unknown_app_is_reported()
    {
        var answer = await rig.Client.InvokeService(HttpMethod.Post, "nobody", "status/200", SomeJson, default);

        Assert.Equal(500, answer.Status);
        Assert.Equal(new SidecarError("ERR_DIRECT_INVOKE", "failed to invoke, id: nobody, err: couldn't find service: nobody"), answer.SidecarError);
    }

    [SidecarFact]
    public async Task Bodies_of_three_megabytes_pass_both_doors_unchanged()
    {
        var body = RandomNumberGenerator.GetBytes(3_000_000);

        Assert.Equal(body, (await rig.Client.InvokeActor("Account", "x", "echo", body, default)).Body);
        Assert.Equal(body, (await rig.Client.InvokeService(HttpMethod.Post, "snapper", "echo", body, default)).Body);
    }

    [SidecarFact]
    public async Task A_body_over_the_hosts_limit_reaches_the_host_as_a_flag()
    {
        var atLimit = await rig.Client.InvokeActor("Account", "x", "Balance", new byte[4 * 1024 * 1024], default);
        var over = await rig.Client.InvokeActor("Account", "x", "Balance", new byte[(4 * 1024 * 1024) + 1], default);

        Assert.Equal((200, false, 4 * 1024 * 1024), (atLimit.Status, Seen(atLimit).TooLarge, Seen(atLimit).Length));
        Assert.Equal((200, true, 0), (over.Status, Seen(over).TooLarge, Seen(over).Length));
    }

    [SidecarFact]
    public async Task A_body_over_the_sidecars_limit_is_refused_and_the_next_call_works()
    {
        var refused = await SendSeventeenMegabytes();

        Assert.True(refused is null or "ERR_BAD_REQUEST invalid request: failed to read body: stream too large", refused);
        Assert.Equal(200, (await rig.Client.InvokeActor("Account", "x", "Balance", SomeJson, default)).Status);
    }

    [SidecarFact]
    public async Task A_caller_that_goes_away_cancels_its_call_and_nothing_else()
    {
        using var gone = new CancellationTokenSource();
        var call = rig.Client.InvokeActor("Account", "left", "hang", SomeJson, gone.Token);
        await rig.Host.Hanging.Task.WaitAsync(TimeSpan.FromSeconds(20));
        await gone.CancelAsync();

        await Assert.ThrowsAnyAsync<OperationCanceledException>(() => call);
        await rig.Host.GivenUp.Task.WaitAsync(TimeSpan.FromSeconds(20));
        Assert.Equal(200, (await rig.Client.InvokeActor("Account", "left", "Balance", SomeJson, default, reentrancyId: null)).Status);
    }

    [SidecarFact]
    public async Task Any_verb_that_Dapr_takes_reaches_the_actor()
    {
        using var http = new HttpClient { BaseAddress = rig.Sidecar.Endpoint };
        foreach (var verb in new[] { "GET", "POST", "PUT", "DELETE" })
        {
            using var request = new HttpRequestMessage(new HttpMethod(verb), "/v1.0/actors/Account/alice/method/Balance?x=1");
            using var response = await http.SendAsync(request);

            Assert.Equal(HttpStatusCode.OK, response.StatusCode);
        }

        using var patch = await http.PatchAsync("/v1.0/actors/Account/alice/method/Balance", null);
        Assert.Equal(HttpStatusCode.NotFound, patch.StatusCode);
        Assert.Contains("ERR_DIRECT_INVOKE", await patch.Content.ReadAsStringAsync(), StringComparison.Ordinal);
    }

    private static SeenCall Seen(SidecarAnswer answer) => JsonSerializer.Deserialize<SeenCall>(answer.Body)!;

    // A sidecar may close the connection while the body is still on its way; then there is no answer to read.
    private async Task<string?> SendSeventeenMegabytes()
    {
        try
        {
            var answer = await rig.Client.InvokeActor("Account", "x", "Balance", new byte[17 * 1024 * 1024], default);
            return Describe(answer.SidecarError);
        }
        catch (SidecarUnreachableException broken) when (!broken.NeverSent)
        {
            return null;
        }
    }

    private async Task<(int Status, string Outcome)> PutOnce(string encodedId)
    {
        using var http = new HttpClient { BaseAddress = rig.Sidecar.Endpoint };
        using var content = new ByteArrayContent(SomeJson);
        using var response = await http.PutAsync($"/v1.0/actors/Account/{encodedId}/method/Balance", content);
        var body = await response.Content.ReadAsByteArrayAsync();
        return response.StatusCode == HttpStatusCode.OK
            ? (200, JsonSerializer.Deserialize<SeenCall>(body)!.Id)
            : ((int)response.StatusCode, Describe(SidecarError.TryRead(body)));
    }

    private static string Describe(SidecarError? error) => error is null ? "no error of a sidecar" : $"{error.Code} {error.Message}";
}
