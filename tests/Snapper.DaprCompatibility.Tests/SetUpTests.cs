using System.Collections.Concurrent;
using System.Net;
using System.Net.Http.Json;
using Dapr.Actors;
using Dapr.Actors.Client;
using Dapr.Actors.Runtime;
using Microsoft.Extensions.Logging;
using Snapper.Actors.Generated;
using Snapper.AspNetCore.Tests;

namespace Snapper.DaprCompatibility.Tests;

/// <summary>What a migrated application says at its start, and what it hears when it has forgotten something.</summary>
public sealed class SetUpTests : IDisposable
{
    private static readonly ActorTypeDescriptor[] s_actors = [BasketActorDescriptor.Instance, RelayDescriptor.Instance];

    private readonly DirectoryInfo _data = Directory.CreateTempSubdirectory("snapper-set-up-");

    public void Dispose() => _data.Delete(recursive: true);

    [Fact]
    public async Task An_injected_factory_calls_actors_through_the_sidecar()
    {
        await using var app = await WebApp.Start(
            _data.FullName, s_actors,
            static builder =>
            {
                builder.Services.AddActorProxyFactory();
                var sidecar = $"http://127.0.0.1:{builder.Configuration["Snapper:SidecarPort"]}";
                builder.Services.Configure<ActorRuntimeOptions>(options => options.HttpEndpoint = sidecar);
            },
            static application =>
            {
                application.MapSnapper();
                application.MapPost("/bumps/{id}", static (string id, IActorProxyFactory actors) =>
                    actors.CreateActorProxy<IBasket>(new ActorId(id), "Basket").Bump());
            });
        foreach (var bumps in (string[])["1", "2"])
        {
            using var answer = await app.Client.PostAsync("/bumps/a", null);
            Assert.Equal(bumps, await answer.Content.ReadAsStringAsync());
        }
    }

    [Fact]
    public async Task A_factory_that_is_registered_already_stays()
    {
        var options = new ActorProxyOptions { HttpEndpoint = "http://127.0.0.1:1" };
        var own = new Dapr.Actors.Client.ActorProxyFactory(options);
        await using var services = new ServiceCollection().AddSingleton<IActorProxyFactory>(own)
            .AddActorProxyFactory().BuildServiceProvider();
        Assert.Same(own, services.GetRequiredService<IActorProxyFactory>());
    }

    [Fact]
    public async Task An_endpoint_of_the_application_that_cannot_be_made_is_its_own_mistake()
    {
        await using var app = WebApp.Create(_data.FullName, s_actors, map: static application =>
        {
            application.MapSnapper();
            application.MapGet("/bumps/{id}", static (string id, IActorProxyFactory factory) => id + factory);
        });
        var wrong = await Assert.ThrowsAsync<InvalidOperationException>(app.Run);
        Assert.StartsWith("The application's own endpoints cannot be made", wrong.Message, StringComparison.Ordinal);
        Assert.Contains("AddActorProxyFactory", wrong.Message, StringComparison.Ordinal);
        Assert.Contains("Body was inferred", wrong.Message, StringComparison.Ordinal);
        Assert.Contains("Body was inferred", wrong.InnerException!.Message, StringComparison.Ordinal);
    }

    [Fact]
    public async Task Reminders_that_still_come_are_told_of_once_for_each_type()
    {
        var lines = new Lines();
        await using var app = await WebApp.Start(
            _data.FullName, s_actors, builder => builder.Logging.AddProvider(lines));
        foreach (var path in (string[])
            ["Basket/a/method/remind/x", "Basket/b/method/timer/y", "Relay/r/method/remind/z"])
        {
            using var answer = await app.Client.PutAsJsonAsync($"/actors/{path}", new { });
            Assert.Equal(HttpStatusCode.NotFound, answer.StatusCode);
        }

        var told = lines.Warnings.Where(static line => line.Contains("reminders", StringComparison.Ordinal)).ToArray();
        Assert.Equal(2, told.Length);
        Assert.Contains("of type Basket", told[0], StringComparison.Ordinal);
        Assert.Contains("remind/x of a", told[0], StringComparison.Ordinal);
        Assert.Contains("of type Relay", told[1], StringComparison.Ordinal);
    }

    private sealed class Lines : ILoggerProvider, ILogger
    {
        public ConcurrentQueue<string> Warnings { get; } = new();

        public ILogger CreateLogger(string categoryName) => this;

        public IDisposable? BeginScope<TState>(TState state)
            where TState : notnull => null;

        public bool IsEnabled(LogLevel logLevel) => logLevel == LogLevel.Warning;

        public void Log<TState>(
            LogLevel logLevel, EventId eventId, TState state, Exception? exception,
            Func<TState, Exception?, string> formatter)
        {
            if (IsEnabled(logLevel)) Warnings.Enqueue(formatter(state, exception));
        }

        public void Dispose()
        {
        }
    }
}
