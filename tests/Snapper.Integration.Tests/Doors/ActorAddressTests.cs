using System.Text;
using Snapper.Integration.Tests.Harness;
using Xunit;

namespace Snapper.Integration.Tests.Doors;

/// <summary>
/// Which ids survive the way through the sidecar to the actor door, and how they have to be written: what docs/http-api.md says of it. A newer daprd that
/// does otherwise fails here.
/// </summary>
[Collection(OnDaprAndRedis.Name)]
[RequiresServers]
public sealed class ActorAddressTests(DaprAndRedisSystem system) : SystemTests(system)
{
    private static readonly string[] Plain = ["a b", "a+b", "\"quoted\"", "it's", "ünïcödé", "名前", "\U0001F600", "<tag>", "{w1}", "a:b;c,d", "a||b", "a@b&c=d$e!*()[]", "..."];

    private static readonly string[] Special = ["a/b", "a?b", "a#b", "a\\b", "100%", "a%41b", "a%2Fb", "a%zz", "50% /#"];

    /// <summary>Encoded once, an id of other characters than <c>/ ? # \ %</c> arrives as it is; encoded twice, every id does.</summary>
    [SystemFact]
    public Task Ids_arrive_when_they_are_encoded_as_the_documentation_says() => All(
        [.. Plain.Select(text => (text, Times: 1)), .. Plain.Concat(Special).Select(text => (text, Times: 2))],
        async row =>
        {
            var id = Name("n") + row.text;

            var answer = await Deposit(Encoded(id, row.Times));

            Assert.True(answer.Verdict == Verdict.Committed, $"{row}: {answer}");
            Assert.Equal(10_001, await Checking(id));
        });

    /// <summary>Encoded once, slashes and their like are daprd's 400.</summary>
    [SystemFact]
    public Task Daprd_refuses_separators_in_an_id_that_is_encoded_once() => All(["a/b", "a?b", "a#b", "a\\b"], async text =>
    {
        var answer = await Deposit(Encoded(Name("n") + text, 1));

        Assert.True(answer.Status == 400 && answer.Body.Contains("forbidden character", StringComparison.Ordinal), $"{text}: {answer}");
    });

    /// <summary>Encoded once, a percent sign that begins no escape is daprd's 500.</summary>
    [SystemFact]
    public Task Daprd_fails_on_a_percent_sign_in_an_id_that_is_encoded_once() => All(["100%", "a%zz"], async text =>
    {
        var answer = await Deposit(Encoded(Name("n") + text, 1));

        Assert.True(answer.Status == 500 && answer.Body.Contains("invalid URL escape", StringComparison.Ordinal), $"{text}: {answer}");
    });

    /// <summary>Encoded once, an escape in an id is decoded again. Of a letter it can be told and is refused.</summary>
    [SystemFact]
    public async Task An_escaped_letter_in_an_id_that_is_encoded_once_is_refused()
    {
        var name = Name("n");

        var answer = await Deposit(Encoded(name + "a%41b", 1));

        Assert.True(answer is { Status: 200, Outcome: "rejected", RefusalStatus: 400 }, answer.ToString());
        Assert.Contains("twice", answer.Body, StringComparison.Ordinal);
        Assert.Equal((10_000, 10_000), (await Checking(name + "a%41b"), await Checking(name + "aAb")));
    }

    /// <summary>Of a slash it cannot be told from an id that is encoded twice: only a caller that names the actor in the body is warned.</summary>
    [SystemFact]
    public async Task An_escaped_slash_in_an_id_that_is_encoded_once_is_another_actor_unless_the_body_says_who_is_meant()
    {
        var name = Name("n");

        var careful = await Deposit(Encoded(name + "a%2Fb", 1), $$"""{"type":"Account","id":"{{name}}a%2Fb"}""");
        Assert.True(careful is { Status: 200, Outcome: "rejected", RefusalStatus: 400 }, careful.ToString());
        Assert.Equal((10_000, 10_000), (await Checking(name + "a%2Fb"), await Checking(name + "a/b")));

        Assert.Equal(Verdict.Committed, (await Deposit(Encoded(name + "a%2Fb", 1))).Verdict);
        Assert.Equal((10_000, 10_001), (await Checking(name + "a%2Fb"), await Checking(name + "a/b")));
    }

    private static string Encoded(string id, int times)
    {
        for (; times > 0; times--)
        {
            id = Uri.EscapeDataString(id);
        }

        return id;
    }

    private Task<Answer> Deposit(string encodedId, string? actor = null)
    {
        var body = $$"""{"method":"DepositChecking","input":{"amount":1}{{(actor is null ? "" : $",\"actor\":{actor}")}}}""";
        return Client.Send(
            HttpMethod.Post,
            new Uri(Client.Sidecar, $"v1.0/actors/Account/{encodedId}/method/StartTransaction"),
            new StringContent(body, Encoding.UTF8, "application/json"),
            actorCall: true);
    }
}
