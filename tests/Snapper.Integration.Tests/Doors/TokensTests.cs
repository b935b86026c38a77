using System.Net;
using System.Net.Http.Headers;
using Snapper.Integration.Tests.Harness;
using Snapper.Security;
using Xunit;

namespace Snapper.Integration.Tests.Doors;

/// <summary>A system that is started with tokens, one of them bound to a tenant, whereupon the sidecar alone may do nothing: it is ready all the same, and each does what it may.</summary>
[RequiresServers]
public sealed class TokensTests
{
    [SystemFact]
    public async Task Behind_daprd_it_is_ready_and_asks_who_comes()
    {
        var (whole, bound) = (TokenHash.NewToken(), TokenHash.NewToken());
        var file = Path.GetTempFileName();
        try
        {
            await File.WriteAllTextAsync(file, $$"""
                {"name":"ops","sha256":"{{TokenHash.Of(whole)}}","role":"operator"}
                {"name":"bound","sha256":"{{TokenHash.Of(bound)}}","role":"viewer","tenants":["acme"]}
                """);
            var options = UpOptions.Random(embedded: false) with
            {
                Environment = new Dictionary<string, string> { ["APP_API_TOKEN"] = "the-apps", ["DAPR_API_TOKEN"] = "the-sidecars", ["SNAPPER_TOKENS_FILE"] = file, ["SNAPPER_TOKEN"] = whole },
            };
            await using (var up = await SnapperProcess.Start(options))
            {
                using var http = new HttpClient();
                var (worker, sidecar) = (up.Worker.Url, new Uri(up.Worker.Sidecar, "v1.0/invoke/snapper/method/"));
                Assert.Equal(HttpStatusCode.OK, await Status(http, new Uri(worker, "v1/actors/Account/acme%2Fa"), whole));
                Assert.Equal(HttpStatusCode.OK, await Status(http, new Uri(sidecar, "v1/actors/Account/acme%2Fa"), whole));
                Assert.Equal(HttpStatusCode.OK, await Status(http, new Uri(worker, "v1/actors/Account/acme%2Fa"), bound));
                Assert.Equal(HttpStatusCode.NotFound, await Status(http, new Uri(worker, "v1/actors/Account/other%2Fa"), bound));
                Assert.Equal(HttpStatusCode.Unauthorized, await Status(http, new Uri(worker, "v1/actors/Account/acme%2Fa"), null));
                Assert.Equal(HttpStatusCode.Unauthorized, await Status(http, new Uri(sidecar, "v1/actors/Account/acme%2Fa"), null));
                await up.Stop();
            }

            Directory.Delete(options.Data, recursive: true);
        }
        finally
        {
            File.Delete(file);
        }
    }

    private static async Task<HttpStatusCode> Status(HttpClient http, Uri address, string? token)
    {
        using var request = new HttpRequestMessage(HttpMethod.Get, address);
        request.Headers.Add("dapr-api-token", address.AbsolutePath.StartsWith("/v1.0/", StringComparison.Ordinal) ? ["the-sidecars"] : []);
        if (token is not null) request.Headers.Authorization = new AuthenticationHeaderValue("Bearer", token);
        using var answer = await http.SendAsync(request);
        return answer.StatusCode;
    }
}
