using System.Text;
using Snapper.AspNetCore.Api;
using Snapper.AspNetCore.Api.Answers;
using Snapper.AspNetCore.Api.Requests;
using Snapper.Runtime.Door;
using Xunit;

namespace Snapper.Server.Tests.Api;

/// <summary>Mutations of good requests under a fixed seed: each is accepted or refused with a 4xx, and nothing throws.</summary>
public sealed class FuzzTests
{
    private const int Iterations = 20_000;

    private static readonly string[] Seeds =
    [
        """{"actor":{"type":"Account","id":"alice"},"method":"Transfer","input":{"to":"bob","amount":10.5},"access":{"Account":{"alice":1,"bob":{"calls":2}}},"id":"order-4711","timeoutMs":30000}""",
        """{"access":{"Account":["alice","b\u006fb","🏦"],"Log":{"x/y":3}},"mode":"pact","accessMode":"audit","method":"M","actor":{"id":"alice","type":"Account"},"input":[[1e5,-0.1,"\ud83c\udfe6"],null,true,false]}""",
        """{"transactions":[{"actor":{"type":"Account","id":"a"},"method":"M"},{"actor":{"type":"Account","id":"b"},"method":"N","access":{"Account":["b"]},"input":"x","id":"r"}]}""",
    ];

    private static readonly byte[][] Fragments = Array.ConvertAll(
        (string[])["\"", "{", "}", "[", "]", ":", ",", "null", "NaN", "1e999", "-1", "\\u0000", "\\ud800", "\\", "\0", "\"id\":", "\"access\":", "\"actor\":{", "[[[[[[[[", "\ufeff", "🏦", "  \n", "\"transactions\":["],
        Encoding.UTF8.GetBytes);

    [Theory]
    [InlineData(1)]
    [InlineData(20261121)]
    public void Mutated_requests_are_accepted_or_refused_and_never_throw(int seed)
    {
        var random = new Random(seed);
        var options = new ApiOptions { TransactionBodyBytesMax = 600, BatchBodyBytesMax = 2_000 };
        var outcomes = new Dictionary<string, int>();
        for (var i = 0; i < Iterations; i++)
        {
            var body = Mutated(random);
            try
            {
                foreach (var request in Requests(TransactionRequestReader.Read(body, default, options)))
                {
                    var outcome = Check(request);
                    outcomes[outcome] = outcomes.GetValueOrDefault(outcome) + 1;
                }

                Check(TransactionRequestReader.ReadForActor(body, new("Account", "alice"), default, options));
            }
            catch (Exception exception)
            {
                Assert.Fail($"Seed {seed}, iteration {i}, body {Convert.ToBase64String(body)}: {exception}");
            }
        }

        // A fuzz that never gets past the first byte, or never breaks anything, would test nothing.
        Assert.True(outcomes.GetValueOrDefault("accepted") > Iterations / 50, $"Too few mutations were accepted: {string.Join(", ", outcomes)}.");
        Assert.True(outcomes.GetValueOrDefault("400") > Iterations / 4, $"Too few mutations were refused: {string.Join(", ", outcomes)}.");
    }

    private static IEnumerable<ParsedRequest> Requests(ParsedBody body) => body.Batch ?? [body.Single];

    private static string Check(ParsedRequest parsed)
    {
        if (parsed.Refusal is { } refusal)
        {
            var problem = Problem.Of(refusal, TimeSpan.FromSeconds(1));
            Assert.InRange(problem.Status, 400, 499);
            Assert.InRange(refusal.Detail.Length, 1, 300);
            using var buffer = JsonBuffer.Rent();
            EnvelopeWriter.WriteProblem(buffer.Json, problem, refusal);
            using var document = System.Text.Json.JsonDocument.Parse(buffer.Written);
            Assert.Equal(refusal.Detail, document.RootElement.GetProperty("detail").GetString());
            return problem.Status.ToString(System.Globalization.CultureInfo.InvariantCulture);
        }

        var request = parsed.Request!;
        Assert.Equal(request.Mode == TransactionMode.Pact, request.Access is not null);
        Assert.True(request.Access is null || request.Access.Count(declared => declared.Actor.Equals(request.Actor)) == 1);
        Assert.True(request.Access is null || request.Access.Distinct().Count() == request.Access.Length);
        Assert.True(request.Access is null || request.Access.All(declared => declared.Calls >= 1));
        Assert.InRange(request.Timeout, TimeSpan.FromMilliseconds(1), TimeSpan.FromSeconds(300));
        if (!request.Input.IsEmpty)
        {
            using var input = System.Text.Json.JsonDocument.Parse(request.Input);
        }

        return "accepted";
    }

    private static byte[] Mutated(Random random)
    {
        var body = new List<byte>(Encoding.UTF8.GetBytes(Seeds[random.Next(Seeds.Length)]));
        for (var mutations = random.Next(1, 4); mutations > 0 && body.Count > 0; mutations--)
        {
            var at = random.Next(body.Count);
            switch (random.Next(6))
            {
                case 0: body[at] = (byte)random.Next(256); break;
                case 1: body[at] ^= (byte)(1 << random.Next(8)); break;
                case 2: body.RemoveRange(at, Math.Min(random.Next(1, 12), body.Count - at)); break;
                case 3: body.InsertRange(at, Fragments[random.Next(Fragments.Length)]); break;
                case 4: body.InsertRange(random.Next(body.Count), body.GetRange(at, Math.Min(random.Next(1, 60), body.Count - at))); break;
                default: body.RemoveRange(at, body.Count - at); break;
            }
        }

        return [.. body];
    }
}
