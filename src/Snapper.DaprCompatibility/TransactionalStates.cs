using System.Runtime.CompilerServices;
using System.Text.Json;
using Dapr.Actors.Runtime;

namespace Snapper.DaprCompatibility;

/// <summary>
/// The named states as one attempt of a transaction sees them. What is read is kept, as the object that was read; what
/// is set is written when the method ends, so that a value may still be changed after it was set, as with Dapr's SDK.
/// </summary>
/// <remarks>
/// <para>
/// A call of another actor may come back, and must see what was set so far: it is handed over before each call, and
/// looked at again before the next one and at the end. What a call back has written in the meantime under the same name
/// wins. If this method has changed its own object of that name as well, one of the two changes would be lost: the
/// transaction aborts. <c>SaveStateAsync</c> ends the following of what was set before, as it does with Dapr's SDK.
/// </para>
/// <para>
/// A plain actor runs one call at a time: so to read asks for the exclusive lock of an ACT, too, but in methods that
/// say that they only read. To read under a shared one, and to ask for more when something is set, would make most of
/// the ACTs on one actor give way to each other.
/// </para>
/// </remarks>
/// <param name="actor">The actor.</param>
/// <param name="json">How values are written and read.</param>
internal sealed class TransactionalStates(TransactionalDaprActor actor, JsonSerializerOptions json) : IActorStateManager
{
    private readonly Dictionary<string, Tracked> _tracked = new(StringComparer.Ordinal);

    // What was handed over here and overwritten by a call back.
    private readonly Dictionary<string, Tracked> _overwritten = new(StringComparer.Ordinal);
    private NamedStates? _seen;

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
        _tracked[stateName] = new Tracked<T>(value, Following.No);
        _overwritten.Remove(stateName);
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

        Keep(stateName, new RemovedValue());
        return true;
    }

    public async Task<bool> ContainsStateAsync(string stateName, CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(stateName);
        var states = await Read();
        return _tracked.TryGetValue(stateName, out var known) ? !known.IsRemoved : states.TryGet(stateName, out _);
    }

    /// <summary>
    /// What was not saved is forgotten, and so is what was read. What a call was given to see stays handed over.
    /// </summary>
    public Task ClearCacheAsync(CancellationToken cancellationToken = default)
    {
        _tracked.Clear();
        _overwritten.Clear();
        return Task.CompletedTask;
    }

    public Task UnloadStateAsync(
        string stateName, UnloadStateOptions? options = null, CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(stateName);
        if (_tracked.TryGetValue(stateName, out var known))
        {
            if (known.IsFollowed && options is not { AllowUnloadingWhenStateModified: true })
            {
                throw new InvalidOperationException($"The actor state '{stateName}' was changed and is not saved yet.");
            }

            _tracked.Remove(stateName);
        }

        return Task.CompletedTask;
    }

    public async Task SaveStateAsync(CancellationToken cancellationToken = default)
    {
        await HandOver();
        foreach (var value in _tracked.Values)
        {
            value.Follow = Following.No;
        }
    }

    /// <summary>Gives the transaction what was set, as it is now. It is looked at again the next time.</summary>
    /// <exception cref="InvalidOperationException">A call back and this method have changed the same value.</exception>
    public Task HandOver() => _overwritten.Count > 0 || _tracked.Values.Any(static one => one.IsFollowed)
        ? HandOverNow()
        : Task.CompletedTask;

    private async Task HandOverNow()
    {
        var before = await Read();
        foreach (var (name, value) in _overwritten)
        {
            if (value.HasNews(json, out _))
            {
                throw new InvalidOperationException(
                    $"The actor state '{name}' was set by this method, then by a call back to the actor, and the "
                    + "object that this method has set was changed meanwhile. Get the state again after the call.");
            }
        }

        var changes = new List<KeyValuePair<string, byte[]?>>();
        var given = new List<(Tracked Value, byte[]? Bytes)>();
        foreach (var (name, value) in _tracked)
        {
            if (value.HasNews(json, out var bytes))
            {
                changes.Add(new(name, bytes));
                given.Add((value, bytes));
            }
        }

        if (changes.Count == 0)
        {
            return;
        }

        var next = before.With(changes);
        actor.Transaction.WriteState(next);
        _seen = next;
        foreach (var (value, bytes) in given)
        {
            value.Give(bytes);
        }
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

    private void Change<T>(string stateName, T value) => Keep(stateName, new Tracked<T>(value, Following.Set));

    private void Keep(string stateName, Tracked value)
    {
        _tracked[stateName] = value;
        _overwritten.Remove(stateName);
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
                if (value.Follow == Following.Set || (value.Follow == Following.Given && value.IsIn(states, name)))
                {
                    continue;
                }

                _tracked.Remove(name);
                if (value.Follow == Following.Given)
                {
                    _overwritten[name] = value;
                }
            }
        }

        _seen = states;
        return states;
    }

    private static KeyNotFoundException NotFound(string stateName) =>
        new($"Actor state with name {stateName} was not found.");

    private static NotSupportedException NoTimeToLive() => new(Refusals.TimeToLive);

    /// <summary>Whether changes of an object are changes of the state.</summary>
    private enum Following
    {
        /// <summary>No: it was only read, or saved.</summary>
        No,

        /// <summary>It was set, and not handed over yet.</summary>
        Set,

        /// <summary>It was handed over because of a call.</summary>
        Given,
    }

    /// <summary>A value of this attempt.</summary>
    private abstract class Tracked
    {
        private byte[]? _given;

        public Following Follow { get; set; }

        public bool IsFollowed => Follow != Following.No;

        public virtual bool IsRemoved => false;

        public abstract object? Boxed { get; }

        /// <summary>The object behind it can change.</summary>
        protected abstract bool CanChange { get; }

        public abstract byte[]? Encode(JsonSerializerOptions json);

        public void Give(byte[]? bytes) => (_given, Follow) = (bytes, Following.Given);

        /// <summary>It was set, or is another one than when it was handed over.</summary>
        /// <param name="json">How values are written.</param>
        /// <param name="bytes">It, as it is now; null: it is removed, or there is nothing new.</param>
        public bool HasNews(JsonSerializerOptions json, out byte[]? bytes)
        {
            var isSet = Follow == Following.Set;
            bytes = isSet || (IsFollowed && CanChange) ? Encode(json) : null;
            return isSet || (bytes is not null && !_given.AsSpan().SequenceEqual(bytes));
        }

        /// <summary>The states have it as it was handed over.</summary>
        public bool IsIn(NamedStates states, string name) => states.TryGet(name, out var bytes)
            ? _given is not null && _given.AsSpan().SequenceEqual(bytes.Span)
            : _given is null;
    }

    private sealed class Tracked<T> : Tracked
    {
        private readonly T _value;

        public Tracked(T value, Following follow) => (_value, Follow) = (value, follow);

        public override object? Boxed => _value;

        protected override bool CanChange =>
            typeof(T) != typeof(string) && RuntimeHelpers.IsReferenceOrContainsReferences<T>();

        public override byte[] Encode(JsonSerializerOptions json) => JsonSerializer.SerializeToUtf8Bytes(_value, json);
    }

    private sealed class RemovedValue : Tracked
    {
        public RemovedValue() => Follow = Following.Set;

        public override bool IsRemoved => true;

        public override object? Boxed => null;

        protected override bool CanChange => false;

        public override byte[]? Encode(JsonSerializerOptions json) => null;
    }
}
