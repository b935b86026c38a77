namespace Snapper.Apps.SmallBank;

/// <summary>Settings of the SmallBank application: register one as a singleton service, or leave it out for the defaults.</summary>
public sealed class SmallBankOptions
{
    private readonly decimal _initialBalance = 10_000m;

    /// <summary>Where the settings stand in the configuration.</summary>
    public const string Section = "Snapper:SmallBank";

    /// <summary>The options of a host that registers none.</summary>
    public static SmallBankOptions Default { get; } = new();

    /// <summary>
    /// What an account that was never touched holds, in checking and in savings. 0 or more. Default: 10,000. Must not
    /// change while accounts that were never touched are in use: their balances would change with it.
    /// </summary>
    /// <exception cref="ArgumentOutOfRangeException">The value is negative.</exception>
    public decimal InitialBalance
    {
        get => _initialBalance;
        init
        {
            ArgumentOutOfRangeException.ThrowIfNegative(value);
            _initialBalance = value;
        }
    }

    // Untouched accounts share one state object: it is immutable, and made for every transaction otherwise.
    internal AccountState InitialState => field ??= new AccountState(InitialBalance, InitialBalance);
}
