using System.Net;
using System.Text.RegularExpressions;
using Microsoft.Playwright;
using Snapper.Dashboard.Access;
using Snapper.Dashboard.Hosting;
using Snapper.Dashboard.Tests.Fakes;
using Snapper.Security;

namespace Snapper.Dashboard.Tests.Browser;

/// <summary>With tokens nobody sees anything before signing in, nobody does more than the role allows, and what is done is done in the holder's name.</summary>
public sealed class SignInTests(Chromium chromium) : IClassFixture<Chromium>
{
    private static readonly string s_viewer = TokenHash.NewToken();
    private static readonly string s_operator = TokenHash.NewToken();
    private static readonly string s_caller = TokenHash.NewToken();
    private static readonly string s_bound = TokenHash.NewToken();

    private static readonly Dictionary<string, string?> s_tokens = new()
    {
        ["Snapper:Security:Tokens:0:Name"] = "vera",
        ["Snapper:Security:Tokens:0:Role"] = "viewer",
        ["Snapper:Security:Tokens:0:Sha256"] = TokenHash.Of(s_viewer),
        ["Snapper:Security:Tokens:1:Name"] = "otto",
        ["Snapper:Security:Tokens:1:Role"] = "operator",
        ["Snapper:Security:Tokens:1:Sha256"] = TokenHash.Of(s_operator),
        ["Snapper:Security:Tokens:2:Name"] = "shop",
        ["Snapper:Security:Tokens:2:Role"] = "caller",
        ["Snapper:Security:Tokens:2:Sha256"] = TokenHash.Of(s_caller),
        ["Snapper:Security:Tokens:3:Name"] = "acme",
        ["Snapper:Security:Tokens:3:Role"] = "operator",
        ["Snapper:Security:Tokens:3:Tenants"] = "acme",
        ["Snapper:Security:Tokens:3:Sha256"] = TokenHash.Of(s_bound),
    };

    [Fact]
    public async Task Whoever_comes_signs_in_first_is_named_and_can_sign_out()
    {
        await using var worker = await ScriptedWorker.Start();
        await using var dashboard = await RunningDashboard.Start(s_tokens, worker.Url);
        await using var visit = await chromium.Open(dashboard.Url);
        await visit.Go("/aborts?reason=conflict");
        await Assertions.Expect(visit.Page).ToHaveTitleAsync("Sign in – Snapper");
        await visit.Picture("sign-in");
        await visit.Check(isShell: false);

        await Enter(visit, "snapper_nobody");
        await Assertions.Expect(visit.Page.GetByRole(AriaRole.Alert)).ToHaveTextAsync("Nobody has this token.");
        await Enter(visit, s_caller);
        await Assertions.Expect(visit.Page.GetByRole(AriaRole.Alert)).ToContainTextAsync("shop may not look");
        await Enter(visit, s_bound);
        await Assertions.Expect(visit.Page.GetByRole(AriaRole.Alert)).ToContainTextAsync("bound to no tenant");
        visit.Forgive("401");
        visit.Forgive("403");

        await Enter(visit, s_viewer);
        await Assertions.Expect(visit.Main.Locator("h1")).ToHaveTextAsync("Aborts");
        Assert.EndsWith("/aborts?reason=conflict", visit.Page.Url, StringComparison.Ordinal);
        await Assertions.Expect(visit.Page.Locator(".holder span")).ToHaveTextAsync("vera (viewer)");
        await visit.Check();

        await visit.Page.GetByRole(AriaRole.Button, new() { Name = "Sign out" }).ClickAsync();
        await Assertions.Expect(visit.Page).ToHaveTitleAsync("Sign in – Snapper");
        await visit.Go("/");
        await Assertions.Expect(visit.Page).ToHaveTitleAsync("Sign in – Snapper");
    }

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task Only_an_operator_moves_anything_and_does_it_by_the_own_token(bool mayDoIt)
    {
        await using var worker = await ScriptedWorker.Start();
        worker.On("/v1/migrations", () => new { migrations = Array.Empty<object>() }).On("POST /v1/migrations", () => new { id = "dry", keys = 0, parts = Array.Empty<object>() });
        await using var dashboard = await RunningDashboard.Start(s_tokens, worker.Url);
        await using var visit = await chromium.Open(dashboard.Url);
        await visit.Go("/migrations");
        await Enter(visit, mayDoIt ? s_operator : s_viewer);
        await visit.Main.GetByLabel("Move", new() { Exact = false }).First.SelectOptionAsync("rebalance");
        await visit.Page.GetByRole(AriaRole.Button, new() { Name = "Dry run" }).ClickAsync();
        if (mayDoIt)
        {
            await Assertions.Expect(visit.Main).ToContainTextAsync("Nothing: everything is where it shall be.");
            Assert.Contains($"POST /v1/migrations Bearer {s_operator}", worker.Shown);
        }
        else
        {
            await Assertions.Expect(visit.Main).ToContainTextAsync("Refused (403): vera has the role viewer, which has not the right to operate");
            Assert.DoesNotContain(worker.Shown, shown => shown.StartsWith("POST", StringComparison.Ordinal));
        }
    }

    [Fact]
    public async Task Only_an_admin_changes_states()
    {
        await using var worker = await ScriptedWorker.Start();
        worker.On("/v1/actors/Account/a", () => new { type = "Account", id = "a", state = new { checking = 1 }, version = 1, worker = "w1" });
        await using var dashboard = await RunningDashboard.Start(s_tokens, worker.Url);
        await using var visit = await chromium.Open(dashboard.Url);
        await visit.Go("/actor?type=Account&id=a");
        await Enter(visit, s_operator);
        await visit.Main.Locator("summary", new() { HasText = "Delete it" }).ClickAsync();
        await Assertions.Expect(visit.Main).ToContainTextAsync("It takes the role admin to change states.");
        await visit.Page.GetByRole(AriaRole.Button, new() { Name = "This actor", Exact = true }).ClickAsync();
        await visit.Page.GetByLabel("Reason").FillAsync("closed");
        await visit.Page.GetByLabel("to confirm").FillAsync("delete Account/a");
        await Assertions.Expect(visit.Page.GetByRole(AriaRole.Button, new() { Name = "Delete 1 state" })).ToBeDisabledAsync();
        Assert.DoesNotContain(worker.Shown, shown => shown.StartsWith("DELETE", StringComparison.Ordinal));
    }

    [Fact]
    public async Task The_audit_is_shown_to_operators_only()
    {
        await using var worker = await ScriptedWorker.Start();
        worker.On("/v1/audit", () => new { worker = "w1", entries = new[] { new { atMs = 1000, who = "ann", role = "admin", action = "leave", target = "w2", outcome = "200", from = "127.0.0.1" } } });
        await using var dashboard = await RunningDashboard.Start(s_tokens, worker.Url);
        await using var visit = await chromium.Open(dashboard.Url);
        await visit.Go("/audit");
        await Enter(visit, s_viewer);
        await Assertions.Expect(visit.Main).ToContainTextAsync("It takes the role operator");
        var drawn = await Drawn();
        Assert.Contains("It takes the role operator", drawn, StringComparison.Ordinal);
        Assert.DoesNotContain(">ann<", drawn, StringComparison.Ordinal);
        await visit.Page.GetByRole(AriaRole.Button, new() { Name = "Sign out" }).ClickAsync();
        await Assertions.Expect(visit.Page).ToHaveTitleAsync("Sign in – Snapper");
        await Enter(visit, s_operator);
        await visit.Go("/audit");
        await Assertions.Expect(visit.Main).ToContainTextAsync("leave");
        Assert.Contains(">ann<", await Drawn(), StringComparison.Ordinal);

        // What comes before the browser is connected.
        async Task<string> Drawn()
        {
            using var http = Client(dashboard);
            http.DefaultRequestHeaders.Add("Cookie", $"snapper={(await visit.Page.Context.CookiesAsync()).Single(one => one.Name == "snapper").Value}");
            return await http.GetStringAsync("/audit");
        }
    }

    [Theory]
    [InlineData("GET", "/")]
    [InlineData("GET", "/aborts")]
    [InlineData("GET", "/snapper.js")]
    [InlineData("GET", "/_framework/blazor.web.js")]
    [InlineData("GET", "/export/Account")]
    [InlineData("POST", "/_blazor/negotiate?negotiateVersion=1")]
    [InlineData("GET", "/_blazor")]
    [InlineData("POST", "/sign-out")]
    public async Task Without_a_sign_in_no_address_tells_anything(string method, string address)
    {
        await using var worker = await ScriptedWorker.Start();
        await using var dashboard = await RunningDashboard.Start(s_tokens, worker.Url);
        using var http = Client(dashboard);
        using var answer = await http.SendAsync(new HttpRequestMessage(new HttpMethod(method), address));
        Assert.Equal(HttpStatusCode.Unauthorized, answer.StatusCode);
        Assert.Equal("Sign in first.", await answer.Content.ReadAsStringAsync());
    }

    [Fact]
    public async Task A_form_of_another_page_is_refused_and_guesses_are_limited()
    {
        await using var worker = await ScriptedWorker.Start();
        await using var dashboard = await RunningDashboard.Start(s_tokens, worker.Url);
        using var http = Client(dashboard);
        var refused = new List<HttpStatusCode>();
        for (var i = 0; i < 12; i++)
        {
            using var answer = await http.PostAsync("/sign-in", new FormUrlEncodedContent(new Dictionary<string, string> { ["token"] = s_viewer }));
            refused.Add(answer.StatusCode);
            Assert.DoesNotContain(answer.Headers, header => header.Key == "Set-Cookie" && header.Value.Any(cookie => cookie.StartsWith("snapper=", StringComparison.Ordinal)));
        }

        Assert.Equal([.. Enumerable.Repeat(HttpStatusCode.BadRequest, 10), HttpStatusCode.TooManyRequests, HttpStatusCode.TooManyRequests], refused);
    }

    [Fact]
    public async Task Nobody_is_sent_to_another_server_afterwards()
    {
        await using var worker = await ScriptedWorker.Start();
        await using var dashboard = await RunningDashboard.Start(s_tokens, worker.Url);
        using var http = Client(dashboard);
        foreach (var then in (string[])["//evil.example/", "/\\evil.example", "https://evil.example/"])
        {
            using var answer = await Enter(http, then);
            Assert.Equal((HttpStatusCode.Redirect, "/"), (answer.StatusCode, answer.Headers.Location?.OriginalString));
        }

        using var own = await Enter(http, "/aborts?reason=conflict");
        Assert.Equal("/aborts?reason=conflict", own.Headers.Location?.OriginalString);
    }

    [Fact]
    public async Task Signing_out_ends_the_session_wherever_its_cookie_and_its_pages_are()
    {
        await using var worker = await ScriptedWorker.Start();
        await using var dashboard = await RunningDashboard.Start(s_tokens, worker.Url);
        await using var visit = await chromium.Open(dashboard.Url);
        await visit.Go("/");
        await Enter(visit, s_viewer);
        await Assertions.Expect(visit.Main.Locator("h1")).ToHaveTextAsync("Overview");
        var cookie = (await visit.Page.Context.CookiesAsync()).Single(one => one.Name == "snapper");
        using var http = Client(dashboard);
        http.DefaultRequestHeaders.Add("Cookie", $"snapper={cookie.Value}");
        Assert.Equal(HttpStatusCode.OK, (await http.GetAsync("/audit")).StatusCode);
        var left = await visit.Page.Context.NewPageAsync();
        await left.GotoAsync(new Uri(new Uri(dashboard.Url), "/ring").ToString());
        await Visit.Connected(left);
        await Assertions.Expect(left.Locator(".fleet")).ToHaveTextAsync("1 worker answers");

        await visit.Page.GetByRole(AriaRole.Button, new() { Name = "Sign out" }).ClickAsync();
        await Assertions.Expect(visit.Page).ToHaveTitleAsync("Sign in – Snapper");
        Assert.Equal(HttpStatusCode.Unauthorized, (await http.GetAsync("/audit")).StatusCode);
        Assert.Equal(HttpStatusCode.Unauthorized, (await http.PostAsync("/_blazor/negotiate?negotiateVersion=1", null)).StatusCode);
        await Assertions.Expect(left).ToHaveTitleAsync("Sign in – Snapper");
    }

    [Fact]
    public void A_session_ends_after_a_day_however_busy()
    {
        var time = new LateTime();
        var sessions = new Sessions(time);
        var session = sessions.Begin();
        time.Now += Sessions.Longest - TimeSpan.FromSeconds(1);
        Assert.True(sessions.IsOpen(session));
        time.Now += TimeSpan.FromSeconds(1);
        Assert.False(sessions.IsOpen(session));
        for (var i = 0; i < 10_005; i++) session = sessions.Begin();
        Assert.True(sessions.IsOpen(session));
    }

    [Fact]
    public async Task Behind_a_proxy_with_TLS_its_named_origin_is_let_in_and_the_cookie_goes_by_TLS_alone()
    {
        await using var worker = await ScriptedWorker.Start();
        var settings = DashboardSettings.Read(["--port", "0", "--workers", worker.Url.ToString()], name => name == "SNAPPER_DASHBOARD_ORIGINS" ? "https://snapper.example" : null);
        await using var dashboard = await RunningDashboard.Start(settings, s_tokens);
        using var http = Client(dashboard);
        foreach (var (host, origin, status) in ((string, string, HttpStatusCode)[])
            [("snapper.example", "https://snapper.example", HttpStatusCode.OK), ("snapper.example", "https://evil.example", HttpStatusCode.Forbidden), ("evil.example", "https://snapper.example", HttpStatusCode.Forbidden)])
        {
            using var request = new HttpRequestMessage(HttpMethod.Get, "/sign-in");
            request.Headers.Host = host;
            request.Headers.Add("Origin", origin);
            using var answer = await http.SendAsync(request);
            Assert.Equal(status, answer.StatusCode);
        }

        using var enter = await Enter(http, "/");
        Assert.Contains("; secure", enter.Headers.GetValues("Set-Cookie").Single(cookie => cookie.StartsWith("snapper=", StringComparison.Ordinal)), StringComparison.Ordinal);
        Assert.Contains("SNAPPER_DASHBOARD_ORIGINS", Assert.Throws<FormatException>(() => DashboardSettings.Read([], name => name == "SNAPPER_DASHBOARD_ORIGINS" ? "snapper.example" : null)).Message, StringComparison.Ordinal);
    }

    [Fact]
    public async Task No_setting_of_the_web_server_opens_another_address()
    {
        await using var worker = await ScriptedWorker.Start();
        await using var dashboard = await RunningDashboard.Start(new Dictionary<string, string?> { ["Kestrel:Endpoints:Extra:Url"] = "http://0.0.0.0:0" }, worker.Url);
        Assert.StartsWith("http://127.0.0.1:", Assert.Single(dashboard.Urls), StringComparison.Ordinal);
    }

    [Fact]
    public void Beyond_loopback_it_starts_with_a_sign_in_only()
    {
        var open = new DashboardSettings([new Uri("http://127.0.0.1:1")], null, 0, true, 0);
        var problem = Assert.Throws<FormatException>(() => DashboardProgram.Build(open));
        Assert.Contains("SNAPPER_TOKENS_FILE", problem.Message, StringComparison.Ordinal);
        using var app = DashboardProgram.Build(open, configuration => Microsoft.Extensions.Configuration.MemoryConfigurationBuilderExtensions.AddInMemoryCollection(configuration, s_tokens));
        Assert.NotNull(app);
    }

    private sealed class LateTime : TimeProvider
    {
        public DateTimeOffset Now { get; set; } = DateTimeOffset.UnixEpoch;

        public override DateTimeOffset GetUtcNow() => Now;
    }

    private static HttpClient Client(RunningDashboard dashboard) =>
        new(new SocketsHttpHandler { AllowAutoRedirect = false, UseProxy = false }) { BaseAddress = new Uri(dashboard.Url) };

    /// <summary>Signs in as a browser does, without one.</summary>
    private static async Task<HttpResponseMessage> Enter(HttpClient http, string then)
    {
        var page = await http.GetStringAsync("/sign-in?then=" + Uri.EscapeDataString(then));
        var field = Regex.Match(page, "name=\"(__Request[^\"]*)\" value=\"([^\"]*)\"");
        return await http.PostAsync("/sign-in", new FormUrlEncodedContent(new Dictionary<string, string>
        {
            [field.Groups[1].Value] = field.Groups[2].Value, ["token"] = s_viewer, ["then"] = then,
        }));
    }

    private static async Task Enter(Visit visit, string token)
    {
        await visit.Page.GetByLabel("Your token").FillAsync(token);
        await visit.Page.EvaluateAsync("() => document.body.dataset.left = true");
        await visit.Page.GetByRole(AriaRole.Button, new() { Name = "Sign in" }).ClickAsync();
        await Visit.Connected(visit.Page);
    }
}
