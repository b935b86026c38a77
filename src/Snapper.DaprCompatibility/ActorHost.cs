using System.ComponentModel;
using System.Text.Json;
using Dapr.Actors;
using Dapr.Actors.Runtime;
using Microsoft.Extensions.Logging.Abstractions;
using Microsoft.Extensions.Options;

namespace Snapper.DaprCompatibility;

/// <summary>What the constructor of an actor is given, in the place of the class of that name of Dapr's SDK.</summary>
public sealed class ActorHost
{
    private TransactionalDaprActor? _actor;

    /// <summary>Called by generated code alone.</summary>
    /// <param name="services">Of the host, for the logger and the options of JSON; null: there are none.</param>
    [EditorBrowsable(EditorBrowsableState.Never)]
    public ActorHost(IServiceProvider? services)
    {
        LoggerFactory = (ILoggerFactory?)services?.GetService(typeof(ILoggerFactory)) ?? NullLoggerFactory.Instance;
        var options = (IOptions<ActorRuntimeOptions>?)services?.GetService(typeof(IOptions<ActorRuntimeOptions>));
        JsonSerializerOptions = ValueJson.Of(options?.Value.JsonSerializerOptions);
    }

    /// <summary>The actor's id. Not known in constructors yet.</summary>
    public ActorId Id => Attached.Id;

    /// <summary>Makes loggers.</summary>
    public ILoggerFactory LoggerFactory { get; }

    /// <summary>
    /// How named states are written and read: as <c>ActorRuntimeOptions.JsonSerializerOptions</c> of the host says,
    /// else as Dapr's SDK does by default.
    /// </summary>
    public JsonSerializerOptions JsonSerializerOptions { get; }

    /// <summary>Makes proxies for calls within the transaction.</summary>
    public TransactionProxies ProxyFactory => Attached.ProxyFactory;

    private TransactionalDaprActor Attached => _actor
        ?? throw new InvalidOperationException("The host knows its actor once the base class has been constructed.");

    internal void Attach(TransactionalDaprActor actor)
    {
        if (_actor is not null)
        {
            throw new InvalidOperationException("A host belongs to one actor object.");
        }

        _actor = actor;
    }
}
