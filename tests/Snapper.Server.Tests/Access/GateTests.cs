using Microsoft.Extensions.Configuration;
using Snapper.AspNetCore.Hosting;
using Snapper.AspNetCore.Processes;
using Snapper.Security;
using Snapper.Server.Commands;
using Snapper.Server.Hosting;
using Snapper.Server.Tests.Harness;
using Xunit;

namespace Snapper.Server.Tests.Access;

/// <summary>Who is recognized, and by what.</summary>
public sealed class GateTests
{
    private const string Deposit = """{"actor":{"type":"Account","id":"alice"},"method":"Balance"}""";

    [Theory]
    [InlineData("?token={0}")]
    [InlineData("?limit=5&access_token=anything")]
    [InlineData("?API-KEY=anything")]
    [InlineData("?x={0}")]
    [InlineData("?{0}")]
    [InlineData("?x=snapper_whatever")]
    public async Task A_token_in_the_address_is_refused_whoever_sends_it_and_not_repeated(string query)
    {
        await using var worker = await SecuredWorker.Start();
        var secret = worker.TokenOf(Role.Admin);
        var answer = await worker.Read(Role.Admin, "GET", "/v1/status" + query.Replace("{0}", secret, StringComparison.Ordinal));

        Assert.Equal(400, answer.Status);
        Assert.DoesNotContain(secret, answer.Text, StringComparison.Ordinal);
        Assert.Equal(200, (await worker.Read(Role.Admin, "GET", "/v1/aborts?limit=5")).Status);
    }

    [Theory]
    [InlineData("?view=/v1/status&view=/v1/aborts%3Flimit%3D5%26token%3Dx")]
    [InlineData("?view=/v1/aborts%3Fx%3Dsnapper%255Fwhatever")]
    public async Task So_is_one_in_the_query_of_a_view(string query)
    {
        await using var worker = await SecuredWorker.Start();
        using var answer = await worker.Ask(Role.Admin, "GET", "/v1/events" + query);
        Assert.Equal(400, (int)answer.StatusCode);
        Assert.Contains("holds a token", await answer.Content.ReadAsStringAsync(), StringComparison.Ordinal);
    }

    [Fact]
    public async Task Queries_of_very_many_values_are_refused_while_streams_may_have_many_views()
    {
        await using var worker = await SecuredWorker.Start();
        Assert.Equal(200, (await worker.Read(Role.Nobody, "GET", "/healthz?" + Values(16))).Status);
        var refused = await worker.Read(Role.Nobody, "GET", "/healthz?" + Values(17));
        Assert.Equal(400, refused.Status);
        Assert.Contains("more than 16 values", refused.Text, StringComparison.Ordinal);
        Assert.Equal(400, (await worker.Read(Role.Admin, "GET", "/v1/status?" + Values(1500))).Status);

        var views = string.Concat(Enumerable.Range(1, 63).Select(i => $"&view=/v1/aborts%3Flimit%3D{i}"));
        using (var stream = await worker.Ask(Role.Admin, "GET", "/v1/events?every=1000&view=/v1/status" + views)) Assert.Equal(200, (int)stream.StatusCode);
        Assert.Contains("at most 64 views", (await worker.Read(Role.Admin, "GET", "/v1/events?view=/v1/status&view=/readyz" + views)).Text, StringComparison.Ordinal);
        Assert.Contains("more than 128 values", (await worker.Read(Role.Admin, "GET", "/v1/events?" + Values(129))).Text, StringComparison.Ordinal);

        static string Values(int count) => string.Join('&', Enumerable.Range(0, count).Select(i => $"a{i}=x"));
    }

    [Fact]
    public async Task Wrong_and_doubled_tokens_are_nobodys_and_the_answer_says_how_to_come()
    {
        await using var worker = await SecuredWorker.Start();
        foreach (var wrong in (string[])["Bearer x", "Bearer ", "Basic YTpi", "Bearer " + worker.TokenOf(Role.Admin)[..^1], "Bearer " + new string('x', 5000), worker.TokenOf(Role.Admin)])
        {
            using var answer = await worker.Ask(Role.Nobody, "GET", "/v1/status", null, ("Authorization", wrong));
            Assert.Equal(401, (int)answer.StatusCode);
            Assert.Equal("Bearer", answer.Headers.WwwAuthenticate.ToString());
        }

        using var twice = await worker.Ask(Role.Admin, "GET", "/v1/status", null, ("Authorization", "Bearer x"));
        Assert.Equal(401, (int)twice.StatusCode);

        // A wrong token is refused also beside a right one: whoever sends it is somebody else than they think.
        using var mixed = await worker.Ask(Role.Admin, "GET", "/v1/status", null, ("dapr-api-token", "wrong"));
        Assert.Equal(401, (int)mixed.StatusCode);
    }

    [Fact]
    public async Task A_token_that_came_through_the_sidecar_decides_and_not_the_sidecars()
    {
        await using var worker = await SecuredWorker.Start();
        Assert.Equal(403, (await worker.Read(Role.Viewer, "POST", "/v1/migrations", "{}", ("dapr-api-token", SecuredWorker.SidecarToken))).Status);
        Assert.Equal(404, (await worker.Read(Role.Operator, "POST", "/v1/migrations", "{}", ("dapr-api-token", SecuredWorker.SidecarToken))).Status);
        Assert.Equal(403, (await worker.Read(Role.Sidecar, "POST", "/v1/migrations", "{}")).Status);
    }

    [Fact]
    public async Task By_service_invocation_the_sidecars_own_addresses_are_not_reached()
    {
        await using var worker = await SecuredWorker.Start();
        Assert.Equal(200, (await worker.Read(Role.Sidecar, "PUT", "/actors/Account/alice/method/StartTransaction", """{"method":"Balance"}""")).Status);
        Assert.Equal(403, (await worker.Read(Role.Sidecar, "PUT", "/actors/Account/alice/method/StartTransaction", """{"method":"Balance"}""", ("dapr-callee-app-id", "snapper"))).Status);
        Assert.Equal(403, (await worker.Read(Role.Sidecar, "PUT", "/actors/Mailbox@w1/0/method/Deliver", "x", ("dapr-callee-app-id", "snapper"))).Status);
    }

    [Fact]
    public async Task At_the_actor_door_a_caller_without_the_right_is_answered_in_the_body()
    {
        await using var worker = await SecuredWorker.Start();
        (string, string) Bearer(Role role) => ("Authorization", "Bearer " + worker.TokenOf(role));
        async Task<(int Status, string Outcome, int Problem)> Call(params (string, string)[] headers)
        {
            var answer = await worker.Read(Role.Sidecar, "PUT", "/actors/Account/alice/method/StartTransaction", """{"method":"Balance"}""", headers);
            return (answer.Status, answer.String("outcome"), answer.Json.TryGetProperty("problem", out var problem) ? problem.GetProperty("status").GetInt32() : 0);
        }

        Assert.Equal((200, "committed", 0), await Call());
        Assert.Equal((200, "committed", 0), await Call(Bearer(Role.Caller)));
        Assert.Equal("token:caller", worker.Door.Requests.Last().Caller);
        Assert.Equal((200, "rejected", 403), await Call(Bearer(Role.Viewer)));
        Assert.Equal((200, "rejected", 401), await Call(("Authorization", "Bearer x")));
        Assert.Equal(2, worker.Door.Submitted);
    }

    [Fact]
    public async Task Tokens_without_the_sidecars_token_do_not_start()
    {
        var wrong = await Assert.ThrowsAsync<UsageException>(() => SecuredWorker.Start(appToken: null));
        Assert.Contains("APP_API_TOKEN is not set", wrong.Message, StringComparison.Ordinal);
    }

    [Fact]
    public async Task A_method_with_a_rule_is_open_to_whom_it_names_at_both_doors()
    {
        await using var worker = await SecuredWorker.Start(also: new()
        {
            ["Snapper:Security:Methods:0:Type"] = "Account",
            ["Snapper:Security:Methods:0:Method"] = "Balance",
            ["Snapper:Security:Methods:0:Callers"] = "operator; app:shop",
        });
        Assert.Equal(200, (await worker.Read(Role.Operator, "POST", "/v1/transactions", Deposit)).Status);
        Assert.Equal(403, (await worker.Read(Role.Caller, "POST", "/v1/transactions", Deposit)).Status);
        Assert.Equal(403, (await worker.Read(Role.Sidecar, "POST", "/v1/transactions", Deposit)).Status);
        Assert.Equal(200, (await worker.Read(Role.Caller, "POST", "/v1/transactions", Deposit.Replace("Balance", "Transfer", StringComparison.Ordinal))).Status);

        // An app counts only when its name can be nobody else's word.
        (string, string) callee = ("dapr-callee-app-id", "snapper"), shop = ("dapr-caller-app-id", "shop");
        Assert.Equal(200, (await worker.Read(Role.Sidecar, "POST", "/v1/transactions", Deposit, callee, shop)).Status);
        Assert.Equal(403, (await worker.Read(Role.Sidecar, "POST", "/v1/transactions", Deposit, shop)).Status);
        Assert.Equal(403, (await worker.Read(Role.Sidecar, "POST", "/v1/transactions", Deposit, callee, shop, ("dapr-caller-app-id", "thief"))).Status);
        Assert.Equal(403, (await worker.Read(Role.Caller, "POST", "/v1/transactions", Deposit, callee, shop)).Status);

        var batch = await worker.Read(Role.Caller, "POST", "/v1/transactions", $$"""{"transactions":[{{Deposit}},{{Deposit.Replace("Balance", "Transfer", StringComparison.Ordinal)}}]}""");
        Assert.Equal(200, batch.Status);
        Assert.Equal(403, batch.Json.GetProperty("results")[0].GetProperty("problem").GetProperty("status").GetInt32());
        Assert.Equal("committed", batch.Json.GetProperty("results")[1].GetProperty("outcome").GetString());

        var call = await worker.Read(Role.Sidecar, "PUT", "/actors/Account/alice/method/StartTransaction", """{"method":"Balance"}""", ("dapr-caller-app-id", "shop"));
        Assert.Equal("rejected", call.String("outcome"));
    }

    [Theory]
    [InlineData("Acount", "Balance", "operator", "names the actor type Acount, which no worker hosts")]
    [InlineData("Acount", "*", "operator", "names the actor type Acount, which no worker hosts")]
    [InlineData("Account", "balance", "operator", "names Account.balance, and Account has no such method")]
    [InlineData("Account", "Balance", "operator; ann", "names 'ann', and there is no token of that name")]
    public async Task A_rule_that_names_what_there_is_not_keeps_the_worker_from_starting(
        string type, string method, string callers, string words)
    {
        Dictionary<string, string?> rule = new()
        {
            ["Snapper:Security:Methods:0:Type"] = type,
            ["Snapper:Security:Methods:0:Method"] = method,
            ["Snapper:Security:Methods:0:Callers"] = callers,
        };
        var wrong = await Assert.ThrowsAsync<UsageException>(() => SecuredWorker.Start(also: rule));
        Assert.Contains("Snapper:Security:Methods: ", wrong.Message, StringComparison.Ordinal);
        Assert.Contains(words, wrong.Message, StringComparison.Ordinal);
    }

    [Fact]
    public async Task Methods_know_callers_by_what_is_certain_and_of_which_kind_it_is()
    {
        (string, string) callee = ("dapr-callee-app-id", "snapper"), forged = ("dapr-caller-app-id", "admin");
        await using (var worker = await SecuredWorker.Start())
        {
            await worker.Read(Role.Admin, "POST", "/v1/transactions", Deposit, forged);
            await worker.Read(Role.Sidecar, "POST", "/v1/transactions", Deposit, callee, forged); // an app may have a token's name
            await worker.Read(Role.Sidecar, "POST", "/v1/transactions", Deposit, forged);
            await worker.Read(Role.Sidecar, "PUT", "/actors/Account/alice/method/StartTransaction", """{"method":"Balance"}""", forged);
            Assert.Equal(["token:admin", "app:admin", null, null], worker.Door.Requests.Select(request => request.Caller));
        }

        await using var open = await SecuredWorker.Start(tokens: false, appToken: null);
        await open.Read(Role.Nobody, "POST", "/v1/transactions", Deposit, callee, forged);
        await open.Read(Role.Nobody, "PUT", "/actors/Account/alice/method/StartTransaction", """{"method":"Balance"}""", forged);
        Assert.Equal([null, null], open.Door.Requests.Select(request => request.Caller));
    }

    [Fact]
    public async Task Rules_that_name_apps_do_not_start_where_nothing_shows_which_app_it_is()
    {
        Dictionary<string, string?> rules = new()
        {
            ["Snapper:Security:Methods:0:Type"] = "Account",
            ["Snapper:Security:Methods:0:Method"] = "Balance",
            ["Snapper:Security:Methods:0:Callers"] = "app:shop",
        };
        var wrong = await Assert.ThrowsAsync<UsageException>(() => SecuredWorker.Start(tokens: false, appToken: null, also: rules));
        Assert.Contains("name Dapr apps (app:...), and APP_API_TOKEN is not set", wrong.Message, StringComparison.Ordinal);

        await using var worker = await SecuredWorker.Start(tokens: false, also: rules);
        (string, string) callee = ("dapr-callee-app-id", "snapper"), shop = ("dapr-caller-app-id", "shop");
        Assert.Equal(200, (await worker.Read(Role.Sidecar, "POST", "/v1/transactions", Deposit, callee, shop)).Status);
        Assert.Equal(403, (await worker.Read(Role.Sidecar, "POST", "/v1/transactions", Deposit, shop)).Status);
        Assert.Equal(401, (await worker.Read(Role.Nobody, "POST", "/v1/transactions", Deposit, callee, shop)).Status);
    }

    [Fact]
    public async Task The_token_command_makes_what_a_worker_accepts_from_a_file()
    {
        using var folder = new TempFolder();
        using var output = new StringWriter();
        Assert.Equal(0, await ServerCommands.Run(ServerCommands.Program(), ["token", "--name", "ann", "--role", "operator", "--tenants", "acme,umbrella", "--rate", "50"], output, TextWriter.Null));
        var lines = output.ToString().Split('\n', StringSplitOptions.RemoveEmptyEntries);
        Assert.Equal(2, lines.Length);
        var file = Path.Combine(folder.Path, "tokens");
        await File.WriteAllTextAsync(file, "# who may\n\n" + lines[1] + "\n");

        var settings = SecuritySettings.Read(new ConfigurationBuilder().AddInMemoryCollection([new("SNAPPER_TOKENS_FILE", file)]).Build());
        var ann = settings.Tokens.Find(lines[0].Trim());
        Assert.Equal("ann", ann!.Name);
        Assert.Equal(Role.Operator, ann.Role);
        Assert.Equal(["acme", "umbrella"], ann.Tenants);
        Assert.Equal(50, ann.RatePerSecond);
        Assert.True(settings.TenantsApart);
        Assert.DoesNotContain(lines[0].Trim(), await File.ReadAllTextAsync(file), StringComparison.Ordinal);
    }

    [Theory]
    [InlineData("Tokens:0:Name", "a b", "name must be")]
    [InlineData("Tokens:0:Role", "root", "role of ann must be caller, viewer, operator, admin, not 'root'")]
    [InlineData("Tokens:0:Sha256", "abc", "sha256 of ann must be 64 hexadecimal digits")]
    [InlineData("Tokens:0:Tenants", "a/b", "a tenant has 1 to 64")]
    [InlineData("Tokens:0:RatePerSecond", "-1", "RatePerSecond must be a number")]
    [InlineData("Methods:0:Callers", "role:root", "there is no such role")]
    [InlineData("Methods:0:Callers", "", "names no callers")]
    [InlineData("TenantsApart", "maybe", "TenantsApart must be true or false")]
    [InlineData("SidecarMay", "all", "SidecarMay must be channel or transact, not 'all'")]
    [InlineData("RatePerSecond", "many", "RatePerSecond must be a number")]
    [InlineData("TokensFile", "/nowhere/tokens", "the file of tokens cannot be read")]
    public void A_wrong_setting_is_named(string key, string value, string words)
    {
        var settings = new Dictionary<string, string?>
        {
            ["Snapper:Security:Tokens:0:Name"] = "ann",
            ["Snapper:Security:Tokens:0:Role"] = "viewer",
            ["Snapper:Security:Tokens:0:Sha256"] = new string('a', 64),
            ["Snapper:Security:Methods:0:Type"] = "Account",
            ["Snapper:Security:Methods:0:Method"] = "*",
            ["Snapper:Security:Methods:0:Callers"] = "ann",
        };
        SecuritySettings.Read(new ConfigurationBuilder().AddInMemoryCollection(settings).Build());
        settings["Snapper:Security:" + key] = value;

        var wrong = Assert.Throws<FormatException>(() => SecuritySettings.Read(new ConfigurationBuilder().AddInMemoryCollection(settings).Build()));
        Assert.Contains(words, wrong.Message, StringComparison.Ordinal);
    }

    [Fact]
    public void Without_tokens_the_sidecar_cannot_be_kept_from_transactions() =>
        Assert.Contains("SidecarMay is channel, and there are no tokens", Assert.Throws<FormatException>(
            () => SecuritySettings.Read(new ConfigurationBuilder().AddInMemoryCollection([new("Snapper:Security:SidecarMay", "channel")]).Build())).Message, StringComparison.Ordinal);

    [Fact]
    public void Settings_do_not_print_their_tokens() =>
        Assert.DoesNotContain("secret", new WorkerSettings { Actors = ServerActors.Own, Name = "w1", ListenPort = 1, SidecarPort = 1, SidecarKind = SidecarKind.Daprd, LogKind = LogKind.File, DataDirectory = "/", Fsync = FsyncPolicy.Always, AppApiToken = "secret" }.ToString(), StringComparison.Ordinal);
}
