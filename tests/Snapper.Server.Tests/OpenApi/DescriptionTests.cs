using System.Text;
using System.Text.Json.Nodes;
using System.Text.RegularExpressions;
using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.Routing;
using Microsoft.Extensions.DependencyInjection;
using Snapper.AspNetCore.Api;
using Snapper.AspNetCore.Hosting;
using Snapper.Server.Tests.Api;
using Xunit;

namespace Snapper.Server.Tests.OpenApi;

/// <summary>docs/openapi.json is a description, and of all that the server maps and of nothing else.</summary>
public sealed partial class DescriptionTests
{
    private readonly ApiDescription _api = ApiDescription.Load();

    [Fact]
    public async Task Every_mapped_route_is_described()
    {
        await using var app = WebApplication.CreateSlimBuilder().Build();
        SnapperApi.Map(app, new FakeTransactionService(), new FakeInspection(), new ApiOptions());
        var routes = ((IEndpointRouteBuilder)app).DataSources.SelectMany(source => source.Endpoints).OfType<RouteEndpoint>()
            .SelectMany(endpoint => endpoint.Metadata.GetMetadata<IHttpMethodMetadata>()?.HttpMethods.Select(method => (Method: method, Pattern: endpoint.RoutePattern.RawText!)) ?? [])
            .Where(route => route.Method != "HEAD").ToArray();
        Assert.NotEmpty(routes);
        var missing = routes.Where(route => !_api.Operations.Any(o => o.Method == route.Method && Takes(route.Pattern, o.Path))).Select(route =>
            $"The server maps {route.Method} {route.Pattern}, and docs/openapi.json does not have it. Add paths[\"{Described().Replace(route.Pattern, "{$1}")}\"].{route.Method.ToLowerInvariant()} with operationId, summary, "
            + "parameters and a schema for every status, and to AnswerTests.Cases a request for each of these statuses.");
        Assert.True(!missing.Any(), string.Join("\n", missing));
    }

    [Fact]
    public async Task Every_described_operation_is_mapped()
    {
        await using var host = await ApiHost.Start(new FakeTransactionService());
        foreach (var operation in _api.Operations)
        {
            var path = Parameter().Replace(operation.Path, "1");
            using var request = new HttpRequestMessage(new HttpMethod(operation.Method), path);
            using var answer = await host.Client.SendAsync(request, HttpCompletionOption.ResponseHeadersRead);
            var text = operation.Path == "/v1/events" ? "" : await answer.Content.ReadAsStringAsync();
            Assert.True((int)answer.StatusCode != 405 && !text.Contains("There is nothing at this address", StringComparison.Ordinal), $"docs/openapi.json has {operation}, and the server does not");
        }
    }

    [Fact]
    public async Task Every_address_that_takes_GET_answers_HEAD_alike_without_a_body_but_the_stream_of_events()
    {
        await using var host = await ApiHost.Start(new FakeTransactionService());
        foreach (var path in _api.Operations.Where(o => o.Method == "GET").Select(o => Parameter().Replace(o.Path, "1")))
        {
            var head = await Ask("HEAD");
            if (path == "/v1/events")
            {
                Assert.Contains("HTTP/1.1 405", head, StringComparison.Ordinal);
                Assert.Contains("\r\nAllow: GET\r\n", head, StringComparison.Ordinal);
                continue;
            }

            Assert.Equal(StatusLine(await Ask("GET")), StatusLine(head));
            Assert.EndsWith("\r\n\r\n", head, StringComparison.Ordinal);

            Task<string> Ask(string method) => host.Raw(Encoding.ASCII.GetBytes($"{method} {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"));
        }

        static string StatusLine(string answer) => answer[..answer.IndexOf('\r', StringComparison.Ordinal)];
    }

    [Fact]
    public void It_is_OpenAPI_3_1_in_itself_consistent()
    {
        Assert.Equal("3.1.0", (string)_api.Document["openapi"]!);
        Assert.Equal(_api.Operations.Count, _api.Operations.Select(o => (string)o.Description["operationId"]!).Distinct().Count());
        var tags = _api.Document["tags"]!.AsArray().Select(t => (string)t!["name"]!).ToArray();
        foreach (var operation in _api.Operations)
        {
            Assert.False(string.IsNullOrEmpty((string?)operation.Description["summary"]), $"{operation} has no summary");
            Assert.All(operation.Description["tags"]!.AsArray(), tag => Assert.Contains((string)tag!, tags));
            var inPath = operation.Description["parameters"]?.AsArray().Where(p => (string)p!["in"]! == "path").Select(p => (string)p!["name"]!).Order() ?? Enumerable.Empty<string>();
            Assert.Equal(Parameter().Matches(operation.Path).Select(m => m.Value.Trim('{', '}')).Order(), inPath);
            Assert.All(operation.Description["responses"]!.AsObject(), r => Assert.False(string.IsNullOrEmpty((string?)r.Value!["description"]), $"{operation} {r.Key} has no description"));
        }
    }

    [Fact]
    public void Every_reference_leads_somewhere_and_every_schema_is_used()
    {
        var references = Everything(_api.Document).OfType<JsonObject>().Select(o => (string?)(o["$ref"] as JsonValue)).OfType<string>().Distinct().ToArray();
        var schemas = _api.Document["components"]!["schemas"]!.AsObject().Select(s => "#/components/schemas/" + s.Key);
        Assert.Equal(schemas.Order(), references.Order());
    }

    [Theory]
    [InlineData("""{"type":"object","properties":{"a":{"type":"integer"}},"required":["a"]}""", """{"a":1}""", true)]
    [InlineData("""{"type":"object","properties":{"a":{"type":"integer"}},"required":["a"]}""", """{"a":1.5}""", false)]
    [InlineData("""{"type":"object","properties":{"a":{"type":"integer"}},"required":["a"]}""", "{}", false)]
    [InlineData("""{"type":"object","properties":{"a":{"type":"integer"}}}""", """{"b":1}""", false)]
    [InlineData("""{"type":"object","additionalProperties":{"type":"string"}}""", """{"b":1}""", false)]
    [InlineData("""{"type":["string","null"]}""", "null", true)]
    [InlineData("""{"type":"array","items":{"enum":["a","b"]}}""", """["a","c"]""", false)]
    [InlineData("""{"anyOf":[{"type":"string"},{"type":"number","minimum":3}]}""", "4", true)]
    [InlineData("""{"anyOf":[{"type":"string"},{"type":"number","minimum":3}]}""", "2", false)]
    [InlineData("""{"$ref":"#/components/schemas/Problem"}""", """{"type":"a","title":"b","status":1,"detail":"c"}""", true)]
    [InlineData("""{"$ref":"#/components/schemas/Problem"}""", """{"type":"a","title":"b","status":"1","detail":"c"}""", false)]
    public void The_check_finds_what_does_not_fit(string schema, string value, bool fits) =>
        Assert.Equal(fits, _api.Check.Problems(JsonNode.Parse(value), JsonNode.Parse(schema)!).Count == 0);

    [Fact]
    public void A_keyword_that_the_check_does_not_know_is_not_passed_over() =>
        Assert.Throws<InvalidOperationException>(() => _api.Check.Problems(1, JsonNode.Parse("""{"exclusiveMinimum":1}""")!));

    /// <summary>A route of the server takes the addresses of a path: <c>{**x}</c> any rest, <c>{x}</c> one part.</summary>
    private static bool Takes(string pattern, string path) =>
        Regex.IsMatch(path, "^" + Parameter().Replace(Rest().Replace(pattern, ".+"), "[^/]+") + "$");

    private static IEnumerable<JsonNode> Everything(JsonNode node) => node switch
    {
        JsonObject one => one.SelectMany(p => p.Value is null ? [] : Everything(p.Value)).Prepend(one),
        JsonArray many => many.SelectMany(n => n is null ? [] : Everything(n)),
        _ => [],
    };

    [GeneratedRegex(@"\{[^}]+\}")]
    private static partial Regex Parameter();

    [GeneratedRegex(@"\{\*\*[^}]+\}")]
    private static partial Regex Rest();

    [GeneratedRegex(@"\{\*\*([^}]+)\}")]
    private static partial Regex Described();
}
