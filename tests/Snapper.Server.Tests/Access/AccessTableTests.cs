using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.Http;
using Microsoft.AspNetCore.Routing;
using Snapper.AspNetCore.Api.Access;
using Snapper.Cli.Supervision;
using Snapper.Security;
using Xunit;

namespace Snapper.Server.Tests.Access;

/// <summary>The table of rights: that it is complete, that the documentation shows it, that the worker keeps to it.</summary>
public sealed class AccessTableTests
{
    private const string Begin = "<!-- rights: written by the code -->";
    private const string End = "<!-- end of rights -->";

    [Fact]
    public async Task Every_address_has_a_row_and_every_row_an_address()
    {
        await using var worker = await SecuredWorker.Start();
        var served = ((IEndpointRouteBuilder)worker.App).DataSources.SelectMany(source => source.Endpoints).Select(endpoint => (Endpoint: endpoint, Row: AccessTable.Of(endpoint))).ToArray();

        Assert.All(served, one => Assert.True(one.Row is not null, $"{one.Endpoint.DisplayName} has no row"));
        Assert.All(AccessTable.Rows, row => Assert.True(served.Any(one => one.Row == row), $"{row.Method} {row.Pattern} is not served"));
        Assert.Equal(AccessTable.Rows.Count, AccessTable.Rows.Select(row => (row.Method, row.Pattern)).Distinct().Count());
    }

    [Fact]
    public async Task An_address_without_a_row_is_refused_and_a_worker_that_serves_one_does_not_start()
    {
        await using var worker = await SecuredWorker.Start();
        AuthorizationMiddleware.Verify(worker.App);
        var endpoint = new RouteEndpoint(_ => Task.CompletedTask, Microsoft.AspNetCore.Routing.Patterns.RoutePatternFactory.Parse("/v1/new"), 0, null, "new one");
        ((IEndpointRouteBuilder)worker.App).DataSources.Add(new DefaultEndpointDataSource(endpoint));

        var missing = Assert.Throws<NotSupportedException>(() => AuthorizationMiddleware.Verify(worker.App));
        Assert.Contains("new one", missing.Message, StringComparison.Ordinal);

        var context = new DefaultHttpContext();
        context.Response.Body = new MemoryStream();
        context.SetEndpoint(endpoint);
        var passed = false;
        var app = new Microsoft.AspNetCore.Builder.ApplicationBuilder(worker.App.Services);
        new AuthorizationMiddleware(new KnownTokens([]), null, new RequestLimits(0, 0, false), AuditLog.InMemory(Microsoft.Extensions.Logging.Abstractions.NullLogger.Instance), false).Use(app);
        app.Run(_ =>
        {
            passed = true;
            return Task.CompletedTask;
        });
        await app.Build()(context);
        Assert.False(passed);
        Assert.Equal(403, context.Response.StatusCode);
    }

    [Fact]
    public void The_documentation_shows_the_table_of_the_code()
    {
        var file = Path.Combine(Repository.Find()!, "docs", "security.md");
        var text = File.ReadAllText(file);
        var from = text.IndexOf(Begin, StringComparison.Ordinal) + Begin.Length;
        var to = text.IndexOf(End, StringComparison.Ordinal);
        Assert.True(from >= Begin.Length && to > from, $"{file} has no place for the table");
        var table = "\n" + AccessTable.ToMarkdown();
        if (Environment.GetEnvironmentVariable("SNAPPER_WRITE_DOCS") == "1")
        {
            File.WriteAllText(file, text[..from] + table + text[to..]);
            return;
        }

        Assert.True(table == text[from..to], $"The table in {file} is not that of the code. SNAPPER_WRITE_DOCS=1 with this test writes it:\n{table}");
    }

    [Fact]
    public async Task Every_role_gets_at_every_address_what_the_table_says()
    {
        await using var worker = await SecuredWorker.Start();
        var wrong = new List<string>();
        foreach (var row in AccessTable.Rows)
        {
            foreach (var role in (Role[])[Role.Nobody, Role.Sidecar, .. Roles.OfTokens])
            {
                using var answer = await worker.Ask(role, row.Method == AccessTable.AnyMethod ? "GET" : row.Method, Example(row), row.Method is "POST" or "PUT" ? "{}" : null);
                var status = (int)answer.StatusCode;
                var expected = AccessTable.Refusal(row, role);

                // The sidecar's addresses ask for its token; people's do not stand in for it.
                if (row.Right == Right.Channel && role is not (Role.Sidecar or Role.Nobody)) expected = 401;
                var isRefused = status is 401 or 403;
                if (expected == 0 ? isRefused : status != expected) wrong.Add($"{role} {row.Method} {row.Pattern}: {status}, not {(expected == 0 ? "let through" : expected)}");
            }
        }

        Assert.Empty(wrong);
    }

    [Fact]
    public async Task HEAD_is_refused_where_GET_is()
    {
        await using var worker = await SecuredWorker.Start();
        var wrong = new List<string>();
        foreach (var row in AccessTable.Rows.Where(row => row.Method == "GET" && row.Right != Right.Channel && row.Pattern != "/v1/events"))
        {
            foreach (var role in (Role[])[Role.Nobody, Role.Sidecar, .. Roles.OfTokens])
            {
                using var get = await worker.Ask(role, "GET", Example(row));
                using var head = await worker.Ask(role, "HEAD", Example(row));
                if (head.StatusCode != get.StatusCode) wrong.Add($"{role} {row.Pattern}: {head.StatusCode}, not {get.StatusCode}");
            }
        }

        Assert.Empty(wrong);
    }

    [Fact]
    public async Task With_the_sidecars_token_alone_its_holder_may_everything_and_others_nothing_but_probes()
    {
        await using var worker = await SecuredWorker.Start(tokens: false);
        foreach (var row in AccessTable.Rows)
        {
            var method = row.Method == AccessTable.AnyMethod ? "GET" : row.Method;
            using var holder = await worker.Ask(Role.Sidecar, method, Example(row), row.Method is "POST" or "PUT" ? "{}" : null);
            using var other = await worker.Ask(Role.Nobody, method, Example(row), row.Method is "POST" or "PUT" ? "{}" : null);

            Assert.False((int)holder.StatusCode is 401 or 403, $"{row.Method} {row.Pattern}: {holder.StatusCode}");
            Assert.True(row.Right == Right.Open != ((int)other.StatusCode == 401), $"{row.Method} {row.Pattern}: {other.StatusCode}");
        }
    }

    [Fact]
    public async Task With_nothing_configured_everybody_may_everything()
    {
        await using var worker = await SecuredWorker.Start(tokens: false, appToken: null);
        foreach (var row in AccessTable.Rows)
        {
            using var answer = await worker.Ask(Role.Nobody, row.Method == AccessTable.AnyMethod ? "GET" : row.Method, Example(row), row.Method is "POST" or "PUT" ? "{}" : null);
            Assert.False((int)answer.StatusCode is 401 or 403, $"{row.Method} {row.Pattern}: {answer.StatusCode}");
        }
    }

    private static string Example(AccessRow row) => row.Pattern switch
    {
        "/actors/{**actor}" => row.Method == "PUT" ? "/actors/Account/alice/method/StartTransaction" : "/actors/Account/alice",
        "/v1/actors/{**actor}" => "/v1/actors/Account/alice",
        "/{**path}" => "/nothing/here",
        var pattern => pattern.Replace("{**id}", "x-1", StringComparison.Ordinal).Replace("{bid}", "7", StringComparison.Ordinal),
    };
}
