using System.Text;
using System.Text.Json;
using Microsoft.Extensions.DependencyInjection;
using Snapper.Actors;
using Snapper.Client;
using Snapper.Client.Calls;
using Snapper.Protocol.Identity;
using Snapper.Storage.Memory;

namespace Snapper.Testing;

/// <summary>
/// A worker in this process, for tests of actors: the real runtime and the real HTTP API on a log in memory, and the
/// typed client, without sockets. What a transaction has
/// committed is there after <see cref="Crash"/> and <see cref="Restart"/>, as with a log on disk.
/// </summary>
/// <example>
/// <code>
/// await using var snapper = await SnapperTest.Start(options => options.AddActors(typeof(Account).Assembly));
/// await snapper.Actor&lt;IAccount&gt;("alice").Act(account => account.Deposit(10));
/// await snapper.Restart();
/// </code>
/// </example>
public sealed class SnapperTest : IAsyncDisposable
{
    private static readonly Uri s_address = new("http://snapper.test");

    private readonly SnapperTestOptions _options;
    private readonly MemoryStorage _storage = new();
    private readonly LifeHandler _handler = new();
    private readonly HttpClient _web;
    private TestLife? _life;

    private SnapperTest(SnapperTestOptions options)
    {
        _options = options;
        Clock = new TestClock(TimeProvider.System, options.StartsAt);
        _web = new HttpClient(_handler, disposeHandler: false) { BaseAddress = s_address, Timeout = options.Timeout };
        Client = new SnapperClient(new SnapperClientOptions
        {
            Worker = s_address,
            Handler = _handler,
            Timeout = options.Timeout,
            Token = null,
            MinBackoff = TimeSpan.FromMilliseconds(1),
        });
    }

    /// <summary>Runs transactions; it outlives crashes, and repeats what a crash interrupted.</summary>
    public SnapperClient Client { get; }

    /// <summary>The worker's clock, which goes as real time does, and can be put forward.</summary>
    public TestClock Clock { get; }

    /// <summary>What actors of this life take in their constructors.</summary>
    /// <exception cref="InvalidOperationException">The worker is down.</exception>
    public IServiceProvider Services =>
        (_life ?? throw new InvalidOperationException("The worker is down: Restart begins its next life.")).Services;

    /// <summary>What broke the worker, a broken invariant; null: it runs, or was crashed by the test.</summary>
    public Exception? Failure => _life?.Failure;

    /// <summary>Starts a worker.</summary>
    /// <param name="configure">Names at least the actor types that it hosts.</param>
    /// <param name="cancellation">Gives up starting.</param>
    /// <exception cref="ArgumentException">It hosts none, or an option is out of its range.</exception>
    /// <exception cref="InvalidOperationException">
    /// An actor cannot be made: a service that its constructor takes is missing. The message names the type.
    /// </exception>
    public static async Task<SnapperTest> Start(
        Action<SnapperTestOptions> configure, CancellationToken cancellation = default)
    {
        ArgumentNullException.ThrowIfNull(configure);
        var options = new SnapperTestOptions();
        configure(options);
        options.Services.AddLogging(); // actors take loggers
        if (options.Types.Count == 0)
        {
            throw new ArgumentException("There is no actor type to host: call AddActors.", nameof(configure));
        }

        var test = new SnapperTest(options);
        try
        {
            await test.Begin(cancellation).ConfigureAwait(false);
            return test;
        }
        catch
        {
            await test.DisposeAsync().ConfigureAwait(false);
            throw;
        }
    }

    /// <summary>An actor, to be called in transactions of its own.</summary>
    /// <exception cref="InvalidOperationException">The interface has no generated proxy.</exception>
    public ActorClient<TActor> Actor<TActor>(string id)
        where TActor : class, ITransactionalActor => Client.Actor<TActor>(id);

    /// <summary>
    /// Puts a state in the place of an actor's, as a program of an earlier version may have stored it: one without
    /// <c>"$stateVersion"</c> is of version 1. A transaction like any other.
    /// </summary>
    /// <param name="actor">See <see cref="ActorClient{TActor}.Key"/>.</param>
    /// <param name="json">The state.</param>
    /// <param name="cancellation">Gives up waiting.</param>
    /// <exception cref="OperationRefusedException">It cannot be read as a state of the actor's type.</exception>
    public async Task PutState(ActorKey actor, string json, CancellationToken cancellation = default)
    {
        using var body = new StringContent(json, Encoding.UTF8, "application/json");
        using var answer = await _web.PutAsync(AddressOf(actor), body, cancellation).ConfigureAwait(false);
        await Check(answer, cancellation).ConfigureAwait(false);
    }

    /// <summary>An actor's state as it is stored, JSON with its <c>"$stateVersion"</c>, if it has one.</summary>
    /// <param name="actor">See <see cref="ActorClient{TActor}.Key"/>.</param>
    /// <param name="cancellation">Gives up waiting.</param>
    /// <returns>Null: the actor was never written, or is deleted.</returns>
    /// <exception cref="OperationRefusedException">There is no such type.</exception>
    public async Task<string?> GetState(ActorKey actor, CancellationToken cancellation = default)
    {
        using var answer = await _web.GetAsync(AddressOf(actor), cancellation).ConfigureAwait(false);
        var text = await Check(answer, cancellation).ConfigureAwait(false);
        using var view = JsonDocument.Parse(text);
        return view.RootElement.TryGetProperty("state", out var state) && state.ValueKind != JsonValueKind.Null
            ? state.GetRawText()
            : null;
    }

    /// <summary>
    /// Ends the worker as <c>kill -9</c> does: what was not in the log is lost, and a call that waits for an
    /// answer has none. Calls wait until <see cref="Restart"/>, or until their
    /// timeout.
    /// </summary>
    public async Task Crash()
    {
        if (Interlocked.Exchange(ref _life, null) is { } life)
        {
            _handler.Life = null;
            await life.Crash().ConfigureAwait(false);
        }
    }

    /// <summary>Begins the worker's next life, which recovers from the log; one that runs crashes before.</summary>
    /// <param name="cancellation">Gives up starting.</param>
    public async Task Restart(CancellationToken cancellation = default)
    {
        await Crash().ConfigureAwait(false);
        await Begin(cancellation).ConfigureAwait(false);
    }

    /// <summary>Stops the worker as SIGTERM does: what is under way ends. The data ends with it.</summary>
    public async ValueTask DisposeAsync()
    {
        if (Interlocked.Exchange(ref _life, null) is { } life)
        {
            await life.Stop().ConfigureAwait(false);
        }

        _handler.Life = null;
        await Client.DisposeAsync().ConfigureAwait(false);
        _web.Dispose();
        _handler.Dispose();
    }

    private static Uri AddressOf(ActorKey actor)
    {
        ArgumentNullException.ThrowIfNull(actor);
        var (type, id) = (Uri.EscapeDataString(actor.Type), Uri.EscapeDataString(actor.Id));
        return new Uri($"v1/actors/{type}/{id}", UriKind.Relative);
    }

    private static async Task<string> Check(HttpResponseMessage answer, CancellationToken cancellation)
    {
        var text = await answer.Content.ReadAsStringAsync(cancellation).ConfigureAwait(false);
        return answer.IsSuccessStatusCode ? text : throw new OperationRefusedException((int)answer.StatusCode, text);
    }

    private async Task Begin(CancellationToken cancellation)
    {
        var life = await TestLife.Start(_options, _storage, Clock, cancellation).ConfigureAwait(false);
        _life = life;
        _handler.Life = life;
    }
}
