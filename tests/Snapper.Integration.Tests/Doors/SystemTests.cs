using System.Text.Json;
using Snapper.Dashboard.Tests.Fakes;
using Snapper.Integration.Tests.Harness;
using Xunit;

namespace Snapper.Integration.Tests.Doors;

/// <summary>What tests of a shared system need again and again.</summary>
public abstract class SystemTests(RunningSystem system)
{
    internal RunningSystem Shared { get; } = system;

    internal SnapperClient Client => Shared.Client;

    internal static string Name(string stem) => RunningSystem.Name(stem);

    /// <summary>Sends a transaction that must commit.</summary>
    internal async Task<Answer> Commit(Transaction transaction, Door door = Door.Direct)
    {
        var answer = await Client.Submit(transaction, door);
        Assert.True(answer is { Status: 200, Verdict: Verdict.Committed }, $"{transaction.ToJson().ToJsonString()} at the {door} door should have committed: {answer}");
        return answer;
    }

    /// <summary>Sends a transaction that must abort for a reason; with the status and shape of its door.</summary>
    internal async Task<Answer> Abort(Transaction transaction, string reason, Door door = Door.Direct)
    {
        var answer = await Client.Submit(transaction, door);
        AssertAborted(answer, reason, door, transaction.ToJson().ToJsonString());
        return answer;
    }

    internal static void AssertAborted(Answer answer, string reason, Door door, string what)
    {
        Assert.True(
            answer.Status == (door == Door.Actor ? 200 : 409) && answer.Outcome == "aborted" && answer.AbortReason == reason,
            $"{what} at the {door} door should have been aborted ({reason}): {answer}");
        Assert.False(answer.Json.TryGetProperty("result", out var result) && result.ValueKind != JsonValueKind.Null, $"An abort has no result: {answer}");
    }

    internal async Task<decimal> Checking(string account) => (await Commit(Accounts.Balance(account).Act())).Result.GetProperty("checking").GetDecimal();

    internal async Task<long[]> List(string key) => [.. (await Commit(Lists.ReadOf(key).Act())).Result.EnumerateArray().Select(value => value.GetInt64())];

    internal async Task AssertList(string key, params long[] expected)
    {
        var actual = await List(key);
        Assert.True(expected.AsSpan().SequenceEqual(actual), $"{key} should be [{string.Join(' ', expected)}], is [{string.Join(' ', actual)}]");
    }

    /// <inheritdoc cref="Rows.All"/>
    internal static Task All<T>(IEnumerable<T> rows, Func<T, Task> check) => Rows.All(rows, check);
}
