using System.Text.Json;
using System.Text.Json.Nodes;
using Snapper.Integration.Tests.Harness;
using Xunit;

namespace Snapper.Integration.Tests.Doors;

/// <summary>The three doors and the exact shapes of what they answer.</summary>
public abstract class EndpointTests(RunningSystem system) : SystemTests(system)
{
    /// <summary>The request of the README, word for word, is a committed PACT at each door, and its money has moved.</summary>
    [SystemFact]
    public Task The_first_transaction_commits_through_each_door() => All(Enum.GetValues<Door>(), async door =>
    {
        var (alice, bob, id) = (Name("alice"), Name("bob"), Name("order"));
        var transfer = Accounts.Transfer(alice, bob, 10) with { Access = Access(alice, bob), RequestId = id };

        var answer = await Commit(transfer, door);

        Assert.Equal("application/json", answer.ContentType);
        Assert.Equal(id, answer.Json.GetProperty("id").GetString());
        Assert.Equal("pact", answer.Json.GetProperty("mode").GetString());
        Assert.True(answer.Json.GetProperty("transaction").GetInt64() > 0, answer.ToString());
        Assert.True(answer.Json.GetProperty("batch").GetInt64() > 0, answer.ToString());
        Assert.True(answer.Json.GetProperty("transaction").GetInt64() >= answer.Json.GetProperty("batch").GetInt64(), "A batch has the number of its first transaction.");
        Assert.Equal(1, answer.Json.GetProperty("attempts").GetInt32());
        Assert.Equal(9990, answer.Result.GetDecimal());
        Assert.False(answer.Json.TryGetProperty("abort", out var abort) && abort.ValueKind != JsonValueKind.Null, answer.ToString());
        Assert.Equal((9990, 10010), (await Checking(alice), await Checking(bob)));
    });

    /// <summary>Without a declaration it is an ACT; without an id the system makes one.</summary>
    [SystemFact]
    public Task Without_access_it_is_an_ACT_and_without_id_it_gets_one() => All(Enum.GetValues<Door>(), async door =>
    {
        var (alice, bob) = (Name("alice"), Name("bob"));

        var answer = await Commit(Accounts.Transfer(alice, bob, 10), door);

        Assert.Equal("act", answer.Json.GetProperty("mode").GetString());
        Assert.False(string.IsNullOrEmpty(answer.Json.GetProperty("id").GetString()));
        Assert.True(answer.Json.GetProperty("transaction").GetInt64() > 0, answer.ToString());
        Assert.Equal((9990, 10010), (await Checking(alice), await Checking(bob)));
    });

    /// <summary>The actor door takes POST as well as PUT.</summary>
    [SystemFact]
    public async Task The_actor_door_takes_PUT_too()
    {
        var account = Name("alice");
        using var body = new StringContent("""{"method":"Balance"}""", System.Text.Encoding.UTF8, "application/json");

        var answer = await Client.Send(HttpMethod.Put, new Uri(Client.Sidecar, $"v1.0/actors/Account/{account}/method/StartTransaction"), body);

        Assert.Equal("committed", answer.Outcome);
    }

    /// <summary>An abort by the method: 409 problem+json at the HTTP doors, 200 with the envelope at the actor door, the same words in both.</summary>
    [SystemFact]
    public Task An_application_abort_has_the_shape_of_its_door() => All(
        from door in Enum.GetValues<Door>() from pact in new[] { true, false } select (door, pact),
        async row =>
        {
            var (alice, bob) = (Name("alice"), Name("bob"));
            var transfer = Accounts.Transfer(alice, bob, 10_001);

            var answer = await Abort(row.pact ? transfer.Pact(bob) : transfer, "application", row.door);

            var abort = answer.Json.GetProperty("abort");
            Assert.Contains("insufficient funds", abort.GetProperty("message").GetString(), StringComparison.OrdinalIgnoreCase);
            Assert.False(abort.GetProperty("retryable").GetBoolean());
            Assert.Equal(row.pact ? "pact" : "act", answer.Json.GetProperty("mode").GetString());
            if (row.door != Door.Actor)
            {
                AssertProblem(answer, 409);
            }

            Assert.Equal((10_000, 10_000), (await Checking(alice), await Checking(bob)));
        });

    /// <summary>Many in one request: each on its own, answers in the same order, one abort among them harms nobody.</summary>
    [SystemFact]
    public Task A_batch_request_answers_each_in_its_order() => All([Door.Direct, Door.Service], async door =>
    {
        var names = Enumerable.Range(0, 40).Select(_ => Name("b")).ToArray();
        var requests = names.Select((name, index) => index % 10 == 3
            ? Accounts.Transfer(name, "nobody", 10_001).Pact("nobody")
            : index % 2 == 0 ? Accounts.Amount("DepositChecking", name, index).Pact() : Accounts.Amount("DepositChecking", name, index)).ToArray();

        var answers = await Client.SubmitMany(requests, door);

        for (var index = 0; index < names.Length; index++)
        {
            var answer = answers[index];
            Assert.True(answer.Outcome == (index % 10 == 3 ? "aborted" : "committed"), $"{index}: {answer}");
            Assert.True(index % 10 == 3 || answer.Result.GetDecimal() == 10_000 + index, $"{index}: {answer}");
        }
    });

    /// <summary>1,000 in one request is allowed, none and 1,001 are not, and then none is executed.</summary>
    [SystemFact]
    public async Task A_batch_request_has_1_to_1000_transactions()
    {
        var account = Name("b");
        var deposit = Accounts.Amount("DepositChecking", account, 1).Pact();
        var many = await Client.SubmitMany([.. Enumerable.Repeat(deposit, 1000)]);

        Assert.Equal(1000, many.Count(answer => answer.Verdict == Verdict.Committed));
        Assert.Equal(11_000, await Checking(account));
        Assert.Equal(400, (await Client.SubmitMany([.. Enumerable.Repeat(deposit, 1001)]))[0].Status);
        Assert.Equal(400, (await Client.SubmitRaw("""{"transactions":[]}""")).Status);
        Assert.Equal(400, (await Client.SubmitRaw("""{"transactions":5}""")).Status);
        Assert.Equal(11_000, await Checking(account));
    }

    /// <summary>One that cannot be read fails alone or the whole request is refused; in both cases the rest is either executed whole or not at all.</summary>
    [SystemFact]
    public async Task A_wrong_transaction_in_a_batch_request_harms_no_other()
    {
        var account = Name("b");
        var good = Accounts.Amount("DepositChecking", account, 1).ToJson().ToJsonString();

        var answer = await Client.SubmitRaw($$"""{"transactions":[{{good}},{"actor":{"type":"Account","id":"x"},"method":"NoSuchMethod"},{{good}}]}""");

        var outcomes = answer.Status == 200 ? answer.Json.GetProperty("results").EnumerateArray().Select(one => one.GetProperty("outcome").GetString()).ToArray() : [];
        Assert.True(answer.Status == 400 || outcomes is ["committed", "rejected", "committed"], answer.ToString());
        Assert.Equal(10_000 + outcomes.Count(outcome => outcome == "committed"), await Checking(account));
    }

    /// <summary>404 names what is unknown; at the actor door it is a 200 that says rejected.</summary>
    [SystemFact]
    public async Task Unknown_types_and_methods_are_404()
    {
        var account = Name("alice");
        var unknown = Access(account);
        unknown["NoSuchType"] = new JsonArray("x");
        foreach (var door in new[] { Door.Direct, Door.Service })
        {
            AssertProblem(await Client.Submit(new Transaction("NoSuchType", account, "Balance"), door), 404, "NoSuchType");
            AssertProblem(await Client.Submit(new Transaction("Account", account, "NoSuchMethod"), door), 404, "NoSuchMethod");
            AssertProblem(await Client.Submit(Accounts.Balance(account) with { Access = unknown }, door), 404, "NoSuchType");
        }

        var rejected = await Client.Submit(new Transaction("Account", account, "NoSuchMethod"), Door.Actor);
        Assert.True(rejected is { Status: 200, Outcome: "rejected", RefusalStatus: 404 }, rejected.ToString());
    }

    private static JsonObject Access(params string[] accounts) =>
        new() { ["Account"] = new JsonObject(accounts.Select(account => KeyValuePair.Create(account, (JsonNode?)JsonValue.Create(1)))) };

    private static void AssertProblem(Answer answer, int status, string? names = null)
    {
        Assert.True(answer.Status == status && answer.ContentType == "application/problem+json", $"expected a problem with status {status}: {answer.ContentType}, {answer}");
        Assert.Equal(status, answer.Json.GetProperty("status").GetInt32());
        Assert.False(string.IsNullOrEmpty(answer.Json.GetProperty("title").GetString()));
        Assert.True(names is null || answer.Body.Contains(names, StringComparison.Ordinal), $"it should name {names}: {answer}");
    }
}

/// <summary>On the stand-ins.</summary>
[Collection(OnEmbedded.Name)]
public sealed class EmbeddedEndpointTests(EmbeddedSystem system) : EndpointTests(system);

/// <summary>On the real daprd and Redis.</summary>
[Collection(OnDaprAndRedis.Name)]
[RequiresServers]
public sealed class DaprEndpointTests(DaprAndRedisSystem system) : EndpointTests(system);
