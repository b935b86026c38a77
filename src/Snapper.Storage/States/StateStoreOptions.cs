namespace Snapper.Storage.States;

/// <summary>Settings that every state store has.</summary>
public sealed record StateStoreOptions
{
    /// <summary>How long an outcome of a caller's key is found, counted from when its record was durable. Range: 1 s to 7 days. Default: 10 min.</summary>
    public TimeSpan OutcomeWindow
    {
        get;
        init
        {
            ArgumentOutOfRangeException.ThrowIfLessThan(value, TimeSpan.FromSeconds(1), nameof(OutcomeWindow));
            ArgumentOutOfRangeException.ThrowIfGreaterThan(value, TimeSpan.FromDays(7), nameof(OutcomeWindow));
            field = value;
        }
    } = TimeSpan.FromMinutes(10);
}
