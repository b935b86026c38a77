using Microsoft.AspNetCore.Http;
using Microsoft.AspNetCore.Http.Features;
using Snapper.AspNetCore.Api.Access;
using Snapper.Security;
using Xunit;

namespace Snapper.Server.Tests.Access;

/// <summary>What a caller that is bound to a tenant may name.</summary>
public sealed class TenantTests
{
    private static readonly Dictionary<string, string?> s_bound = new() { ["Snapper:Security:Tokens:0:Tenants"] = "acme", ["Snapper:Security:Tokens:1:Tenants"] = "acme" };

    [Theory]
    [InlineData("acme/alice", "acme/o-1", null, 200)]
    [InlineData("acme/alice", null, null, 200)]
    [InlineData("acme/alice", null, "acme/bob", 200)]
    [InlineData("acme/alice", null, "umbrella/bob", 403)]
    [InlineData("acme/alice", null, "bob", 403)]
    [InlineData("acme/alice", "o-1", null, 403)]
    [InlineData("acme/alice", "umbrella/o-1", null, 403)]
    [InlineData("umbrella/alice", null, null, 403)]
    [InlineData("alice", null, null, 403)]
    [InlineData("acme", null, null, 403)]
    [InlineData("acme/", null, null, 403)]
    [InlineData("ACME/alice", null, null, 403)]
    [InlineData("acme2/alice", null, null, 403)]
    [InlineData("/acme/alice", null, null, 403)]
    [InlineData("acme%2Falice", null, null, 403)]
    public async Task Names_of_other_tenants_are_refused_at_both_doors(string root, string? id, string? declared, int status)
    {
        await using var worker = await SecuredWorker.Start(also: s_bound);
        var access = declared is null ? "" : $$""","access":{"Account":["{{root}}","{{declared}}"]}""";
        var rest = $"\"method\":\"Balance\"{(id is null ? "" : $",\"id\":\"{id}\"")}{access}}}";

        Assert.Equal(status, (await worker.Read(Role.Caller, "POST", "/v1/transactions", $$"""{"actor":{"type":"Account","id":"{{root}}"},""" + rest)).Status);
        var batch = await worker.Read(Role.Caller, "POST", "/v1/transactions", "{\"transactions\":[" + $$"""{"actor":{"type":"Account","id":"{{root}}"},""" + rest + "]}");
        Assert.Equal(status == 200 ? "committed" : "rejected", batch.Json.GetProperty("results")[0].GetProperty("outcome").GetString());

        // daprd passes an id on as its caller has encoded it.
        var call = await worker.Read(
            Role.Sidecar, "PUT", $"/actors/Account/{Uri.EscapeDataString(root)}/method/StartTransaction", "{" + rest, ("Authorization", "Bearer " + worker.TokenOf(Role.Caller)));
        Assert.Equal(status == 200 ? "committed" : "rejected", call.String("outcome"));
    }

    [Fact]
    public async Task One_that_is_not_bound_may_name_everybody_but_not_two_tenants_in_one_transaction()
    {
        await using var worker = await SecuredWorker.Start(also: s_bound);
        Assert.Equal(200, (await worker.Read(Role.Operator, "POST", "/v1/transactions", """{"actor":{"type":"Account","id":"umbrella/a"},"method":"Balance","id":"o-1"}""")).Status);
        Assert.Equal(403, (await worker.Read(Role.Operator, "POST", "/v1/transactions", """{"actor":{"type":"Account","id":"umbrella/a"},"method":"Balance","access":{"Account":["umbrella/a","acme/a"]}}""")).Status);
    }

    [Theory]
    [InlineData(true, "acme/a", "acme/b", true)]
    [InlineData(true, "acme/a", "umbrella/b", false)]
    [InlineData(true, "umbrella/a", "umbrella/b", false)]
    [InlineData(true, "acme2/a", "acme/b", false)]
    [InlineData(false, "umbrella/a", "umbrella/b", true)]
    [InlineData(false, "umbrella/a", "acme/b", false)]
    public async Task A_read_stays_within_one_tenant_and_within_the_readers_own(bool bound, string one, string other,
        bool let)
    {
        await using var worker = await SecuredWorker.Start(also: s_bound);
        var body = $$"""{"actors":[{"type":"Account","id":"{{one}}"},{"type":"Account","id":"{{other}}"}]}""";

        var answer = await worker.Read(bound ? Role.Viewer : Role.Operator, "POST", "/v1/reads", body);

        Assert.Equal((let, let ? 1 : 0), (answer.Status != 403, worker.Door.Submitted));
    }

    [Theory]
    [InlineData(null, false)]
    [InlineData("channel", false)]
    [InlineData("transact", true)]
    public async Task One_that_leaves_its_token_out_and_comes_through_the_sidecar_gets_round_no_tenant_unless_a_setting_lets_it(string? may, bool let)
    {
        await using var worker = await SecuredWorker.Start(also: new(s_bound) { ["Snapper:Security:SidecarMay"] = may });
        const string body = """{"actor":{"type":"Account","id":"umbrella/a"},"method":"Balance"}""";
        var (service, found) = (await worker.Read(Role.Sidecar, "POST", "/v1/transactions", body), await worker.Read(Role.Sidecar, "GET", "/v1/transactions/umbrella%2Fo-1"));
        var call = await worker.Read(Role.Sidecar, "PUT", "/actors/Account/umbrella%2Fa/method/StartTransaction", """{"method":"Balance"}""");
        Assert.Equal(let ? (200, 404) : (401, 401), (service.Status, found.Status));
        Assert.Equal(let ? "committed" : "rejected", call.String("outcome"));
        Assert.Equal(let ? 2 : 0, worker.Door.Submitted);
        if (!let)
        {
            Assert.Equal(401, call.Json.GetProperty("problem").GetProperty("status").GetInt32());
            Assert.Contains("Snapper:Security:SidecarMay", call.Text, StringComparison.Ordinal);
            foreach (var row in AccessTable.Rows.Where(row => row.Right is not (Right.Open or Right.Channel or Right.Identified))) Assert.NotEqual(0, AccessTable.Refusal(row, Role.Channel));
        }

        // What the sidecar asks of its app it goes on asking, and with a token all is as its holder may.
        Assert.Equal(200, (await worker.Read(Role.Sidecar, "GET", "/dapr/config")).Status);
        var own = await worker.Read(
            Role.Sidecar, "PUT", "/actors/Account/acme%2Fa/method/StartTransaction", """{"method":"Balance"}""", ("Authorization", "Bearer " + worker.TokenOf(Role.Caller)));
        Assert.Equal("committed", own.String("outcome"));
        var two = """{"actor":{"type":"Account","id":"umbrella/a"},"method":"Balance","access":{"Account":["umbrella/a","acme/a"]}}""";
        Assert.Equal(let ? 403 : 401, (await worker.Read(Role.Sidecar, "POST", "/v1/transactions", two)).Status);
    }

    [Theory]
    [InlineData("/v1/transactions/acme%2Fo-1", true)]
    [InlineData("/v1/transactions/acme/o-1", true)]
    [InlineData("/v1/transactions/umbrella%2Fo-1", false)]
    [InlineData("/v1/transactions/o-1", false)]
    [InlineData("/v1/transactions/acme%2F", false)]
    [InlineData("/V1/Transactions/umbrella%2Fo-1", false)]
    [InlineData("/v1/transactions//acme/o-1", false)]
    [InlineData("/v1/x/../transactions/umbrella%2Fo-1", false)]
    public async Task Another_tenants_transaction_is_not_found(string path, bool known)
    {
        await using var worker = await SecuredWorker.Start(also: s_bound);
        worker.Door.OnFind = id => Api.FakeTransactionService.Committed(new Snapper.Runtime.Door.TransactionRequest { Actor = new Protocol.Identity.ActorKey("Account", "x"), Method = "m", Id = id });
        var line = await worker.Raw($"GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nAuthorization: Bearer {worker.TokenOf(Role.Caller)}\r\n\r\n");
        Assert.StartsWith(known ? "HTTP/1.1 200" : "HTTP/1.1 404", line, StringComparison.Ordinal);
    }

    [Theory]
    [InlineData("/v1/actors/Account/umbrella%2Fx", 404)]
    [InlineData("/v1/actors/Account/x/schedule", 404)]
    [InlineData("/v1/actors/Account/acme", 404)]
    [InlineData("/v1/actors/Account/acme/schedule", 404)]
    [InlineData("/v1/actors/Account/acme/timeline", 404)]
    [InlineData("/v1/actors/Account/umbrella%2Fx/timeline", 404)]
    [InlineData("/v1/status", 403)]
    [InlineData("/v1/batches", 403)]
    [InlineData("/v1/aborts", 403)]
    [InlineData("/v1/events", 403)]
    [InlineData("/v1/workers", 403)]
    [InlineData("/v1/migrations", 403)]
    [InlineData("/v1/actor-types", 200)]
    public async Task A_bound_viewer_sees_its_own_actors_and_nothing_that_belongs_to_all(string path, int status)
    {
        await using var worker = await SecuredWorker.Start(also: s_bound);
        using var answer = await worker.Ask(Role.Viewer, "GET", path);
        Assert.Equal(status, (int)answer.StatusCode);
        if (path.Contains("/actors/", StringComparison.Ordinal))
        {
            Assert.Contains("another tenant", await answer.Content.ReadAsStringAsync(), StringComparison.Ordinal);
            foreach (var own in (string[])["acme%2Fx", "acme%2Fx/timeline", "acme%2Fx/schedule", "acme%2Ftimeline"])
            {
                Assert.DoesNotContain("another tenant", (await worker.Read(Role.Viewer, "GET", "/v1/actors/Account/" + own)).Text, StringComparison.Ordinal);
            }
        }
    }

    [Theory]
    [InlineData("/v1/actors/Account/acme/timeline", false)]
    [InlineData("/v1/actors/Account/acme", false)]
    [InlineData("/v1/actors/Account/acme%2Fx/timeline", true)]
    [InlineData("/v1/actors/Account/acme%2Fx", true)]
    public void A_view_of_a_stream_is_decided_as_its_own_address_is(string view, bool allowed)
    {
        var caller = new RequestCaller(new Principal("eve", Role.Viewer, ["acme"]), null, "10.0.0.1");
        var context = new DefaultHttpContext();
        context.Features.Get<IHttpRequestFeature>()!.RawTarget = view;
        var problem = AuthorizationMiddleware.ViewProblem(context, caller, AccessTable.Rows.First(row => row is { Method: "GET", Pattern: "/v1/actors/{**actor}" }));
        Assert.Equal(allowed ? null : 404, problem?.Status);
    }
}
