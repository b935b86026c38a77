namespace Snapper.DaprCompatibility;

/// <summary>
/// A value that may not be there. Turns into the type of that name of Dapr's SDK, and back, by itself.
/// </summary>
/// <param name="hasValue">It is there.</param>
/// <param name="value">The value.</param>
public readonly struct ConditionalValue<TValue>(bool hasValue, TValue value)
{
    /// <summary>It is there.</summary>
    public bool HasValue { get; } = hasValue;

    /// <summary>The value; the type's default when there is none.</summary>
    public TValue Value { get; } = value;

    /// <summary>To the type of Dapr's SDK.</summary>
    /// <param name="value">The value.</param>
    public static implicit operator Dapr.Actors.Runtime.ConditionalValue<TValue>(ConditionalValue<TValue> value) =>
        new(value.HasValue, value.Value);

    /// <summary>From the type of Dapr's SDK.</summary>
    /// <param name="value">The value.</param>
    public static implicit operator ConditionalValue<TValue>(Dapr.Actors.Runtime.ConditionalValue<TValue> value) =>
        new(value.HasValue, value.Value);
}
