using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.Http.Features;
using Microsoft.AspNetCore.TestHost;
using Microsoft.Extensions.DependencyInjection;
using Snapper.Runtime.Execution;
using Snapper.Runtime.Hosting;
using Snapper.AspNetCore.Api;
using Snapper.AspNetCore.Applications;
using Snapper.AspNetCore.Hosting;
using Snapper.Storage.Memory;
using Snapper.Storage.States;

namespace Snapper.Testing;

/// <summary>One life of the worker: between two crashes.</summary>
internal sealed class TestLife
{
    /// <summary>
    /// The path and query as the client wrote them, escapes included, which the test server does not hand on.
    /// </summary>
    public const string RawTargetHeader = "Raw-Target";

    private readonly ServiceProvider _services;
    private readonly CancellationTokenSource _crashed = new();
    private WorkerHost? _worker;
    private WebApplication? _web;
    private volatile Exception? _failure;

    private TestLife(ServiceProvider services)
    {
        _services = services;
        Crashed = _crashed.Token;
    }

    public IServiceProvider Services => _services;

    public Exception? Failure => _failure;

    /// <summary>The process has ended, and its connections with it.</summary>
    public CancellationToken Crashed { get; }

    /// <summary>Takes requests of this life.</summary>
    public HttpMessageInvoker Door { get; private set; } = null!;

    public static async Task<TestLife> Start(SnapperTestOptions options, MemoryStorage storage, TimeProvider time,
        CancellationToken cancellation)
    {
        var life = new TestLife(options.Services.BuildServiceProvider());
        try
        {
            await using (var scope = life._services.CreateAsyncScope())
            {
                foreach (var type in options.Types)
                {
                    Make(type, scope.ServiceProvider);
                }
            }

            life._worker = await WorkerHost.Start(
                new WorkerSetup
                {
                    Options = new WorkerOptions { Executors = options.Executors },
                    ActorTypes = [.. options.Types.Select(type => ScopedActors.Of(type, options.Services))
                        .Select(type => options.RunMethodsTwice ? TwiceActor.Of(type) : type)],
                    Log = new MemoryTransactionLog(storage),
                    Store = new MemoryStateStore(storage, time, new StateStoreOptions()),
                    Services = life._services,
                    Time = time,
                    Logger = options.Logger,
                    Failed = exception => life._failure = exception,
                },
                cancellation).ConfigureAwait(false);
            await life.Serve(cancellation).ConfigureAwait(false);
            return life;
        }
        catch
        {
            await life.Stop().ConfigureAwait(false);
            throw;
        }
    }

    /// <summary>Nothing is finished, and no call is answered.</summary>
    public async Task Crash()
    {
        await _crashed.CancelAsync().ConfigureAwait(false);
        await _worker!.Kill().ConfigureAwait(false);
        await End().ConfigureAwait(false);
    }

    /// <summary>What is under way ends.</summary>
    public async Task Stop()
    {
        if (_worker is not null)
        {
            await _worker.Stop().ConfigureAwait(false);
        }

        await End().ConfigureAwait(false);
    }

    private async Task Serve(CancellationToken cancellation)
    {
        var builder = WebApplication.CreateEmptyBuilder(new WebApplicationOptions());
        builder.WebHost.UseTestServer();
        builder.Services.AddRoutingCore();
        _web = builder.Build();
        _web.Use(static (context, next) =>
        {
            context.Features.GetRequiredFeature<IHttpRequestFeature>().RawTarget =
                context.Request.Headers[RawTargetHeader].ToString();
            return next(context);
        });
        SnapperApi.Map(_web, _worker!.Door, _worker.Inspection, new ApiOptions());
        await _web.StartAsync(cancellation).ConfigureAwait(false);
        Door = new HttpMessageInvoker(_web.GetTestServer().CreateHandler());
    }

    private async Task End()
    {
        Door?.Dispose();
        if (_web is not null)
        {
            await _web.DisposeAsync().ConfigureAwait(false);
        }

        await _services.DisposeAsync().ConfigureAwait(false);
        _crashed.Dispose();
    }

    private static void Make(Actors.Generated.ActorTypeDescriptor type, IServiceProvider services)
    {
        try
        {
            type.Create(services);
        }
        catch (Exception problem)
        {
            throw new InvalidOperationException($"An actor of the type {type.Type} cannot be made: {problem.Message}",
                problem);
        }
    }
}
