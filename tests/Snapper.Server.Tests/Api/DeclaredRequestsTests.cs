using System.Net;
using System.Net.Http.Json;
using System.Text;
using System.Text.Json;
using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.Hosting;
using Microsoft.Extensions.Logging;
using Snapper.Actors;
using Snapper.AspNetCore.Api;
using Snapper.AspNetCore.Api.Endpoints;
using Snapper.AspNetCore.Api.Requests;
using Snapper.AspNetCore.Hosting;
using Snapper.Client;
using Snapper.Contracts;
using Snapper.Runtime.Execution;
using Snapper.Runtime.Hosting;
using Snapper.Storage.Memory;
using Snapper.Storage.States;
using Xunit;

namespace Snapper.Server.Tests.Api;

public sealed record PurseState(int Money);

public sealed record Gift(string To, int Amount, int Others = 0);

public interface IPurse : ITransactionalActor
{
    Task<int> Take(int amount);

    Task<int> Give(Gift gift);
}

[TransactionalActor("Purse")]
public sealed class PurseActor : TransactionalActor<PurseState>, IPurse
{
    protected override PurseState InitialState() => new(100);

    public async Task<int> Take(int amount)
    {
        var mine = await State.ForUpdate();
        if (mine.Money + amount < 0)
        {
            throw Abort("insufficient_funds", new { Needed = -amount, Available = mine.Money }, "not enough");
        }

        State.Set(new PurseState(mine.Money + amount));
        return mine.Money + amount;
    }

    [Declares]
    internal static void Give(Declaration declaration, string id, Gift gift)
    {
        ArgumentOutOfRangeException.ThrowIfNegative(gift.Amount);
        for (var i = 0; i != gift.Others; i = gift.Others < 0 ? i : i + 1) // less than none: for ever
        {
            declaration.Actor<IPurse>($"other{i}");
        }

        declaration.Actor<IPurse>(gift.To);
    }

    public async Task<int> Give(Gift gift)
    {
        await Actor<IPurse>(gift.To).Take(gift.Amount);
        return await Take(-gift.Amount);
    }
}

/// <summary>
/// Requests without <c>mode</c> and <c>access</c> of a method that declares, at all doors of a worker that runs.
/// </summary>
public sealed class DeclaredRequestsTests : IAsyncLifetime
{
    private readonly MemoryStorage _storage = new();
    private WorkerHost _worker = null!;
    private WebApplication _web = null!;
    private HttpClient _http = null!;

    public async Task InitializeAsync()
    {
        _worker = await WorkerHost.Start(
            new WorkerSetup
            {
                Options = new WorkerOptions
                {
                    Executors = 1, TurnBound = TimeSpan.FromSeconds(2), TurnTick = TimeSpan.FromMilliseconds(10),
                },
                ActorTypes = [PurseActorDescriptor.Instance],
                Log = new MemoryTransactionLog(_storage),
                Store = new MemoryStateStore(_storage, TimeProvider.System, new StateStoreOptions()),
            },
            CancellationToken.None);
        var builder = WebApplication.CreateSlimBuilder();
        builder.Logging.ClearProviders();
        builder.WebHost.ConfigureKestrel(server => ApiListener.Listen(server, IPAddress.Loopback, 0));
        _web = builder.Build();
        SnapperApi.Map(_web, _worker.Door, _worker.Inspection, new ApiOptions());
        await _web.StartAsync();
        _http = new HttpClient { BaseAddress = new Uri(_web.Urls.Single()) };
    }

    public async Task DisposeAsync()
    {
        _http.Dispose();
        await _web.DisposeAsync();
        await _worker.DisposeAsync();
    }

    [Fact]
    public async Task Without_mode_and_access_it_is_a_pact()
    {
        var (status, answer) =
            await Post("""{"actor":{"type":"Purse","id":"a"},"method":"Give","input":{"to":"b","amount":5}}""");

        Assert.Equal(HttpStatusCode.OK, status);
        Assert.Equal(("pact", 95), (answer.GetProperty("mode").GetString(), answer.GetProperty("result").GetInt32()));
    }

    [Theory]
    [InlineData("\"mode\":\"act\"", 200, "act", null)]
    [InlineData("\"accessMode\":\"record\"", 200, "act", null)]
    [InlineData("\"access\":{\"Purse\":{\"a\":2,\"b\":1}}", 200, "pact", null)]
    [InlineData("\"access\":{\"Purse\":[\"a\"]}", 409, "pact", "undeclared")]
    [InlineData("\"mode\":\"pact\"", 400, null, null)]
    [InlineData("\"accessMode\":\"audit\"", 400, null, null)]
    public async Task What_the_request_says_itself_holds(string fields, int status, string? mode, string? reason)
    {
        var (code, answer) = await Post(
            $$$"""{"actor":{"type":"Purse","id":"a"},"method":"Give","input":{"to":"b","amount":5},{{{fields}}}}""");

        Assert.Equal(status, (int)code);
        Assert.Equal(mode, answer.TryGetProperty("mode", out var ran) ? ran.GetString() : null);
        Assert.Equal(reason, answer.TryGetProperty("abort", out var abort) ? abort.GetProperty("reason").GetString()
            : null);
    }

    [Theory]
    [InlineData("{\"to\":\"b\",\"amount\":-5}", 400, "The declaration of Purse.Give failed: ")]
    [InlineData("{\"to\":\"\",\"amount\":5}", 400, "The declaration of Purse.Give failed: ")]
    [InlineData("{\"to\":\"b\",\"amount\":5,\"others\":10000}", 422,
        "The declaration of Purse.Give names more than 256 actors.")]
    [InlineData("{\"to\":\"b\"", 400, "The body is not readable JSON")]
    [InlineData("{\"to\":7}", 400, "The input does not fit Purse.Give")]
    public async Task A_declaration_that_fails_is_a_problem_with_the_reason(string input, int status, string detail)
    {
        var (code, answer) = await Post($$"""{"actor":{"type":"Purse","id":"a"},"method":"Give","input":{{input}}}""");

        Assert.Equal(status, (int)code);
        Assert.StartsWith(detail, answer.GetProperty("detail").GetString(), StringComparison.Ordinal);
    }

    [Fact]
    public async Task In_a_batch_each_is_on_its_own_also_beside_one_that_does_not_end()
    {
        string One(string id, string rest) =>
            $$"""{"actor":{"type":"Purse","id":"{{id}}"},"method":"Give","input":{{rest}}}""";
        string Plain(string id) => $$"""{"actor":{"type":"Purse","id":"{{id}}"},"method":"Take","input":1}""";
        var (endless, behind) =
            (One("a", """{"to":"b","amount":0,"others":-1}"""), One("c", """{"to":"d","amount":1}"""));
        var (status, answer) = await Post($$"""{"transactions":[{{endless}},{{behind}},{{Plain("e")}}]}""");

        Assert.Equal(HttpStatusCode.OK, status);
        var results = answer.GetProperty("results").EnumerateArray().ToArray();
        Assert.Equal("The declaration of Purse.Give had not ended after 2000 ms.",
            results[0].GetProperty("problem").GetProperty("detail").GetString());
        Assert.Equal("The declaration of Purse.Give has not come back from an earlier request.",
            results[1].GetProperty("problem").GetProperty("detail").GetString());
        Assert.Equal(429, results[1].GetProperty("problem").GetProperty("status").GetInt32());
        Assert.Equal("committed", results[2].GetProperty("outcome").GetString());
    }

    [Fact]
    public async Task At_the_actor_door_it_is_a_pact_too()
    {
        var options = new ApiOptions();
        var bytes = await ActorEndpoint.Call(
            _worker.Door, options, "Purse", "a", idIsDoubtful: false,
                """{"method":"Give","input":{"to":"b","amount":5}}"""u8, tooLarge: false,
            new RequestOrigin(null, null, null, null), null, null, null, CancellationToken.None);

        Assert.Contains("\"outcome\":\"committed\",\"mode\":\"pact\"", Encoding.UTF8.GetString(bytes.Span),
            StringComparison.Ordinal);
    }

    [Fact]
    public async Task The_typed_client_leaves_it_to_the_method()
    {
        await using var snapper = new SnapperClient(new SnapperClientOptions { Worker = _http.BaseAddress });

        Assert.Equal(95, await snapper.Actor<IPurse>("a").Run(purse => purse.Give(new Gift("b", 5))));
        var refused = await Assert.ThrowsAsync<TransactionRejectedException>(() =>
            snapper.Actor<IPurse>("a").Run(purse => purse.Give(new Gift("b", -5))));
        Assert.Contains("The declaration of Purse.Give failed", refused.Message, StringComparison.Ordinal);
    }

    [Fact]
    public async Task An_abort_with_a_code_has_it_in_the_answer_and_in_the_client_s_exception()
    {
        var body = """{"actor":{"type":"Purse","id":"a"},"method":"Take","input":-101,"id":"k1"}""";
        for (var i = 0; i < 2; i++)
        {
            var (status, answer) = await Post(body);

            Assert.Equal(HttpStatusCode.Conflict, status);
            var abort = answer.GetProperty("abort");
            Assert.Equal(("application", "not enough", "insufficient_funds", """{"needed":101,"available":100}"""), (
                abort.GetProperty("reason").GetString(), abort.GetProperty("message").GetString(),
                abort.GetProperty("code").GetString(), abort.GetProperty("details").GetRawText()));
        }

        await using var snapper = new SnapperClient(new SnapperClientOptions { Worker = _http.BaseAddress });
        var thrown = await Assert.ThrowsAsync<TransactionAbortedException>(
            () => snapper.Actor<IPurse>("a").Act(purse => purse.Take(-200)));
        Assert.Equal("insufficient_funds", thrown.Code);
        Assert.Equal(200, thrown.Details!.Value.GetProperty("needed").GetInt32());

        var seen = await _http.GetFromJsonAsync<AbortsView>("/v1/aborts?reason=application");
        Assert.All(seen!.Aborts, static abort => Assert.Equal("insufficient_funds", abort.Code));
        Assert.Equal(2, seen.Aborts.Count);
    }

    private async Task<(HttpStatusCode Status, JsonElement Answer)> Post(string body)
    {
        using var answer =
            await _http.PostAsync("/v1/transactions", new StringContent(body, Encoding.UTF8, "application/json"));
        return (answer.StatusCode, await answer.Content.ReadFromJsonAsync<JsonElement>());
    }
}
