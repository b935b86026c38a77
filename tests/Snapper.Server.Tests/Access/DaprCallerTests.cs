using System.Net;
using System.Text.Json;
using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.Hosting;
using Microsoft.AspNetCore.Http;
using Microsoft.Extensions.Logging;
using Snapper.Sidecar.Tests;
using Xunit;

namespace Snapper.Server.Tests.Access;

/// <summary>What daprd really tells an app of its callers: why an app's id counts only beside the header that a remote service invocation adds.</summary>
public sealed class DaprCallerTests
{
    [DaprFact]
    public async Task The_id_of_the_calling_app_is_the_callees_own_in_actor_calls_and_whatever_the_caller_says_in_calls_through_the_apps_own_sidecar()
    {
        var builder = WebApplication.CreateSlimBuilder();
        builder.Logging.ClearProviders();
        builder.WebHost.ConfigureKestrel(server => server.Listen(IPAddress.Loopback, 0));
        await using var web = builder.Build();
        web.MapGet("/dapr/config", context => context.Response.WriteAsync("""{"entities":["Echo"]}"""));
        web.MapGet("/dapr/subscribe", context => context.Response.WriteAsync("[]"));
        web.MapFallback("/{**path}", context => context.Response.WriteAsJsonAsync(new
        {
            path = context.Request.Path.Value,
            caller = context.Request.Headers["dapr-caller-app-id"].ToArray(),
            callee = context.Request.Headers.ContainsKey("dapr-callee-app-id"),
            authorization = context.Request.Headers.Authorization.ToString(),
        }));
        await web.StartAsync();
        var appId = "callee" + Guid.NewGuid().ToString("n")[..8];
        await using var sidecar = await DaprFixture.Start(new DaprFixtureOptions { AppPort = new Uri(web.Urls.Single()).Port, AppId = appId });
        await sidecar.WaitForActors();
        using var http = new HttpClient { BaseAddress = sidecar.Endpoint };

        async Task<(string[] Caller, bool Callee, string Authorization, string Path)> Ask(HttpMethod method, string path, string? claims)
        {
            using var request = new HttpRequestMessage(method, new Uri(path, UriKind.Relative)) { Content = new StringContent("{}") };
            if (claims is not null) request.Headers.Add("dapr-caller-app-id", claims);
            request.Headers.TryAddWithoutValidation("Authorization", "Bearer of-the-caller");
            using var answer = await http.SendAsync(request);
            var json = JsonDocument.Parse(await answer.Content.ReadAsStringAsync()).RootElement;
            return ([.. json.GetProperty("caller").EnumerateArray().Select(one => one.GetString()!)], json.GetProperty("callee").GetBoolean(), json.GetProperty("authorization").GetString()!, json.GetProperty("path").GetString()!);
        }

        var call = await Ask(HttpMethod.Put, "/v1.0/actors/Echo/1/method/m", claims: null);
        Assert.Equal([appId], call.Caller);
        Assert.False(call.Callee);
        Assert.Equal("Bearer of-the-caller", call.Authorization);
        Assert.Equal(2, (await Ask(HttpMethod.Put, "/v1.0/actors/Echo/1/method/m", "forged")).Caller.Length);

        var own = await Ask(HttpMethod.Post, $"/v1.0/invoke/{appId}/method/v1/transactions", "forged");
        Assert.Equal(["forged"], own.Caller);
        Assert.False(own.Callee);
        Assert.Equal("Bearer of-the-caller", own.Authorization);

        // Any path of an app can be invoked, the ones of its actors, too.
        Assert.Equal("/actors/Mailbox@w1/0/method/Deliver", (await Ask(HttpMethod.Put, $"/v1.0/invoke/{appId}/method/actors/Mailbox@w1/0/method/Deliver", claims: null)).Path);
    }
}
