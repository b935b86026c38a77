using System.Net.Http.Headers;
using System.Text;
using Snapper.AspNetCore.Processes;
using Snapper.Cli.Supervision;
using Snapper.Security;
using Xunit;

namespace Snapper.Cli.Tests;

/// <summary>The whole system with tokens, as <c>./snapper up</c> starts it.</summary>
public sealed class UpWithTokensTests
{
    [Fact]
    public async Task It_gets_ready_takes_transactions_of_a_token_and_shows_no_secret()
    {
        using var folder = new TempFolder();
        var (caller, viewer) = (TokenHash.NewToken(), TokenHash.NewToken());
        var file = folder.File("tokens");
        await File.WriteAllLinesAsync(file,
        [
            new TokenSettings { Name = "shop", Role = "caller", Sha256 = TokenHash.Of(caller) }.ToJson(),
            new TokenSettings { Name = "eve", Role = "viewer", Sha256 = TokenHash.Of(viewer) }.ToJson(),
        ]);
        var ports = Ports.Free(2);
        await using var up = UpProcess.Start("up", folder.File("data"), ports[0] - 1, ports[1], ["--embedded"], new Dictionary<string, string?>
        {
            [SecuritySettings.FileVariable] = file,
            ["APP_API_TOKEN"] = "the-apps-secret",
            ["DAPR_API_TOKEN"] = "the-sidecars-secret",
        });
        var worker = (await up.Ready()).Workers[0];

        Assert.Equal(200, await Post(worker.Url, caller));
        Assert.Equal(403, await Post(worker.Url, viewer));
        Assert.Equal(401, await Post(worker.Url, TokenHash.NewToken()));
        Assert.Equal(200, await Post(worker.Sidecar + "/v1.0/invoke/snapper/method", caller));
        Assert.Equal(403, await Post(worker.Sidecar + "/v1.0/invoke/snapper/method", viewer));

        up.Signal(Posix.Terminate);
        await up.Exit();
        foreach (var text in Directory.EnumerateFiles(folder.File("data"), "*", SearchOption.AllDirectories).Select(Read).Append(up.AllText))
        {
            Assert.DoesNotContain(caller, text, StringComparison.Ordinal);
            Assert.DoesNotContain("the-apps-secret", text, StringComparison.Ordinal);
            Assert.DoesNotContain("the-sidecars-secret", text, StringComparison.Ordinal);
        }
    }

    private static string Read(string file)
    {
        using var stream = new FileStream(file, FileMode.Open, FileAccess.Read, FileShare.ReadWrite | FileShare.Delete);
        using var reader = new StreamReader(stream, Encoding.Latin1);
        return reader.ReadToEnd();
    }

    private static async Task<int> Post(string address, string token)
    {
        using var http = new HttpClient(new SocketsHttpHandler { UseProxy = false });
        using var request = new HttpRequestMessage(HttpMethod.Post, address + "/v1/transactions")
        {
            Content = new StringContent("""{"actor":{"type":"Account","id":"alice"},"method":"Balance"}""", Encoding.UTF8, "application/json"),
        };
        request.Headers.Authorization = new AuthenticationHeaderValue("Bearer", token);
        request.Headers.Add("dapr-api-token", address.Contains("/v1.0/", StringComparison.Ordinal) ? "the-sidecars-secret" : "the-apps-secret");
        using var answer = await http.SendAsync(request);
        return (int)answer.StatusCode;
    }
}
