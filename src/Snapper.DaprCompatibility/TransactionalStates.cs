using System.Text.Json;
using Dapr.Actors.Runtime;

namespace Snapper.DaprCompatibility;

/// <summary>
/// The named states as one attempt of a transaction sees them. What is read is kept, as the object that was read; what
/// is set is written when the method ends, or calls another actor, so that a value may still be changed after it was
/// set, as with Dapr's SDK.
/// </summary>
/// <remarks>
/// A plain actor runs one call at a time: so to read asks for the exclusive lock of an ACT, too, but in methods that
/// say that they only read. To read under a shared one, and to ask for more when something is set, would make most of
/// the ACTs on one actor give way to each other.
/// </remarks>
/// <param name="actor">The actor.</param>
/// <param name="json">How values are written and read.</param>
internal sealed class TransactionalStates(TransactionalDaprActor actor, JsonSerializerOptions json) : IActorStateManager
{
    private readonly Dictionary<string, Tracked> _tracked = new(StringComparer.Ordinal);
    private NamedStates? _seen;
    private bool _isChanged;

    /// <summary>The method only reads.</summary>
    public bool IsShared { get; set; }

    public async Task<T> GetStateAsync<T>(string stateName, CancellationToken cancellationToken = default)
    {
        var found = await TryGetStateAsync<T>(stateName, cancellationToken);
        return found.HasValue ? found.Value : throw NotFound(stateName);
    }

    public async Task<ConditionalValue<T>> TryGetStateAsync<T>(
        string stateName, CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(stateName);
        var states = await Read();
        if (_tracked.TryGetValue(stateName, out var known))
        {
            return known.IsRemoved ? default : new ConditionalValue<T>(true, (T)known.Boxed!);
        }

        if (!states.TryGet(stateName, out var bytes))
        {
            return default;
        }

        var value = JsonSerializer.Deserialize<T>(bytes.Span, json)!;
        _tracked[stateName] = new Tracked<T>(value, isChanged: false);
        return new ConditionalValue<T>(true, value);
    }

    public async Task SetStateAsync<T>(string stateName, T value, CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(stateName);
        await Read();
        Change(stateName, value);
    }

    public async Task AddStateAsync<T>(string stateName, T value, CancellationToken cancellationToken = default)
    {
        if (!await TryAddStateAsync(stateName, value, cancellationToken))
        {
            throw new InvalidOperationException($"An actor state with the name '{stateName}' already exists.");
        }
    }

    public async Task<bool> TryAddStateAsync<T>(
        string stateName, T value, CancellationToken cancellationToken = default)
    {
        if (await ContainsStateAsync(stateName, cancellationToken))
        {
            return false;
        }

        await SetStateAsync(stateName, value, cancellationToken);
        return true;
    }

    public async Task<T> GetOrAddStateAsync<T>(
        string stateName, T value, CancellationToken cancellationToken = default)
    {
        var found = await TryGetStateAsync<T>(stateName, cancellationToken);
        if (found.HasValue)
        {
            return found.Value;
        }

        await SetStateAsync(stateName, value, cancellationToken);
        return value;
    }

    public async Task<T> AddOrUpdateStateAsync<T>(
        string stateName, T addValue, Func<string, T, T> updateValueFactory,
        CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(stateName);
        ArgumentNullException.ThrowIfNull(updateValueFactory);
        var found = await TryGetStateAsync<T>(stateName, cancellationToken);
        var next = found.HasValue ? updateValueFactory(stateName, found.Value) : addValue;
        Change(stateName, next);
        return next;
    }

    public async Task RemoveStateAsync(string stateName, CancellationToken cancellationToken = default)
    {
        if (!await TryRemoveStateAsync(stateName, cancellationToken))
        {
            throw NotFound(stateName);
        }
    }

    public async Task<bool> TryRemoveStateAsync(string stateName, CancellationToken cancellationToken = default)
    {
        if (!await ContainsStateAsync(stateName, cancellationToken))
        {
            return false;
        }

        _tracked[stateName] = Tracked.Removed();
        _isChanged = true;
        return true;
    }

    public async Task<bool> ContainsStateAsync(string stateName, CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(stateName);
        var states = await Read();
        return _tracked.TryGetValue(stateName, out var known) ? !known.IsRemoved : states.TryGet(stateName, out _);
    }

    /// <summary>What was not saved is forgotten, and so is what was read.</summary>
    public Task ClearCacheAsync(CancellationToken cancellationToken = default)
    {
        _tracked.Clear();
        _isChanged = false;
        return Task.CompletedTask;
    }

    public Task UnloadStateAsync(
        string stateName, UnloadStateOptions? options = null, CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(stateName);
        if (_tracked.TryGetValue(stateName, out var known))
        {
            if (known.IsChanged && options is not { AllowUnloadingWhenStateModified: true })
            {
                throw new InvalidOperationException($"The actor state '{stateName}' was changed and is not saved yet.");
            }

            _tracked.Remove(stateName);
        }

        return Task.CompletedTask;
    }

    public async Task SaveStateAsync(CancellationToken cancellationToken = default)
    {
        if (!_isChanged)
        {
            return;
        }

        var before = await Read();
        var changes = new List<KeyValuePair<string, byte[]?>>();
        foreach (var (name, value) in _tracked)
        {
            if (value.IsChanged)
            {
                changes.Add(new(name, value.Encode(json)));
                value.IsChanged = false;
            }
        }

        _seen = before.With(changes);
        actor.Transaction.WriteState(_seen);
        _isChanged = false;
    }

    async Task<Dapr.Actors.Runtime.ConditionalValue<T>> Dapr.Actors.Runtime.IActorStateManager.TryGetStateAsync<T>(
        string stateName, CancellationToken cancellationToken) =>
        await TryGetStateAsync<T>(stateName, cancellationToken);

    public Task AddStateAsync<T>(
        string stateName, T value, TimeSpan ttl, CancellationToken cancellationToken = default) => throw NoTimeToLive();

    public Task SetStateAsync<T>(
        string stateName, T value, TimeSpan ttl, CancellationToken cancellationToken = default) => throw NoTimeToLive();

    public Task<bool> TryAddStateAsync<T>(
        string stateName, T value, TimeSpan ttl, CancellationToken cancellationToken = default) => throw NoTimeToLive();

    public Task<T> GetOrAddStateAsync<T>(
        string stateName, T value, TimeSpan ttl, CancellationToken cancellationToken = default) => throw NoTimeToLive();

    public Task<T> AddOrUpdateStateAsync<T>(
        string stateName, T addValue, Func<string, T, T> updateValueFactory, TimeSpan ttl,
        CancellationToken cancellationToken = default) => throw NoTimeToLive();

    private void Change<T>(string stateName, T value)
    {
        _tracked[stateName] = new Tracked<T>(value, isChanged: true);
        _isChanged = true;
    }

    private ValueTask<NamedStates> Read()
    {
        var read = IsShared ? actor.Transaction.ReadState() : actor.Transaction.ReadStateForUpdate();
        return read.IsCompletedSuccessfully ? new ValueTask<NamedStates>(Seen(read.Result)) : Await(read);
    }

    private async ValueTask<NamedStates> Await(ValueTask<object?> read) => Seen(await read);

    // A call back to this actor, by one that it called, has an object of its own: what it wrote is seen here.
    private NamedStates Seen(object? state)
    {
        var states = (NamedStates?)state ?? NamedStates.Empty;
        if (_seen is not null && !ReferenceEquals(states, _seen))
        {
            foreach (var (name, value) in _tracked)
            {
                if (!value.IsChanged)
                {
                    _tracked.Remove(name);
                }
            }
        }

        _seen = states;
        return states;
    }

    private static KeyNotFoundException NotFound(string stateName) =>
        new($"Actor state with name {stateName} was not found.");

    private static NotSupportedException NoTimeToLive() => new(Refusals.TimeToLive);

    /// <summary>A value of this attempt.</summary>
    private abstract class Tracked
    {
        public bool IsChanged { get; set; }

        public virtual bool IsRemoved => false;

        public abstract object? Boxed { get; }

        public abstract byte[]? Encode(JsonSerializerOptions json);

        public static Tracked Removed() => new RemovedValue { IsChanged = true };
    }

    private sealed class Tracked<T> : Tracked
    {
        private readonly T _value;

        public Tracked(T value, bool isChanged) => (_value, IsChanged) = (value, isChanged);

        public override object? Boxed => _value;

        public override byte[] Encode(JsonSerializerOptions json) => JsonSerializer.SerializeToUtf8Bytes(_value, json);
    }

    private sealed class RemovedValue : Tracked
    {
        public override bool IsRemoved => true;

        public override object? Boxed => null;

        public override byte[]? Encode(JsonSerializerOptions json) => null;
    }
}
