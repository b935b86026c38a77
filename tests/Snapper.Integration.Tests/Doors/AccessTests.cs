using System.Diagnostics;
using System.Text.Json;
using System.Text.Json.Nodes;
using Snapper.Integration.Tests.Harness;
using Xunit;

namespace Snapper.Integration.Tests.Doors;

/// <summary>Declarations: what they may say, and that a wrong one harms only its own transaction.</summary>
[Collection(OnDaprAndRedis.Name)]
[RequiresServers]
public sealed class AccessTests(DaprAndRedisSystem system) : SystemTests(system)
{
    /// <summary>Counts as numbers, as objects, as a list of ids: three ways to say the same.</summary>
    [SystemFact]
    public Task A_declaration_can_be_written_in_three_ways() => All(
        ["""{"A":1,"B":1}""", """{"A":{"calls":1},"B":{"calls":1}}""", """["A","B"]"""],
        async access =>
        {
            var (a, b) = (Name("a"), Name("b"));
            var declared = JsonNode.Parse(access.Replace("\"A\"", $"\"{a}\"", StringComparison.Ordinal).Replace("\"B\"", $"\"{b}\"", StringComparison.Ordinal));

            await Commit(Accounts.Transfer(a, b, 10) with { Access = new JsonObject { ["Account"] = declared } });

            Assert.Equal(10_010, await Checking(b));
        });

    /// <summary>The call to an actor that was not declared dooms the transaction, nothing of it remains, and the answer names the actor.</summary>
    [SystemFact]
    public async Task Touching_an_undeclared_actor_aborts()
    {
        var (a, b) = (Name("a"), Name("b"));

        var answer = await Abort(Accounts.Transfer(a, b, 10).Pact(), "undeclared");

        Assert.Contains(b, answer.Body, StringComparison.Ordinal);
        Assert.False(answer.Retryable, "The same request cannot succeed later.");
        Assert.Equal((10_000, 10_000), (await Checking(a), await Checking(b)));
    }

    /// <summary>One call more than declared is undeclared too, also the root's call back to itself.</summary>
    [SystemFact]
    public async Task More_calls_than_declared_abort()
    {
        var (a, b) = (Name("a"), Name("b"));

        await Abort(Accounts.MultiTransfer(a, [b, b], 10).Pact(b), "undeclared");
        await Abort(Accounts.Transfer(a, a, 10).Pact(), "undeclared");

        Assert.Equal((10_000, 10_000), (await Checking(a), await Checking(b)));
    }

    /// <summary>Declaring too much is allowed: the transaction commits, and those behind it on the untouched actor go on at once.</summary>
    [SystemFact]
    public async Task An_actor_declared_and_never_touched_holds_nobody_up()
    {
        var untouched = Name("u");
        var started = Stopwatch.GetTimestamp();

        var wasteful = Enumerable.Range(0, 50).Select(_ => Name("a")).Select(name => Commit(Accounts.Amount("DepositChecking", name, 1).Pact(untouched, untouched, untouched)));
        var useful = Enumerable.Range(0, 50).Select(_ => Commit(Accounts.Amount("DepositChecking", untouched, 1).Pact()));
        await Task.WhenAll([.. wasteful, .. useful]);

        Assert.True(Stopwatch.GetElapsedTime(started) < TimeSpan.FromSeconds(5), $"100 deposits took {Stopwatch.GetElapsedTime(started)}: an unused declaration held its actor.");
        Assert.Equal(10_050, await Checking(untouched));
    }

    /// <summary>Many wrong declarations between right ones on the same actors: every right one commits, none waits for a bound.</summary>
    [SystemFact]
    public async Task Wrong_declarations_harm_no_other_transaction()
    {
        var (a, b) = (Name("a"), Name("b"));
        var started = Stopwatch.GetTimestamp();

        var wrong = Enumerable.Range(0, 40).Select(index => Abort(
            index % 2 == 0 ? Lists.ExecutePact(a, [Lists.Append(a, -1)]) with { Access = Only(a, 1) } : Lists.Execute(a, [Lists.Append(b, -1)]).Pact(),
            "undeclared"));
        var right = Enumerable.Range(0, 80).Select(index => Commit(Lists.ExecutePact(index % 2 == 0 ? a : b, [Lists.Append(a, index), Lists.Append(b, index)])));
        await Task.WhenAll([.. wrong, .. right]);

        Assert.Equal(Enumerable.Range(0, 80).Select(index => (long)index), (await List(a)).Order());
        Assert.Equal(await List(a), await List(b));
        Assert.True(Stopwatch.GetElapsedTime(started) < TimeSpan.FromSeconds(10), $"took {Stopwatch.GetElapsedTime(started)}");
    }

    /// <summary>256 actors are allowed, 257 are not.</summary>
    [SystemFact]
    public async Task Up_to_256_actors_may_be_declared()
    {
        var a = Name("a");
        var others = Enumerable.Range(0, 256).Select(index => $"{a}-{index}").ToArray();

        await Commit(Accounts.MultiTransfer(a, others[..255], 1).Pact(others[..255]));
        var tooMany = await Client.Submit(Accounts.MultiTransfer(a, others, 1).Pact(others));

        Assert.Equal(422, tooMany.Status);
        Assert.Equal((10_000 - 255, 10_001), (await Checking(a), await Checking(others[0])));
    }

    /// <summary>Record runs without a declaration that must hold, and says what would have been right, ready to be sent as it is.</summary>
    [SystemFact]
    public async Task Record_mode_reports_the_declaration_to_use()
    {
        var (a, b, c) = (Name("a"), Name("b"), Name("c"));
        var transfer = Accounts.MultiTransfer(a, [b, c, b], 10);

        var recorded = await Commit(transfer.Pact() with { AccessMode = "record" });
        var touched = FindDeclaration(recorded.Json);

        Assert.True(touched is not null, $"no declaration in {recorded}");
        Assert.Equal((1, 2, 1), (touched[a]!.GetValue<int>(), touched[b]!.GetValue<int>(), touched[c]!.GetValue<int>()));
        Assert.Equal(3, touched.Count);
        await Commit(transfer with { Mode = "pact", Access = new JsonObject { ["Account"] = touched.DeepClone() } });
        Assert.Equal((9_940, 10_040, 10_020), (await Checking(a), await Checking(b), await Checking(c)));
    }

    /// <summary>Audit holds the caller to the declaration, and says what was used of it.</summary>
    [SystemFact]
    public async Task Audit_mode_reports_what_was_used_and_keeps_the_rule()
    {
        var (a, b, unused) = (Name("a"), Name("b"), Name("unused"));

        var audited = await Commit(Accounts.Transfer(a, b, 10).Pact(b, b, unused) with { AccessMode = "audit" });
        var touched = FindDeclaration(audited.Json);

        Assert.True(touched is not null, $"no declaration in {audited}");
        Assert.Equal("pact", audited.Json.GetProperty("mode").GetString());
        Assert.Equal(1, touched[b]!.GetValue<int>());
        Assert.False(touched.ContainsKey(unused), audited.ToString());
        await Abort(Accounts.Transfer(a, b, 10).Pact() with { AccessMode = "audit" }, "undeclared");
    }

    private static JsonObject Only(string key, int calls) => new() { ["ListAppend"] = new JsonObject { [key] = calls } };

    /// <summary>The contract fixes the form of a declaration, not the field that reports it.</summary>
    private static JsonObject? FindDeclaration(JsonElement envelope)
    {
        foreach (var property in envelope.EnumerateObject())
        {
            if (property.Value.ValueKind == JsonValueKind.Object && property.Value.TryGetProperty("Account", out var accounts) && accounts.ValueKind == JsonValueKind.Object)
            {
                return JsonNode.Parse(accounts.GetRawText())!.AsObject();
            }
        }

        return null;
    }
}
