using System.Net;
using System.Text;
using Dapr.Actors;
using Dapr.Actors.Client;
using Snapper.Integration.Tests.Harness;
using Xunit;

namespace Snapper.Integration.Tests.Doors;

/// <summary>
/// An account as an application that knows Dapr's SDK alone would describe it. Public: the SDK makes a proxy of it.
/// </summary>
public interface IAccountOfTheSdk : IActor
{
    /// <summary>Both balances.</summary>
    Task<SdkBalances> Balance();

    /// <summary>Pays.</summary>
    Task<decimal> Transfer(SdkTransfer input);
}

/// <summary>One whose argument DataContract can write.</summary>
public interface ITextActor : IActor
{
    /// <summary>Is never run.</summary>
    Task<string> Transfer(string input);
}

/// <summary>Input of a transfer.</summary>
public sealed record SdkTransfer(string To, decimal Amount);

/// <summary>Result of a question for the balances.</summary>
public sealed record SdkBalances(decimal Checking, decimal Savings, decimal Total);

/// <summary>
/// The actor proxies of Dapr's .NET SDK against transactional actors, through the real sidecar: a call is a
/// transaction.
/// </summary>
[Collection(OnDaprAndRedis.Name)]
[RequiresServers]
public sealed class ActorSdkTests(DaprAndRedisSystem system) : SystemTests(system)
{
    private ActorProxyOptions Options =>
        new() { HttpEndpoint = Shared.Process.Worker.Sidecar.ToString(), UseJsonSerialization = true };

    [SystemFact]
    public async Task A_typed_proxy_runs_transactions_and_rethrows_aborts()
    {
        var (a, b) = (Name("a"), Name("b"));
        var account = ActorProxy.Create<IAccountOfTheSdk>(new ActorId(a), "Account", Options);

        Assert.Equal(9_990, await account.Transfer(new(b, 10)));
        var aborted =
            await Assert.ThrowsAsync<ActorMethodInvocationException>(() => account.Transfer(new(b, 1_000_000)));

        Assert.StartsWith("application: ", aborted.InnerException!.Message, StringComparison.Ordinal);
        Assert.Equal((9_990m, 10_000m), await Balances(a));
        Assert.Equal((10_010m, 10_000m), await Balances(b));
        Assert.Equal(19_990, (await account.Balance()).Total);
    }

    [SystemFact]
    public async Task An_untyped_proxy_runs_transactions_and_fails_for_an_abort()
    {
        var (a, b) = (Name("a"), Name("b"));
        var account = ActorProxy.Create(new ActorId(a), "Account", Options);

        Assert.Equal(9_990, await account.InvokeMethodAsync<SdkTransfer, decimal>("Transfer", new(b, 10)));
        await Assert.ThrowsAnyAsync<Exception>(() => account.InvokeMethodAsync<SdkTransfer,
            decimal>("Transfer", new(b, 1_000_000)));

        Assert.Equal(19_990, (await account.InvokeMethodAsync<SdkBalances>("Balance")).Total);
    }

    [SystemFact]
    public async Task DataContract_bodies_are_refused_in_words()
    {
        var options = new ActorProxyOptions { HttpEndpoint = Options.HttpEndpoint };
        var account = ActorProxy.Create<ITextActor>(new ActorId(Name("a")), "Account", options);

        // A call without argument has no body, and cannot be told from one with JSON.
        var refused = await Assert.ThrowsAsync<ActorMethodInvocationException>(() => account.Transfer("text"));

        Assert.StartsWith("unsupported-media-type: ", refused.InnerException!.Message, StringComparison.Ordinal);
        Assert.Contains("UseJsonSerialization", refused.InnerException.Message, StringComparison.Ordinal);
    }

    /// <summary>As the SDKs for JavaScript, Go, Java and Python send it.</summary>
    [SystemFact]
    public Task Bodies_of_other_SDKs_are_inputs() => All(
        from method in new[] { "PUT", "POST" }
        from body in new[] { """[{"to":"BOB","amount":10}]""", """{"to":"BOB","amount":10}""" }
        select (method, body),
        async row => await BodyIsInput(row.method, row.body));

    private async Task BodyIsInput(string method, string body)
    {
        var (a, b) = (Name("a"), Name("b"));
        using var http = new HttpClient { BaseAddress = Shared.Process.Worker.Sidecar };

        for (var i = 0; i < 2; i++)
        {
            var (status, text) =
                await Send(http, method, a, body.Replace("BOB", b, StringComparison.Ordinal), ("Idempotency-Key", a));
            Assert.Equal((HttpStatusCode.OK, "9990"), (status, text));
        }

        Assert.Equal((10_010m, 10_000m), await Balances(b)); // once, by its key
        var (failed, _) = await Send(http, method, a, $$"""{"to":"{{b}}","amount":1000000}""");
        Assert.Equal(HttpStatusCode.InternalServerError, failed);
        var (asked, envelope) =
            await Send(http, method, a, $$"""{"to":"{{b}}","amount":1000000}""", ("Snapper-Envelope", "always"));
        Assert.Equal(HttpStatusCode.OK, asked);
        Assert.Contains("\"outcome\":\"aborted\"", envelope, StringComparison.Ordinal);
        Assert.Contains("\"attempts\":1", envelope, StringComparison.Ordinal);
    }

    private async Task<(decimal Checking, decimal Savings)> Balances(string id)
    {
        var result = (await Commit(Accounts.Balance(id).Act())).Result;
        return (result.GetProperty("checking").GetDecimal(), result.GetProperty("savings").GetDecimal());
    }

    private static async Task<(HttpStatusCode Status, string Text)> Send(HttpClient http, string method, string id,
        string body, params (string Name, string Value)[] headers)
    {
        using var request = new HttpRequestMessage(new HttpMethod(method), $"/v1.0/actors/Account/{id}/method/Transfer")
        {
            Content = new StringContent(body, Encoding.UTF8, "application/json"),
        };
        foreach (var (name, value) in headers)
        {
            request.Headers.TryAddWithoutValidation(name, value);
        }

        using var response = await http.SendAsync(request);
        return (response.StatusCode, await response.Content.ReadAsStringAsync());
    }
}
