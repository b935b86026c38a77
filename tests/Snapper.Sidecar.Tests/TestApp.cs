using System.Collections.Concurrent;
using System.Globalization;
using System.Net;
using System.Text;
using System.Text.Json;
using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.Hosting;
using Microsoft.AspNetCore.Http;
using Microsoft.AspNetCore.Routing;
using Microsoft.AspNetCore.Server.Kestrel.Core;
using Microsoft.Extensions.DependencyInjection;
using Snapper.Sidecar.Hosting;

namespace Snapper.Sidecar.Tests;

/// <summary>An app behind a sidecar: actors that tell what reached them, and a few plain routes.</summary>
public sealed class TestApp : IAsyncDisposable
{
    private readonly WebApplication _web;

    private TestApp(WebApplication web, TestHost host, int port)
    {
        _web = web;
        Host = host;
        Port = port;
    }

    public TestHost Host { get; }

    public int Port { get; }

    public static async Task<TestApp> Start(int port, DaprHostOptions options, HttpProtocols protocols = HttpProtocols.Http1)
    {
        var builder = WebApplication.CreateEmptyBuilder(new WebApplicationOptions());
        builder.Services.AddRoutingCore();
        builder.WebHost.UseKestrelCore().ConfigureKestrel(kestrel => kestrel.Listen(IPAddress.Loopback, port, listen => listen.Protocols = protocols));
        var web = builder.Build();
        web.UseRouting();
        var host = new TestHost();
        web.MapDaprActorHost(host, options);

        // A plain Dapr app's actor: answers with the status that its method names.
        web.MapPut("/actors/Raw/{id}/method/{status:int}", (RequestDelegate)(async context =>
        {
            var status = int.Parse((string)context.Request.RouteValues["status"]!, CultureInfo.InvariantCulture);
            context.Response.StatusCode = status;
            if (status != 204)
            {
                await context.Response.WriteAsync("{\"oops\":\"bad\"}");
            }
        }));
        web.Map("/status/{status:int}", (RequestDelegate)(async context =>
        {
            context.Response.StatusCode = int.Parse((string)context.Request.RouteValues["status"]!, CultureInfo.InvariantCulture);
            context.Response.Headers.RetryAfter = "3";
            context.Response.ContentType = "application/problem+json";
            await context.Response.WriteAsync("{\"title\":\"so\"}");
        }));
        web.Map("/echo/{**rest}", (RequestDelegate)(async context =>
        {
            using var body = new MemoryStream();
            await context.Request.Body.CopyToAsync(body);
            context.Response.Headers["x-saw"] = $"{context.Request.Method} {context.Request.Path}{context.Request.QueryString} {context.Request.Headers["x-mine"]}";
            await context.Response.Body.WriteAsync(body.ToArray());
        }));
        await web.StartAsync();
        return new TestApp(web, host, new Uri(web.Urls.Single()).Port);
    }

    public async ValueTask DisposeAsync() => await _web.DisposeAsync();
}

/// <summary>What an actor call looked like in the app.</summary>
public sealed record SeenCall(
    string Type, string Id, string Method, int Length, bool TooLarge, string? Reentrancy, string? Trace, string? Caller);

/// <summary>Actors whose behaviour is named by the method.</summary>
public sealed class TestHost : IActorHost
{
    private int _inside;
    private int _mostInside;

    public IReadOnlyList<string> ActorTypes { get; } = ["Account", "Account@w1", "Raw"];

    /// <summary>Gates of the method <c>wait</c>, by actor id.</summary>
    public ConcurrentDictionary<string, Gate> Gates { get; } = new();

    public ConcurrentQueue<(string Type, string Id)> Deactivated { get; } = new();

    /// <summary>Completes when a call of <c>hang</c> was given up.</summary>
    public TaskCompletionSource GivenUp { get; } = new(TaskCreationOptions.RunContinuationsAsynchronously);

    public TaskCompletionSource Hanging { get; } = new(TaskCreationOptions.RunContinuationsAsynchronously);

    public int MaxInside => Volatile.Read(ref _mostInside);

    public Gate GateOf(string id) => Gates.GetOrAdd(id, _ => new Gate());

    public async ValueTask<ActorReply> Invoke(ActorCall call, CancellationToken cancellation)
    {
        switch (call.Method)
        {
            case "echo":
                return new ActorReply(call.Body.ToArray(), "application/octet-stream");
            case "address":
                return new ActorReply(Encoding.UTF8.GetBytes($"{call.IdIsUnreadable} {call.ActorId}"), "text/plain");
            case "throw":
                throw new InvalidOperationException("a defect of the host");
            case "wait":
                await GateOf(call.ActorId).Pass(cancellation);
                break;
            case "linger":
                await Linger(cancellation);
                break;
            case "hang":
                await Hang(cancellation);
                break;
        }

        var seen = new SeenCall(
            call.ActorType, call.ActorId, call.Method, call.Body.Length, call.BodyTooLarge, call.ReentrancyId, call.TraceParent, call.CallerAppId);
        return new ActorReply(JsonSerializer.SerializeToUtf8Bytes(seen));
    }

    public ValueTask Deactivate(string actorType, string actorId, CancellationToken cancellation)
    {
        Deactivated.Enqueue((actorType, actorId));
        return ValueTask.CompletedTask;
    }

    private async Task Linger(CancellationToken cancellation)
    {
        var inside = Interlocked.Increment(ref _inside);
        int most;
        while (inside > (most = Volatile.Read(ref _mostInside)) && Interlocked.CompareExchange(ref _mostInside, inside, most) != most)
        {
        }

        await Task.Delay(30, cancellation);
        Interlocked.Decrement(ref _inside);
    }

    private async Task Hang(CancellationToken cancellation)
    {
        Hanging.TrySetResult();
        try
        {
            await Task.Delay(Timeout.Infinite, cancellation);
        }
        finally
        {
            GivenUp.TrySetResult();
        }
    }
}

/// <summary>Lets calls through once it is opened, and tells how many stand in it.</summary>
public sealed class Gate
{
    private readonly TaskCompletionSource _open = new(TaskCreationOptions.RunContinuationsAsynchronously);
    private int _inside;
    private (int Count, TaskCompletionSource Reached) _awaited = (int.MaxValue, new TaskCompletionSource());

    public int Inside => Volatile.Read(ref _inside);

    /// <summary>Calls that ever came in.</summary>
    public int Entered { get; private set; }

    public void Open() => _open.TrySetResult();

    /// <summary>Completes when this many calls are inside at one time. One awaiter at a time.</summary>
    public async Task Filled(int count)
    {
        var reached = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        lock (_open)
        {
            _awaited = (count, reached);
            if (_inside >= count)
            {
                reached.TrySetResult();
            }
        }

        try
        {
            await reached.Task.WaitAsync(TimeSpan.FromSeconds(30));
        }
        catch (TimeoutException)
        {
            throw new TimeoutException($"Waited 30 s for {count} calls inside the actor at one time; there were {Inside}.");
        }
    }

    public async Task Pass(CancellationToken cancellation)
    {
        lock (_open)
        {
            Entered++;
            if (++_inside >= _awaited.Count)
            {
                _awaited.Reached.TrySetResult();
            }
        }

        try
        {
            await _open.Task.WaitAsync(cancellation);
        }
        finally
        {
            Interlocked.Decrement(ref _inside);
        }
    }
}
