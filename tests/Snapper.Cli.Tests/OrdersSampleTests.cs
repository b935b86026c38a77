using System.Diagnostics;
using System.Globalization;
using System.Net.Http.Json;
using System.Text;
using System.Text.Json.Nodes;
using Snapper.AspNetCore.Processes;
using Snapper.Cli.Supervision;
using Snapper.Sidecar.Tests;
using Xunit;
using Xunit.Abstractions;

namespace Snapper.Cli.Tests;

/// <summary>
/// <c>samples/Orders</c> as its reader has it: outside of this tree, built from the packages, under a real sidecar,
/// with callers in the languages that this machine runs.
/// </summary>
[Collection(nameof(PackedFeed))]
public sealed class OrdersSampleTests(PackedFeed packed, ITestOutputHelper output)
{
    private const string Release = "bin/Release/net10.0";
    private const int Tea = 1000;
    private const int Cups = 500;

    private static readonly string s_sample = Path.Combine(Repository.Find()!, "samples", "Orders");

    [DaprFact]
    public async Task The_shop_is_built_from_packages_tested_and_serves_callers_in_every_language()
    {
        CopyTree(s_sample, packed.Of("Orders"));
        File.Delete(packed.Of("Orders/nuget.config")); // it names the folder of a user's packages
        await packed.Dotnet("build", "Orders/Orders.slnx", "-c", "Release", "--nologo", "-warnaserror");
        await packed.Dotnet("test", "Orders/Tests", "-c", "Release", "--nologo", "--no-build");

        var port = Ports.Free(1)[0];
        await using var dapr = await DaprFixture.Start(
            new DaprFixtureOptions { AppPort = port, AppId = "orders", Resources = packed.Of("Orders/resources") });
        using var shop = Process.Start(Shop(port, dapr.Endpoint.Port))!;
        try
        {
            using var http = new HttpClient { BaseAddress = dapr.Endpoint };
            await dapr.WaitForActors();
            await Receive(http, "tea", new { count = Tea, price = 2.5m });
            await Receive(http, "cup", new { count = Cups, price = 4 });

            var (sidecar, callers) = (dapr.Endpoint.ToString(), Callers.All(packed.Of("Orders/callers"), output));
            var placed = (await Task.WhenAll(callers.Select(async caller =>
            {
                var lines = await caller.Run(sidecar);
                Assert.Equal(caller.Expected, lines);
                return lines.Where(static line => line.Contains(" committed ", StringComparison.Ordinal));
            }))).SelectMany(static lines => lines).Select(static line => line.Split(' ')[0]).ToHashSet();

            // What callers send that need a runtime that is not here: the body that their source has.
            foreach (var (caller, body) in Callers.Recorded(packed.Of("Orders/callers")))
            {
                var request = body.Replace("o-1", $"recorded-{caller}", StringComparison.Ordinal)
                    .Replace("ann", caller, StringComparison.Ordinal);
                await Commits(http, request);
                placed.Add($"recorded-{caller}");
            }

            placed.Add(await CartIsOrdered(port));
            await NothingIsLost(http, placed);
            Assert.True(Posix.Send(shop.Id, Posix.Terminate));
            await shop.WaitForExitAsync().WaitAsync(TimeSpan.FromSeconds(30));
            Assert.Equal(0, shop.ExitCode);
        }
        finally
        {
            if (!shop.HasExited) shop.Kill();
        }
    }

    /// <summary>The plain actor, and the shop's own addresses.</summary>
    private static async Task<string> CartIsOrdered(int port)
    {
        using var http = new HttpClient { BaseAddress = new Uri($"http://127.0.0.1:{port}") };
        for (var i = 0; i < 2; i++)
        {
            using var put = await http.PutAsync("/carts/eve/tea?count=3", null);
            Assert.True(put.IsSuccessStatusCode, await put.Content.ReadAsStringAsync());
            using var order = await http.PostAsync("/carts/eve/orders/cart-1", null); // twice: the same order
            Assert.Equal("""{"total":7.5}""", await order.Content.ReadAsStringAsync());
        }

        return "cart-1";
    }

    /// <summary>
    /// Until every errand was done: what is left and what was ordered is what was received, and the accounts were
    /// charged with the price of the orders.
    /// </summary>
    private async Task NothingIsLost(HttpClient http, IReadOnlyCollection<string> orders)
    {
        string[] customers = [.. orders.Select(static order => order.StartsWith("recorded-", StringComparison.Ordinal)
            ? order["recorded-".Length..] : order == "cart-1" ? "eve" : order.Split('-')[0]).Distinct()];
        var actors = orders.Select(static id => ("Order", id)).Concat(customers.Select(static id => ("Account", id)))
            .Concat([("Stock", "tea"), ("Stock", "cup")]);
        var question = new { actors = actors.Select(static actor => new { type = actor.Item1, id = actor.Item2 }) };
        using var limit = new CancellationTokenSource(TimeSpan.FromSeconds(30));
        while (true)
        {
            using var answer = await http.PostAsJsonAsync("/v1.0/invoke/orders/method/v1/reads", question, limit.Token);
            var states = (await answer.Content.ReadFromJsonAsync<JsonNode>(limit.Token))!["actors"]!.AsArray()
                .ToLookup(static actor => (string)actor!["type"]!, static actor => actor!["state"]!);
            var lines = states["Order"].SelectMany(static order => order["lines"]!.AsArray()).ToLookup(
                static line => (string)line!["article"]!, static line => (int)line!["count"]!);
            var total = states["Order"].Sum(static order => (decimal)order["total"]!);
            var open = states["Account"].Sum(static account => (decimal)account["reserved"]!);

            // At every moment, whatever is under way.
            var (tea, cups) = ((int)states["Stock"].First()["left"]!, (int)states["Stock"].Last()["left"]!);
            Assert.Equal((Tea, Cups), (tea + lines["tea"].Sum(), cups + lines["cup"].Sum()));
            Assert.Equal(total, open + states["Account"].Sum(static account => (decimal)account["charged"]!));
            if (states["Order"].All(static order => (string)order["status"]! == "Shipped"))
            {
                Assert.Equal(0, open);
                break;
            }

            await Task.Delay(100, limit.Token);
        }

        string[] Keys(string kind) => [.. orders.Select(order => $"{kind}-{order}").Order(StringComparer.Ordinal)];
        Assert.Equal(Keys("charge"), Outside("cards"));
        Assert.Equal(Keys("mail"), Outside("mails"));
    }

    private string[] Outside(string folder) =>
        [.. Directory.GetFiles(packed.Of($"Orders/Shop/outside/{folder}"))
            .Select(static file => Path.GetFileName(file)).Order(StringComparer.Ordinal)];

    private ProcessStartInfo Shop(int port, int sidecarPort)
    {
        var start = new ProcessStartInfo(
            "dotnet",
            [
                packed.Of($"Orders/Shop/{Release}/Orders.Shop.dll"), "--urls", $"http://127.0.0.1:{port}",
                "--Logging:LogLevel:Default", "Warning",
            ])
        {
            WorkingDirectory = packed.Of("Orders/Shop"),
        };
        // As 'dapr run' does.
        start.Environment["DAPR_HTTP_PORT"] = sidecarPort.ToString(CultureInfo.InvariantCulture);
        start.Environment["APP_ID"] = "orders";
        return start;
    }

    /// <summary>As an actor client of Dapr sends it, until the shop has started; its key makes it once.</summary>
    private static async Task Receive(HttpClient http, string article, object delivery)
    {
        using var limit = new CancellationTokenSource(TimeSpan.FromSeconds(30));
        while (true)
        {
            using var request = new HttpRequestMessage(HttpMethod.Put, $"/v1.0/actors/Stock/{article}/method/Receive")
            {
                Content = JsonContent.Create(delivery), Headers = { { "Idempotency-Key", $"receive-{article}" } },
            };
            using var answer = await http.SendAsync(request, limit.Token);
            if (answer.IsSuccessStatusCode) return;
            await Task.Delay(100, limit.Token);
        }
    }

    private static async Task Commits(HttpClient http, string body)
    {
        using var content = new StringContent(body, Encoding.UTF8, "application/json");
        using var answer = await http.PostAsync("/v1.0/invoke/orders/method/v1/transactions", content);
        var text = await answer.Content.ReadAsStringAsync();
        Assert.True((string?)JsonNode.Parse(text)!["outcome"] == "committed", text);
    }

    private static void CopyTree(string from, string to)
    {
        foreach (var file in Directory.EnumerateFiles(from, "*", SearchOption.AllDirectories))
        {
            var path = Path.GetRelativePath(from, file);
            var parts = path.Split(Path.DirectorySeparatorChar);
            if (parts.Any(static part => part is "bin" or "obj" or ".snapper" or "outside")) continue;
            var copy = Path.Combine(to, path);
            Directory.CreateDirectory(Path.GetDirectoryName(copy)!);
            File.Copy(file, copy);
        }
    }
}
