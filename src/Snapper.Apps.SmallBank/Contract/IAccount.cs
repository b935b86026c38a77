using Snapper.Actors;

namespace Snapper.Apps.SmallBank.Contract;

/// <summary>
/// A SmallBank customer: a checking and a savings balance. Each method can be the root of a transaction. Amounts are
/// decimals in the bank's one currency; a negative amount, a missing account id or a balance that
/// a <see cref="decimal"/> cannot hold exactly aborts the transaction.
/// </summary>
/// <remarks>
/// As JSON, members are camelCase and read without regard to case; all members of the inputs are required, unknown ones
/// are ignored.
/// </remarks>
public interface IAccount : ITransactionalActor
{
    /// <summary>Both balances. Changes nothing.</summary>
    Task<Balances> Balance();

    /// <summary>Adds to checking. Returns the new checking balance.</summary>
    Task<decimal> DepositChecking(AmountInput input);

    /// <summary>Takes from savings. Returns the new savings balance. Aborts when it would go below 0.</summary>
    Task<decimal> TransactSavings(AmountInput input);

    /// <summary>
    /// Takes from checking, and 1 more as a penalty when both balances together do not cover the amount; checking may
    /// go below 0. Returns the new checking balance.
    /// </summary>
    Task<decimal> WriteCheck(AmountInput input);

    /// <summary>
    /// Moves all of both balances to another account's checking. Returns what was moved. Aborts when the other account
    /// is this one, or when the balances together are below 0: a debt is not pushed on others.
    /// </summary>
    Task<decimal> Amalgamate(AmalgamateInput input);

    /// <summary>Moves an amount to an account's checking, this one's too. Returns the new checking balance. Aborts when checking does not cover it.</summary>
    Task<decimal> SendPayment(PaymentInput input);

    /// <summary>
    /// Moves an amount to each of several accounts, in parallel. An id that is named twice gets it twice, also this
    /// account's own. Returns the new checking balance. Aborts when checking does not cover amount times ids.
    /// </summary>
    Task<decimal> MultiTransfer(MultiTransferInput input);

    /// <summary>As <see cref="SendPayment"/>.</summary>
    Task<decimal> Transfer(PaymentInput input);
}
