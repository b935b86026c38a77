using System.Collections.Concurrent;
using System.Net;
using System.Net.Http.Json;
using System.Net.Sockets;
using System.Text.Json.Nodes;
using Microsoft.AspNetCore.Hosting;
using Microsoft.AspNetCore.Http;
using Microsoft.Extensions.Hosting;
using Microsoft.Extensions.Logging;
using Snapper.Actors.Generated;
using Snapper.AspNetCore.Applications;
using Snapper.AspNetCore.Hosting;
using Snapper.AspNetCore.Processes;
using Snapper.Security;

namespace Snapper.AspNetCore.Tests;

/// <summary>A web application of one's own that becomes a worker.</summary>
public sealed class ApplicationTests : IDisposable
{
    private static readonly ActorTypeDescriptor[] s_counter = [Type("Counter")];

    private readonly DirectoryInfo _data = Directory.CreateTempSubdirectory("snapper-web-");

    public void Dispose() => _data.Delete(recursive: true);

    [Fact]
    public async Task A_web_application_commits_transactions_directly_and_through_its_sidecar()
    {
        await using (var app = await WebApp.Start(_data.FullName, s_counter))
        {
            Assert.Equal(5, (int)await app.Commit("Counter", "a", "Add", 5));
            const string address = "/v1.0/actors/Counter/a/method/StartTransaction";
            using var answer = await app.Sidecar.PostAsJsonAsync(address, new { method = "Add", input = 2 });
            var envelope = await answer.Content.ReadFromJsonAsync<JsonNode>();
            Assert.True((int?)envelope!["result"] == 7, envelope.ToJsonString());
            var invoked = "/v1.0/invoke/snapper/method/v1/transactions";
            using var service = await app.Sidecar.PostAsJsonAsync(
                invoked, new { actor = new { type = "Counter", id = "a" }, method = "Add", input = 1 });
            Assert.Equal(8, (int?)(await service.Content.ReadFromJsonAsync<JsonNode>())!["result"]);
        }

        // What was stopped with its application is found again.
        await using var again = await WebApp.Start(_data.FullName, s_counter);
        Assert.Equal(9, (int)await again.Commit("Counter", "a", "Add", 1));
    }

    [Fact]
    public async Task What_guards_the_worker_s_addresses_does_not_touch_the_application_s_own()
    {
        var passed = new ConcurrentQueue<string>();
        var token = TokenHash.NewToken();
        var settings = new Dictionary<string, string?>
        {
            ["Snapper:Security:Tokens:0:Name"] = "shop", ["Snapper:Security:Tokens:0:Role"] = "caller",
            ["Snapper:Security:Tokens:0:Sha256"] = TokenHash.Of(token),
        };
        await using var app = await WebApp.Start(
            _data.FullName, s_counter,
            static builder => builder.Services.AddHealthChecks().AddSnapper(),
            application =>
            {
                application.Use(next => context =>
                {
                    passed.Enqueue(context.Request.Path);
                    return next(context);
                });
                application.MapSnapper();
                application.MapHealthChecks("/healthz");
                application.MapGet("/hello", static () => "hello");
                application.MapGet("/v1/orders", static () => "orders");
            },
            settings, "the-token-of-the-sidecar");

        // No token, another name, and a page of another origin: the application's own business.
        Assert.Equal("hello", await Text(app, "/hello", ("Host", "shop.example"), ("Origin", "https://shop.example")));
        Assert.Equal("orders", await Text(app, "/v1/orders"));
        Assert.Equal("Healthy", await Text(app, "/healthz"));
        Assert.Equal("", await Text(app, "/nothing"));
        Assert.Equal(
            ["/hello", "/v1/orders", "/healthz", "/nothing"], passed.Where(static path => path != "/dapr/config"));

        Assert.Equal(HttpStatusCode.Unauthorized, await Status(app, "/v1/status"));
        Assert.Equal(HttpStatusCode.Unauthorized, await Status(app, "/dapr/config"));
        Assert.Equal(HttpStatusCode.Forbidden, await Status(app, "/v1/status", ("Host", "shop.example")));
        Assert.Equal(HttpStatusCode.Forbidden, await Status(app, "/v1/status", ("Origin", "https://shop.example")));
        Assert.Equal(HttpStatusCode.OK, await Status(app, "/v1/actor-types", ("Authorization", "Bearer " + token)));
        Assert.Equal(HttpStatusCode.OK, await Status(app, "/readyz"));
    }

    [Fact]
    public async Task Plain_actors_of_Dapr_s_SDK_are_hosted_beside_transactional_ones()
    {
        await using var app = await WebApp.Start(
            _data.FullName, s_counter,
            static builder => builder.Services.AddActors(static options =>
            {
                options.Actors.RegisterActor<Thermostat>();
                options.ActorIdleTimeout = TimeSpan.FromMinutes(7);
            }),
            static application =>
            {
                application.MapActorsHandlers();
                application.MapSnapper();
            });

        var config = (await app.Client.GetFromJsonAsync<JsonObject>("/dapr/config"))!;
        Assert.Equal(["Thermostat", "Counter", "Counter@w1", "Mailbox@w1"], Names(config["entities"]!));
        Assert.Equal("0h7m0s0ms", (string?)config["actorIdleTimeout"]);
        var ours = Assert.Single(config["entitiesConfig"]!.AsArray())!;
        Assert.Equal(["Counter", "Counter@w1", "Mailbox@w1"], Names(ours["entities"]!));
        Assert.True((bool)ours["reentrancy"]!["enabled"]!);

        Assert.Equal("3", await Call(app, "Thermostat", "Heat", "3"));
        Assert.Equal("5", await Call(app, "Thermostat", "Heat", "2"));
        var envelope = JsonNode.Parse(await Call(app, "Counter", "StartTransaction", """{"method":"Add","input":4}"""));
        Assert.Equal(4, (int?)envelope!["result"]);
    }

    [Theory]
    [InlineData(true, HttpStatusCode.Unauthorized)]
    [InlineData(false, HttpStatusCode.OK)]
    public async Task Plain_actors_are_guarded_by_the_token_of_the_sidecar_where_they_are_told_to_be(
        bool areGuarded, HttpStatusCode withoutToken)
    {
        const string token = "a token of the application";
        const string heat = "/actors/Thermostat/a/method/Heat";
        await using var app = await WebApp.Start(
            _data.FullName, s_counter,
            static builder => builder.Services.AddActors(static options => options.Actors.RegisterActor<Thermostat>()),
            application =>
            {
                var plain = application.MapActorsHandlers();
                if (areGuarded)
                {
                    plain.RequireAppApiToken();
                }

                application.MapSnapper();
            },
            appToken: token);
        using var past = await app.Client.PutAsync(heat, new StringContent("3"));
        Assert.Equal(withoutToken, past.StatusCode);
        using var request = new HttpRequestMessage(HttpMethod.Get, "/dapr/config");
        request.Headers.Add("dapr-api-token", token);
        using var config = await app.Client.SendAsync(request);
        var types = JsonNode.Parse(await config.Content.ReadAsStringAsync())!["entities"]!;
        Assert.Equal(["Thermostat", "Counter", "Counter@w1", "Mailbox@w1"], Names(types));
        Assert.Equal("3", await Call(app, "Thermostat", "Heat", "3"));
    }

    [Theory]
    [InlineData("Counter")]
    [InlineData("Counter@w1")]
    [InlineData("Mailbox@w1")]
    public async Task A_plain_and_a_transactional_actor_of_one_name_are_refused_at_the_start(string name)
    {
        await using var app = WebApp.Create(
            _data.FullName, s_counter,
            builder => builder.Services.AddActors(
                options => options.Actors.RegisterActor<Thermostat>(name)),
            static application =>
            {
                application.MapActorsHandlers();
                application.MapSnapper();
            });
        var wrong = await Assert.ThrowsAsync<UsageException>(app.Run);
        Assert.StartsWith($"The actor type {name} is hosted twice", wrong.Message, StringComparison.Ordinal);
    }

    [Fact]
    public async Task Plain_actors_that_nothing_serves_are_an_error_at_the_start()
    {
        await using var app = WebApp.Create(
            _data.FullName, s_counter,
            static builder => builder.Services.AddActors(static options =>
            {
                options.Actors.RegisterActor<Thermostat>();
                options.Actors.RegisterActor<Thermostat>("Boiler");
            }));
        var wrong = await Assert.ThrowsAsync<UsageException>(app.Run);
        Assert.StartsWith(
            "AddActors of Dapr's SDK registers the plain actors Thermostat, Boiler, and nothing serves them: "
            + "app.MapActorsHandlers()", wrong.Message, StringComparison.Ordinal);
    }

    [Fact]
    public async Task An_application_that_has_Dapr_s_SDK_for_its_proxies_alone_starts()
    {
        await using var app = await WebApp.Start(
            _data.FullName, s_counter, static builder => builder.Services.AddActors(static _ => { }));
        Assert.Equal(5, (int)await app.Commit("Counter", "a", "Add", 5));
    }

    [Fact]
    public async Task Each_call_of_a_method_has_a_scope_that_ends_with_it()
    {
        var sessions = new Sessions();
        await using var app = await WebApp.Start(
            _data.FullName, [Type("Visitor"), .. s_counter],
            builder => builder.Services.AddSingleton(sessions).AddScoped<Session>());
        Assert.Empty(sessions.StillOpen); // that of the check at the start, too

        var numbers = (await app.Commit("Visitor", "a", "Visit", "b")).AsArray();
        Assert.Equal(2, numbers.Select(static one => (int)one!).Distinct().Count());
        Assert.Empty(sessions.StillOpen);

        using var failed = await app.Client.PostAsJsonAsync(
            "/v1/transactions", new { actor = new { type = "Visitor", id = "a" }, method = "Fail" });
        Assert.Contains("session ", await failed.Content.ReadAsStringAsync(), StringComparison.Ordinal);
        Assert.Empty(sessions.StillOpen);
        var opened = sessions.Open();
        await app.Commit("Counter", "a", "Add", 1);
        Assert.Equal(opened + 1, sessions.Open()); // it has none
    }

    [Fact]
    public void A_scope_leaves_all_else_of_a_method_as_it_is()
    {
        var method = new ActorMethod<string, int>(
            "Visit", mayAbort: true, readOnly: true, static (_, _) => Task.FromResult(1))
        {
            InputIsImmutable = true, DeclarationIsBounded = true, Declares = static (_, _, _) => { },
        };
        var services = new ServiceCollection().AddScoped<Session>();
        var type = ScopedActors.Of(Type("Visitor") with { Methods = [method] }, services);
        var scoped = (ActorMethod<string, int>)type.Methods[0];
        Assert.NotSame(method.Run, scoped.Run);
        foreach (var property in method.GetType().GetProperties().Where(static one => one.Name != "Run"))
        {
            // One that is new is set above, too.
            Assert.False(property.GetValue(method) is null or false, property.Name);
            Assert.Equal(property.GetValue(method), property.GetValue(scoped));
        }
    }

    [Fact]
    public async Task A_service_that_is_missing_is_named_with_the_actor_type_at_the_start()
    {
        await using var app = WebApp.Create(_data.FullName, [Type("Needy")]);
        var wrong = await Assert.ThrowsAsync<UsageException>(app.Run);
        Assert.StartsWith("An actor of the type Needy cannot be made", wrong.Message, StringComparison.Ordinal);
        Assert.Contains("IMissing", wrong.Message, StringComparison.Ordinal);
    }

    [Theory]
    [InlineData("Snapper:Naem", "x", "the key Snapper:Naem, which is not known")]
    [InlineData("Snapper:Worker:MaxInFligth", "1", "the key Snapper:Worker:MaxInFligth, which is not known")]
    [InlineData("Snapper:Cluster:LinkPorts", "1", "the key Snapper:Cluster:LinkPorts, which is not known")]
    [InlineData("Snapper:Log", "tape", "Snapper:Log must be one of Redis, File")]
    [InlineData("Snapper:Log:Replicsa", "1", "the key Snapper:Log:Replicsa, which is not known")]
    [InlineData("Snapper:LeaveOnStop", "1", "Snapper:LeaveOnStop must be 00:00:01 to 00:10:00")]
    [InlineData("Snapper:Name", "a b", "Snapper:Name must be 1 to 63")]
    [InlineData("Snapper:Workers", "3", "Snapper:Workers needs Snapper:Redis")]
    public void A_setting_that_is_wrong_is_named(string key, string value, string message)
    {
        var wrong = Assert.ThrowsAny<Exception>(() => WebApp.Create(
            _data.FullName, s_counter, settings: new Dictionary<string, string?> { [key] = value }));
        Assert.Contains(message, wrong.Message, StringComparison.Ordinal);
    }

    [Theory]
    [InlineData("Links", "foo", "Snapper:Cluster:Links is 'foo': 'direct' or 'sidecar' is meant.")]
    [InlineData("LinkPort", "-1", "Snapper:Cluster:LinkPort is -1: 1 to 65535 is meant, or 0 for one that is free.")]
    [InlineData("LinkAuthority", "none.crt", "Snapper:Cluster:LinkAuthority, 'none.crt', cannot be read: ")]
    public async Task Settings_of_direct_links_that_are_wrong_are_named_before_the_application_listens(
        string name, string value, string message)
    {
        await using var app = WebApp.Create(
            _data.FullName, s_counter,
            settings: new Dictionary<string, string?> { [$"Snapper:Cluster:{name}"] = value });
        var wrong = await Assert.ThrowsAsync<UsageException>(app.Run);
        Assert.StartsWith($"The configuration is wrong: {message}", wrong.Message, StringComparison.Ordinal);
    }

    [Fact]
    public async Task What_was_forgotten_is_said()
    {
        await using var unmapped = WebApp.Create(_data.FullName, s_counter, map: static _ => { });
        var wrong = await Assert.ThrowsAsync<InvalidOperationException>(unmapped.Run);
        Assert.Contains("app.MapSnapper()", wrong.Message, StringComparison.Ordinal);
        var none = Assert.Throws<UsageException>(() => WebApp.Create(_data.FullName, []));
        Assert.Contains("AddActors", none.Message, StringComparison.Ordinal);
    }

    [Fact]
    public async Task A_port_that_others_reach_needs_the_sidecar_s_token()
    {
        static void Open(WebApplicationBuilder builder) => builder.WebHost.UseUrls("http://0.0.0.0:0");
        await using (var app = WebApp.Create(_data.FullName, s_counter, Open, appToken: "short"))
        {
            var wrong = await Assert.ThrowsAsync<UsageException>(app.Run);
            Assert.Contains("APP_API_TOKEN", wrong.Message, StringComparison.Ordinal);
        }

        await using var guarded = WebApp.Create(_data.FullName, s_counter, Open, appToken: "long enough to be one");
        await guarded.Run();
    }

    [Fact]
    public async Task A_second_process_on_a_data_directory_waits_for_the_first_instead_of_ending_it()
    {
        await using var first = await WebApp.Start(_data.FullName, s_counter);
        await first.Commit("Counter", "a", "Add", 1);
        var lines = new ConcurrentQueue<string>();
        await using var second = WebApp.Create(
            _data.FullName, s_counter, builder => builder.Logging.AddProvider(new Lines(lines)));
        await second.Run();
        await Until(() => lines.Any(static line => line.Contains(
            $"Another process (pid {Environment.ProcessId}) works in ", StringComparison.Ordinal)));
        await first.Commit("Counter", "a", "Add", 1);
        await first.Application.StopAsync();
        await second.Served();
        Assert.Equal(3, (int)await second.Commit("Counter", "a", "Add", 1));
    }

    [Fact]
    public async Task A_folder_that_another_process_keeps_is_named_with_what_to_do()
    {
        using var first = await FolderLock.Take(_data.FullName, static _ => { }, default);
        var wrong = await Assert.ThrowsAsync<StartupException>(
            () => FolderLock.Take(_data.FullName, static _ => { }, default, TimeSpan.Zero));
        Assert.Equal(
            $"another process (pid {Environment.ProcessId}) works in {_data.FullName}; {FixHints.OtherProcess}",
            wrong.Message);
    }

    [Fact]
    public async Task A_port_of_the_sidecar_that_is_taken_is_named_with_its_setting()
    {
        using var taken = new TcpListener(IPAddress.Loopback, 0);
        taken.Start();
        var lines = new ConcurrentQueue<string>();
        var settings = new Dictionary<string, string?>
        {
            ["Snapper:SidecarPort"] = $"{((IPEndPoint)taken.LocalEndpoint).Port}",
        };
        await StopsBy(ExitCode.Failure, WebApp.Create(
            _data.FullName, s_counter, builder => builder.Logging.AddProvider(new Lines(lines)), settings: settings));

        Assert.Contains(lines, static line => line.Contains("Snapper:SidecarPort", StringComparison.Ordinal));
        Assert.DoesNotContain(lines, static line => line.Contains("   at ", StringComparison.Ordinal));
    }

    [Fact]
    public async Task A_worker_that_stops_by_itself_stops_the_application_with_its_exit_code()
    {
        await using (var app = await WebApp.Start(_data.FullName, s_counter))
        {
            await app.Commit("Counter", "a", "Add", 1);
        }

        Directory.Delete(Path.Combine(_data.FullName, DataDirectory.WorkersFolder), recursive: true);
        await StopsBy(ExitCode.LogLost, WebApp.Create(_data.FullName, s_counter));
    }

    /// <summary>Runs it until it stops by itself, with this exit code.</summary>
    private static async Task StopsBy(int exitCode, WebApp created)
    {
        try
        {
            await using var app = created;
            var stopped = new TaskCompletionSource();
            app.Application.Lifetime.ApplicationStopping.Register(stopped.SetResult);
            await app.Run();
            await stopped.Task.WaitAsync(TimeSpan.FromSeconds(30));
            Assert.Equal(exitCode, Environment.ExitCode);
        }
        finally
        {
            Environment.ExitCode = 0; // this process is the tests'
        }
    }

    private static async Task Until(Func<bool> condition)
    {
        using var limit = new CancellationTokenSource(TimeSpan.FromSeconds(30));
        while (!condition()) await Task.Delay(10, limit.Token);
    }

    /// <summary>Keeps what is logged, exceptions included.</summary>
    private sealed class Lines(ConcurrentQueue<string> lines) : ILoggerProvider, ILogger
    {
        public ILogger CreateLogger(string categoryName) => this;

        public IDisposable? BeginScope<TState>(TState state)
            where TState : notnull => null;

        public bool IsEnabled(LogLevel logLevel) => true;

        public void Log<TState>(
            LogLevel logLevel, EventId eventId, TState state, Exception? exception,
            Func<TState, Exception?, string> formatter) => lines.Enqueue($"{formatter(state, exception)} {exception}");

        public void Dispose()
        {
        }
    }

    private static ActorTypeDescriptor Type(string name) =>
        SnapperAspNetCoreTestsActors.All.Single(type => type.Type == name);

    private static IEnumerable<string> Names(JsonNode list) => list.AsArray().Select(static name => (string)name!);

    private static async Task<string> Call(WebApp app, string type, string method, string body)
    {
        using var content = new StringContent(body, System.Text.Encoding.UTF8, "application/json");
        using var answer = await app.Sidecar.PostAsync($"/v1.0/actors/{type}/x/method/{method}", content);
        var text = await answer.Content.ReadAsStringAsync();
        Assert.True(answer.IsSuccessStatusCode, text);
        return text;
    }

    private static async Task<HttpStatusCode> Status(WebApp app, string path, params (string, string)[] headers)
    {
        using var answer = await Get(app, path, headers);
        return answer.StatusCode;
    }

    private static async Task<string> Text(WebApp app, string path, params (string, string)[] headers)
    {
        using var answer = await Get(app, path, headers);
        return await answer.Content.ReadAsStringAsync();
    }

    private static async Task<HttpResponseMessage> Get(WebApp app, string path, (string Name, string Value)[] headers)
    {
        using var request = new HttpRequestMessage(HttpMethod.Get, path);
        foreach (var (name, value) in headers) request.Headers.TryAddWithoutValidation(name, value);
        return await app.Client.SendAsync(request);
    }
}
