using System.Text.Json;
using Snapper.Actors;
using Snapper.Actors.Generated;
using Snapper.Client.Calls;
using Snapper.Client.Messages;
using Snapper.Client.Sending;
using Snapper.Client.Wire;

namespace Snapper.Client;

/// <summary>
/// Runs transactions on the workers, through a Dapr sidecar or directly. Thread-safe; one per process is enough, and
/// best: calls that are made at the same time share requests.
/// </summary>
/// <remarks>
/// Every transaction carries an id. The client repeats what was surely not executed, or was aborted in a way that may
/// pass, and asks by id for what it lost sight of, until the timeout; effects happen once.
/// </remarks>
public sealed partial class SnapperClient : ISnapperClient, IAsyncDisposable, IDisposable
{
    /// <summary>Of the spans of transactions that clients ask for: what a listener of activities names.</summary>
    public const string ActivitySourceName = "Snapper.Client";

    private const int LongestId = 128;

    private readonly SnapperClientOptions _options;
    private readonly CancellationTokenSource _closing = new();
    private readonly Routes _routes;
    private readonly OperatorEndpoint _operator;
    private readonly RetryingSender _courier;
    private readonly RequestIds _ids = new();

    /// <summary>Makes a client. Connects with the first call.</summary>
    /// <param name="options">Null: the sidecar that the environment names.</param>
    /// <exception cref="ArgumentException">An option is out of its range.</exception>
    public SnapperClient(SnapperClientOptions? options = null)
    {
        _options = options ?? new SnapperClientOptions();
        _options.Check();
        var giveUps = new CancellationPool(_closing.Token);
        _routes = new Routes(_options, giveUps);
        _operator = new OperatorEndpoint(_options);
        _courier = new RetryingSender(_routes, _options, giveUps, _closing.Token);
    }

    internal Routes Routes => _routes;

    internal SnapperClientOptions Options => _options;

    internal JsonSerializerOptions Json => _options.Json;

    /// <summary>An actor of the interface's own type.</summary>
    /// <exception cref="InvalidOperationException">The interface has no generated proxy.</exception>
    public ActorClient<TActor> Actor<TActor>(string id)
        where TActor : class, ITransactionalActor => Actor<TActor>(ActorProxies.DefaultActorType<TActor>(), id);

    /// <summary>An actor of a named type, for an interface that several actor types implement.</summary>
    public ActorClient<TActor> Actor<TActor>(string type, string id)
        where TActor : class, ITransactionalActor
    {
        ArgumentException.ThrowIfNullOrEmpty(type);
        ArgumentException.ThrowIfNullOrEmpty(id);
        RequestWriter.CheckText(type, nameof(type));
        RequestWriter.CheckText(id, nameof(id));
        return new ActorClient<TActor>(this, type, id);
    }

    /// <summary>Runs an untyped transaction. Every outcome is a reply; none is thrown.</summary>
    /// <exception cref="ArgumentException">The message is malformed; nothing was sent.</exception>
    /// <exception cref="OperationCanceledException">The caller gave up; the transaction may still commit.</exception>
    public Task<TransactionReply> Submit(TransactionRequestMessage request, CancellationToken cancellation = default)
    {
        ArgumentNullException.ThrowIfNull(request);
        ArgumentException.ThrowIfNullOrEmpty(request.Method);
        if (request.Mode == TransactionMode.Pact && request.Access is null)
        {
            throw new ArgumentException("A PACT declares the actors it touches: Access is missing.", nameof(request));
        }

        var id = CheckedId(request.Id);
        var timeout = CheckedTimeout(request.Timeout);
        RequestWriter.CheckText(request.Actor.Type, nameof(request));
        RequestWriter.CheckText(request.Actor.Id, nameof(request));
        using var writer = PooledWriter.Rent();
        RequestWriter.Begin(writer.Json, id, request.Actor.Type, request.Actor.Id);
        writer.Json.WriteString("method"u8, request.Method);
        if (!request.Input.IsEmpty)
        {
            WriteInput(writer.Json, request.Input.Span);
        }

        var access = request.Mode == TransactionMode.Pact ? request.Access : null;
        var trace = ClientTrace.Begin(id, request.Actor.Type, request.Actor.Id, request.Method);
        RequestWriter.End(writer.Json, request.Mode, request.AccessMode, access, timeout, trace.Context);
        return Deliver(request.Actor.Type, request.Actor.Id, id, writer.ToBytes(), timeout, trace, cancellation);
    }

    /// <summary>What became of a transaction; null when the worker does not know it, which decides nothing while it may be under way.</summary>
    /// <exception cref="HttpRequestException">No answer, or one that says nothing about the transaction.</exception>
    public async Task<TransactionReply?> Find(string id, CancellationToken cancellation = default)
    {
        ObjectDisposedException.ThrowIf(_closing.IsCancellationRequested, this);
        using var either = CancellationTokenSource.CreateLinkedTokenSource(cancellation, _closing.Token);
        either.CancelAfter(_options.Timeout);
        var known = CheckedId(id);
        for (var left = _routes.Count; ; left--)
        {
            var route = _routes.Pick(null, Environment.TickCount64);
            try
            {
                return await route.Door.Ask(known, either.Token).ConfigureAwait(false);
            }
            catch (HttpRequestException lost) when (left > 1)
            {
                _routes.Note(route, null, Attempt.Lost(lost.Message)); // any other worker answers as well
            }
        }
    }

    /// <summary>
    /// Closes the connections. Calls under way end: not known when they were sent, else with
    /// <see cref="ObjectDisposedException"/>.
    /// </summary>
    public async ValueTask DisposeAsync()
    {
        await _closing.CancelAsync().ConfigureAwait(false);
        Dispose();
    }

    /// <summary>As <see cref="DisposeAsync"/>, for owners that end without waiting.</summary>
    public void Dispose()
    {
        _closing.Cancel();
        _routes.Dispose();
        _operator.Dispose();
    }

    internal Task<TransactionReply> Run<TActor>(
        string type, string id, Func<TActor, Task> call, TransactionMode mode, Action<Touches>? touches, CallOptions? options, CancellationToken cancellation)
        where TActor : class, ITransactionalActor
    {
        ArgumentNullException.ThrowIfNull(call);
        var requestId = CheckedId(options?.Id);
        var timeout = CheckedTimeout(options?.Timeout);
        using var writer = PooledWriter.Rent();
        RequestWriter.Begin(writer.Json, requestId, type, id);
        var capture = new RootCapture(writer.Json, _options.Json);
        capture.Check(call(ActorProxies.Create<TActor>(capture, type, id)));
        Touches? access = null;
        if (mode == TransactionMode.Pact)
        {
            access = new Touches(type, id);
            touches?.Invoke(access);
        }

        var trace = ClientTrace.Begin(requestId, type, id, capture.Method);
        RequestWriter.End(
            writer.Json, mode, options?.AccessMode ?? AccessMode.Strict, access?.Calls, timeout,
            trace.Context);
        return Deliver(type, id, requestId, writer.ToBytes(), timeout, trace, cancellation);
    }

    private static void WriteInput(Utf8JsonWriter json, ReadOnlySpan<byte> input)
    {
        json.WritePropertyName("input"u8);
        try
        {
            json.WriteRawValue(input);
        }
        catch (JsonException e)
        {
            throw new ArgumentException("Input is not one JSON value: " + e.Message, e);
        }
    }

    private Task<TransactionReply> Deliver(
        string actorType, string actorId, string id, byte[] body, TimeSpan timeout, ClientTrace trace,
        CancellationToken cancellation)
    {
        if (_closing.IsCancellationRequested)
        {
            var closed = new ObjectDisposedException(GetType().FullName);
            trace.Fail(closed);
            throw closed;
        }

        return trace.Follow(
            _courier.Deliver(_routes.KeyOf(actorType, actorId), id, body, timeout, cancellation));
    }

    private TimeSpan CheckedTimeout(TimeSpan? timeout)
    {
        if (timeout is { } own)
        {
            SnapperClientOptions.CheckTimeout(own, nameof(timeout));
        }

        return timeout ?? _options.Timeout;
    }

    private string CheckedId(string? id)
    {
        if (id is null)
        {
            return _ids.Next();
        }

        if (id.Length is 0 or > LongestId)
        {
            throw new ArgumentException($"An id has 1 to {LongestId} characters, got {id.Length}.", nameof(id));
        }

        foreach (var c in id)
        {
            if (char.IsControl(c))
            {
                throw new ArgumentException("An id has printable characters only.", nameof(id));
            }
        }

        RequestWriter.CheckText(id, nameof(id));
        return id;
    }
}
