namespace Snapper.Actors.Generated;

/// <summary>
/// Which versions of its state an actor class reads, and how older ones become the newest. Made by generated code.
/// </summary>
/// <param name="version">The newest, which is written. See <see cref="StateVersionAttribute"/>.</param>
/// <param name="oldest">The oldest that is read.</param>
/// <param name="upcasts">One for each version from the oldest on, in order; the newest has none.</param>
public sealed class StateEvolution(int version, int oldest, IReadOnlyList<StateUpcast> upcasts)
{
    /// <summary>The newest, which is written.</summary>
    public int Version { get; } = version;

    /// <summary>The oldest that is read.</summary>
    public int Oldest { get; } = oldest;

    /// <summary>One for each version from the oldest on, in order; the newest has none.</summary>
    public IReadOnlyList<StateUpcast> Upcasts { get; } = upcasts;
}

/// <summary>One step from a version of a state to the next.</summary>
public abstract class StateUpcast
{
    private protected StateUpcast(int from) => From = from;

    /// <summary>The version that it takes.</summary>
    public int From { get; }

    /// <summary>What it takes: the class of that version, or JSON as <c>JsonObject</c> or <c>JsonElement</c>.</summary>
    public abstract Type Old { get; }

    /// <summary>What it makes: the class of the next version, or JSON.</summary>
    public abstract Type Next { get; }

    /// <summary>Makes it; null where user code makes none.</summary>
    /// <param name="old">Of the type <see cref="Old"/>.</param>
    public abstract object? Run(object old);
}

/// <summary>One step from a version of a state to the next, with its types.</summary>
/// <param name="from">The version that it takes.</param>
/// <param name="run">The method with <see cref="UpcastsAttribute"/>.</param>
public sealed class StateUpcast<TOld, TNext>(int from, Func<TOld, TNext> run) : StateUpcast(from)
    where TOld : notnull
{
    /// <inheritdoc/>
    public override Type Old => typeof(TOld);

    /// <inheritdoc/>
    public override Type Next => typeof(TNext);

    /// <inheritdoc/>
    public override object? Run(object old) => run((TOld)old);
}
