using System.Text;
using System.Text.Json.Nodes;
using Xunit;

namespace Snapper.Server.Tests.OpenApi;

/// <summary>Asks servers, compares each answer with docs/openapi.json, and notes which documented statuses were seen.</summary>
internal sealed class Asker(ApiDescription api)
{
    private readonly HashSet<(string Operation, string Status)> _seen = [];

    /// <summary>What is documented and was not seen, in words.</summary>
    public IEnumerable<string> Unseen() => api.Operations.SelectMany(o => o.Statuses.Where(s => !_seen.Contains((o.ToString(), s)))
        .Select(status => $"docs/openapi.json says that {o} answers {status}, and no request of AnswerTests makes it do so: add one, or take the status out"));

    /// <summary>One request.</summary>
    /// <param name="server">Where to.</param>
    /// <param name="status">What it must be answered.</param>
    /// <param name="what">Method and path, as <c>GET /v1/status</c>.</param>
    /// <param name="body">JSON; null: none.</param>
    /// <param name="headers">Further headers.</param>
    /// <returns>The body.</returns>
    public async Task<JsonNode?> Ask(Uri server, int status, string what, string? body = null, params (string Name, string Value)[] headers)
    {
        var (method, path) = (what.Split(' ')[0], what.Split(' ')[1]);
        using var http = new HttpClient { Timeout = TimeSpan.FromSeconds(60) };
        using var request = new HttpRequestMessage(new HttpMethod(method), new Uri(server, path));
        foreach (var (name, value) in headers) request.Headers.TryAddWithoutValidation(name, value);
        if (body is not null) request.Content = new StringContent(body, Encoding.UTF8, "application/json");
        using var answer = await http.SendAsync(request, HttpCompletionOption.ResponseHeadersRead);
        var isStream = answer.Content.Headers.ContentType?.MediaType == "text/event-stream";
        var text = isStream ? "" : await answer.Content.ReadAsStringAsync();
        Assert.True((int)answer.StatusCode == status, $"{what} answered {(int)answer.StatusCode}, not {status}: {text}");
        return Compare(method, path, status, answer.Content.Headers.ContentType?.MediaType, answer.Headers.RetryAfter is not null, text);
    }

    /// <summary>Compares an answer that came by another way.</summary>
    public JsonNode? Compare(string method, string path, int status, string? mediaType, bool retryAfter, string text)
    {
        var operation = api.Find(method, path);
        Assert.True(operation is not null, $"docs/openapi.json does not have {method} {path}");
        var response = operation.Description["responses"]?[$"{status}"];
        Assert.True(response is not null, $"docs/openapi.json does not say that {operation} may answer {status}: {text}");
        if (response["content"] is null)
        {
            Assert.Equal("", text);
            _seen.Add((operation.ToString(), $"{status}"));
            return null;
        }

        var content = response["content"]!.AsObject();
        Assert.True(mediaType is not null && content.ContainsKey(mediaType), $"{operation} answered {status} with {mediaType}; docs/openapi.json says {string.Join(", ", content.Select(c => c.Key))}");
        Assert.True(response["headers"]?["Retry-After"] is not null == retryAfter, $"{operation} {status}: the header Retry-After is {(retryAfter ? "" : "not ")}there, unlike in docs/openapi.json");
        _seen.Add((operation.ToString(), $"{status}"));
        if (!mediaType!.EndsWith("json", StringComparison.Ordinal)) return null;
        var json = JsonNode.Parse(text);
        var problems = api.Check.Problems(json, content[mediaType]!["schema"]!);
        Assert.True(problems.Count == 0, $"{operation} answered {status} with what docs/openapi.json does not describe: {string.Join("; ", problems)}\n{text}");
        return json;
    }
}
