using Snapper.Apps.SmallBank.Contract;
using Snapper.Protocol.Identity;

namespace Snapper.Apps.SmallBank;

/// <summary>The exact access sets of the Account's methods: which accounts a transaction touches and how many calls each gets.</summary>
public static class AccountAccess
{
    /// <summary>The actor type.</summary>
    public const string ActorType = "Account";

    /// <summary>The access set of any method.</summary>
    /// <param name="method">Name of the method.</param>
    /// <param name="input">Its input; null for <c>Balance</c>.</param>
    /// <param name="root">Id of the account on which it is called.</param>
    /// <returns>For an input that the actor accepts: calls per account, the root's own call included; each at least 1.</returns>
    /// <exception cref="ArgumentException">There is no such method, or it takes another type of input.</exception>
    public static Dictionary<ActorKey, int> AccessFor(string method, object? input, string root)
    {
        var access = RootOnly(root);
        switch (method, input)
        {
            case (nameof(IAccount.Balance), null):
            case (nameof(IAccount.DepositChecking) or nameof(IAccount.TransactSavings) or nameof(IAccount.WriteCheck), AmountInput):
                break;
            case (nameof(IAccount.Amalgamate), AmalgamateInput amalgamate) when amalgamate.To == root:
                break; // Aborts before it calls anyone.
            case (nameof(IAccount.Amalgamate), AmalgamateInput amalgamate):
                AddCall(access, amalgamate.To);
                break;
            case (nameof(IAccount.SendPayment) or nameof(IAccount.Transfer), PaymentInput payment):
                AddCall(access, payment.To);
                break;
            case (nameof(IAccount.MultiTransfer), MultiTransferInput transfer):
                foreach (var to in transfer.To)
                {
                    AddCall(access, to);
                }

                break;
            default:
                throw new ArgumentException($"Account has no method '{method}' that takes {input?.GetType().Name ?? "nothing"}.", nameof(method));
        }

        return access;
    }

    private static Dictionary<ActorKey, int> RootOnly(string root) => new() { [new ActorKey(ActorType, root)] = 1 };

    private static void AddCall(Dictionary<ActorKey, int> access, string id)
    {
        var key = new ActorKey(ActorType, id);
        access[key] = access.GetValueOrDefault(key) + 1;
    }
}
