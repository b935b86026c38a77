using System.Net;
using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.Http;
using Microsoft.Extensions.DependencyInjection;
using Snapper.AspNetCore.Api;
using Xunit;

namespace Snapper.Server.Tests.Api;

/// <summary>Whose requests are answered.</summary>
public sealed class HostRulesTests
{
    [Theory]
    [InlineData("worker.example:5101", null, true)]
    [InlineData("WORKER.example", "http://worker.example", true)]
    [InlineData("worker.example", "https://shop.example", true)]
    [InlineData("worker.example", "https://shop.example:444", false)]
    [InlineData("10.1.2.3:5101", null, true)]
    [InlineData("10.1.2.4:5101", null, false)]
    [InlineData("other.example", null, false)]
    [InlineData("localhost:5101", "http://localhost:5102", false)]
    [InlineData("", null, true)]
    [InlineData("", "http://", false)]
    public async Task Names_and_origins_that_are_configured_or_bound_are_answered(string host, string? origin, bool answered)
    {
        var rules = new HostRules { AllowedHosts = ["worker.example"], AllowedOrigins = ["https://shop.example"] };

        Assert.Equal(answered, await IsAnswered(rules, host, origin));
        Assert.Equal(answered, await IsAnswered(rules, host, origin));
    }

    [Fact]
    public async Task An_asterisk_is_any_and_a_host_that_was_accepted_once_accepts_no_other()
    {
        var open = new HostRules { AllowedHosts = ["*"], AllowedOrigins = ["*"] };
        Assert.True(await IsAnswered(open, "other.example", "null"));

        var closed = new HostRules();
        Assert.True(await IsAnswered(closed, "localhost", null));
        Assert.False(await IsAnswered(closed, "other.example", null));
        Assert.True(await IsAnswered(closed, "localhost", null));
    }

    [Theory]
    [InlineData(null, null, null, true)]
    [InlineData("none", "navigate", "document", true)]
    [InlineData("same-origin", "cors", "empty", true)]
    [InlineData("cross-site", "navigate", "document", true)]
    [InlineData("cross-site", "navigate", "iframe", false)]
    [InlineData("cross-site", "no-cors", "image", false)]
    [InlineData("same-site", "no-cors", "script", false)]
    public async Task Pictures_and_frames_of_other_pages_get_nothing(string? site, string? mode, string? destination, bool answered) =>
        Assert.Equal(answered, await IsAnswered(new HostRules(), "localhost", null, site, mode, destination));

    private static async Task<bool> IsAnswered(HostRules rules, string host, string? origin, string? site = null, string? mode = null, string? destination = null)
    {
        var app = new ApplicationBuilder(new ServiceCollection().BuildServiceProvider());
        rules.Use(app);
        var answered = false;
        app.Run(_ =>
        {
            answered = true;
            return Task.CompletedTask;
        });
        var context = new DefaultHttpContext();
        context.Request.Scheme = "http";
        context.Request.Headers.Host = host;
        context.Request.Headers.Origin = origin;
        context.Request.Headers["Sec-Fetch-Site"] = site;
        context.Request.Headers["Sec-Fetch-Mode"] = mode;
        context.Request.Headers["Sec-Fetch-Dest"] = destination;
        context.Connection.LocalIpAddress = IPAddress.Parse("10.1.2.3");
        await app.Build()(context);
        Assert.Equal(answered ? 200 : 403, context.Response.StatusCode);
        return answered;
    }
}
