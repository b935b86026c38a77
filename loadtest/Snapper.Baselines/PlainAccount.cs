namespace Snapper.Baselines;

/// <summary>
/// One plain account: a balance in memory, no transactions, no log. Calls of different requests run in parallel inside it,
/// because the constant reentrancy id lets Dapr interleave them; the lock keeps the one number whole and nothing more.
/// </summary>
public sealed class PlainAccount
{
    /// <summary>What an account that was never touched holds; the same as the transactional accounts.</summary>
    public const decimal InitialBalance = 10_000m;

    private readonly Lock gate = new();
    private decimal balance = InitialBalance;

    /// <summary>Takes <paramref name="amount"/> if the balance covers it.</summary>
    /// <param name="amount">What to take, at least 0.</param>
    /// <param name="left">The balance afterwards.</param>
    /// <returns>False, with nothing taken, when the balance does not cover it.</returns>
    public bool TryWithdraw(decimal amount, out decimal left)
    {
        lock (gate)
        {
            if (balance < amount)
            {
                left = balance;
                return false;
            }

            balance -= amount;
            left = balance;
            return true;
        }
    }

    /// <summary>Adds <paramref name="amount"/>.</summary>
    /// <returns>The balance afterwards.</returns>
    public decimal Deposit(decimal amount)
    {
        lock (gate)
        {
            balance += amount;
            return balance;
        }
    }

    /// <summary>The balance now.</summary>
    public decimal Balance
    {
        get
        {
            lock (gate)
            {
                return balance;
            }
        }
    }
}
