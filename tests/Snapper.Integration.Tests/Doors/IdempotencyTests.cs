using System.Text.Json;
using Snapper.Integration.Tests.Harness;
using Xunit;

namespace Snapper.Integration.Tests.Doors;

/// <summary>Requests that carry an id: their effects happen once, their first outcome is the answer for good.</summary>
[Collection(OnDaprAndRedis.Name)]
[RequiresServers]
public sealed class IdempotencyTests(DaprAndRedisSystem system) : SystemTests(system)
{
    private static readonly bool[] Modes = [true, false];

    [SystemFact]
    public Task The_same_id_has_the_same_answer_and_one_effect() => All(Modes, async pact =>
    {
        var (a, id) = (Name("a"), Name("id"));
        var deposit = As(pact, Accounts.Amount("DepositChecking", a, 5)) with { RequestId = id };
        var first = await Commit(deposit);

        foreach (var door in Enum.GetValues<Door>())
        {
            AssertSame(first, await Commit(deposit, door));
        }

        AssertSame(first, (await Client.SubmitMany([deposit]))[0]);
        Assert.Equal(10_005, await Checking(a));
    });

    /// <summary>Read-only ones too: the second answer is the first one, not a new read.</summary>
    [SystemFact]
    public async Task A_read_with_an_id_is_answered_as_the_first_time()
    {
        var (a, id) = (Name("a"), Name("id"));
        var balance = Accounts.Balance(a).Pact() with { RequestId = id };
        var first = await Commit(balance);

        await Commit(Accounts.Amount("DepositChecking", a, 5));

        AssertSame(first, await Commit(balance));
    }

    /// <summary>The same key with another request is refused, whatever differs, and not executed.</summary>
    [SystemFact]
    public async Task Another_request_with_the_same_id_is_a_conflict()
    {
        var (a, b, id) = (Name("a"), Name("b"), Name("id"));
        await Commit(Accounts.Transfer(a, b, 5).Pact(b) with { RequestId = id });

        foreach (var other in new[] { Accounts.Transfer(a, b, 6).Pact(b), Accounts.Transfer(a, b, 5, "SendPayment").Pact(b), Accounts.Balance(a).Pact() })
        {
            var answer = await Client.Submit(other with { RequestId = id });
            Assert.True(answer.Status == 409 && answer.Outcome != "committed", $"{other}: {answer}");
        }

        Assert.Equal((9_995, 10_005), (await Checking(a), await Checking(b)));
    }

    /// <summary>While the first is running, the others join it; at all doors at once.</summary>
    [SystemFact]
    public Task A_request_that_is_still_running_is_joined() => All(Modes, async pact =>
    {
        var (x, id) = (Name("x"), Name("id"));
        var operations = new[] { Lists.Append(x, 1), Lists.Read(x) };
        var slow = (pact ? Lists.ExecutePact(x, operations, delayMs: 500) : Lists.Execute(x, operations, delayMs: 500).Act()) with { RequestId = id };

        var answers = await Task.WhenAll(Enumerable.Range(0, 12).Select(index => Commit(slow, (Door)(index % 3))));

        Assert.All(answers, answer => AssertSame(answers[0], answer));
        await AssertList(x, 1);
    });

    /// <summary>"Insufficient funds" stays the answer of that id, although there is money by now.</summary>
    [SystemFact]
    public Task An_application_abort_is_repeated() => All(Modes, async pact =>
    {
        var (a, b, id) = (Name("a"), Name("b"), Name("id"));
        var transfer = As(pact, Accounts.Transfer(a, b, 10_001), b) with { RequestId = id };
        var first = await Abort(transfer, "application");

        await Commit(Accounts.Amount("DepositChecking", a, 5_000));
        var second = await Abort(transfer, "application");

        Assert.Equal(first.Json.GetProperty("abort").GetRawText(), second.Json.GetProperty("abort").GetRawText());
        Assert.Equal((15_000, 10_000), (await Checking(a), await Checking(b)));
    });

    /// <summary>What was aborted for a passing reason may run again under its id.</summary>
    [SystemFact]
    public async Task A_retryable_abort_can_be_tried_again_with_its_id()
    {
        var (x, id) = (Name("x"), Name("id"));
        var slow = Lists.ExecutePact(x, [Lists.Append(x, 1)], delayMs: 4000) with { RequestId = id };
        var doomed = Client.Submit(slow);
        await Running(id);
        var other = Client.Submit(Lists.AppendTo(x, 2).Pact());
        AssertAborted(await doomed, "timeout", Door.Direct, "a slow transaction with another one waiting");
        Assert.True((await doomed).Retryable);
        Assert.Equal(Verdict.Committed, (await other).Verdict);

        await Commit(slow);

        await AssertList(x, 2, 1);
    }

    /// <summary>Asking by id: unknown, running, committed, aborted.</summary>
    [SystemFact]
    public async Task The_outcome_can_be_asked_for_by_id()
    {
        var (x, id, aborted) = (Name("x"), Name("id with / % \"quotes\" \U0001F600"), Name("id"));
        Assert.Equal(404, (await Client.Find(id)).Status);
        var running = Client.Submit(Lists.ExecutePact(x, [Lists.Append(x, 1)], delayMs: 600) with { RequestId = id });
        await Running(id);
        var first = await running;
        await Abort(Lists.Execute(x, [], abort: true) with { RequestId = aborted }, "application");

        var found = await Client.Find(id);
        Assert.True(found is { Status: 200, Verdict: Verdict.Committed }, found.ToString());
        AssertSame(first, found);
        Assert.Equal("application", (await Client.Find(aborted)).AbortReason);
    }

    /// <summary>In one batch request, too, an id runs once.</summary>
    [SystemFact]
    public async Task An_id_repeated_in_one_batch_request_runs_once()
    {
        var (a, id) = (Name("a"), Name("id"));
        var deposit = Accounts.Amount("DepositChecking", a, 5).Pact() with { RequestId = id };

        var answers = await Client.SubmitMany([deposit, deposit, deposit]);

        Assert.All(answers, answer => AssertSame(answers[0], answer));
        Assert.Equal(10_005, await Checking(a));
    }

    internal static void AssertSame(Answer first, Answer other)
    {
        foreach (var field in new[] { "id", "outcome", "mode", "transaction", "batch", "result" })
        {
            var (one, two) = (first.Json.GetProperty(field), other.Json.TryGetProperty(field, out var value) ? value : default);
            Assert.True(two.ValueKind != JsonValueKind.Undefined && JsonElement.DeepEquals(one, two), $"{field} differs:\n{first}\n{other}");
        }
    }

    private Task Running(string id) => Eventually.Holds($"{id} to be running", TimeSpan.FromSeconds(5), async () =>
        await Client.Find(id) is { Verdict: Verdict.Running } ? null : $"{await Client.Find(id)}");

    private static Transaction As(bool pact, Transaction transaction, params string[] others) => pact ? transaction.Pact(others) : transaction.Act();
}
