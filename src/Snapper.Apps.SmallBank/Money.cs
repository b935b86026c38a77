using Snapper.Actors;

namespace Snapper.Apps.SmallBank;

/// <summary>
/// Exact arithmetic on balances. Where <see cref="decimal"/> would overflow or round, the transaction aborts: a rounded
/// balance on one side of a payment would make or destroy money.
/// </summary>
internal static class Money
{
    public static decimal Add(decimal left, decimal right)
    {
        try
        {
            return Exact(left + right, Math.Max(left.Scale, right.Scale));
        }
        catch (OverflowException)
        {
            throw OutOfRange();
        }
    }

    public static decimal Subtract(decimal left, decimal right) => Add(left, -right);

    public static decimal Multiply(decimal amount, int count)
    {
        try
        {
            return amount == 0 || count == 0 ? 0 : Exact(amount * count, amount.Scale);
        }
        catch (OverflowException)
        {
            throw OutOfRange();
        }
    }

    // Decimals keep all digits of a sum or product, and drop decimal places only when 96 bits cannot hold them.
    private static decimal Exact(decimal result, int scale) => result.Scale == scale ? result : throw OutOfRange();

    private static TransactionAbortException OutOfRange() =>
        new("amount too large or too fine: a balance or a total would need more than the 28 digits of a decimal number");
}
