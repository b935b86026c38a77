using System.Text.Json.Serialization;

namespace Snapper.Apps.SmallBank.Contract;

/// <summary><c>{"amount": 10.50}</c></summary>
/// <param name="Amount">0 or more.</param>
public sealed record AmountInput([property: JsonRequired] decimal Amount);

/// <summary><c>{"to": "bob"}</c></summary>
/// <param name="To">Id of the receiving account; not the sender's own.</param>
public sealed record AmalgamateInput([property: JsonRequired] string To);

/// <summary><c>{"to": "bob", "amount": 10}</c></summary>
/// <param name="To">Id of the receiving account.</param>
/// <param name="Amount">0 or more.</param>
public sealed record PaymentInput([property: JsonRequired] string To, [property: JsonRequired] decimal Amount);

/// <summary><c>{"to": ["bob", "carol"], "amount": 10}</c></summary>
/// <param name="To">Ids of the receiving accounts; may be empty, repeat ids, and name the sender.</param>
/// <param name="Amount">What each entry of <paramref name="To"/> gets; 0 or more.</param>
public sealed record MultiTransferInput([property: JsonRequired] IReadOnlyList<string> To, [property: JsonRequired] decimal Amount);

/// <summary><c>{"checking": 10000, "savings": 10000, "total": 20000}</c></summary>
/// <param name="Checking">May be below 0 after a check.</param>
/// <param name="Savings">0 or more.</param>
/// <param name="Total">The sum.</param>
public sealed record Balances(decimal Checking, decimal Savings, decimal Total);
