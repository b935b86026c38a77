using System.Globalization;
using System.Text;
using Snapper.Benchmarks.Statistics;
using Snapper.Client.Messages;
using Snapper.Protocol.Identity;
using Snapper.Scenarios.Choosing;
using Snapper.Scenarios.Targets;
using Snapper.Judging.Bank;

namespace Snapper.Scenarios.Workloads;

/// <summary>
/// Bank transactions over accounts of the run's own: mostly payments to one or three others, some deposits, withdrawals and looks at a balance, and now and then a payment of more than there
/// is, which must abort and leave nothing. In the end every account must hold what the answers explain.
/// </summary>
public sealed class SmallBankWorkload : IWorkload
{
    private const double MultiTransfers = 0.45;
    private const double Payments = 0.35;
    private const double Balances = 0.10;
    private const double Deposits = 0.045;
    private const double Withdrawals = 0.045;
    private const decimal Unpayable = 1_000_000_000_000m;

    private readonly WorkloadSettings _settings;
    private readonly IKeyChooser _chooser;
    private readonly string[] _names;
    private readonly SmallBankLedger _ledger;
    private FastRandom _random;
    private long _sent;

    /// <exception cref="ArgumentException">A setting is out of its range.</exception>
    public SmallBankWorkload(WorkloadSettings settings)
    {
        ArgumentOutOfRangeException.ThrowIfLessThan(settings.Accounts, 8);
        if (settings.PactShare is not (>= 0 and <= 1))
        {
            throw new ArgumentOutOfRangeException(nameof(settings), settings.PactShare, "The share of PACTs is between 0 and 1.");
        }

        _settings = settings;
        _chooser = settings.Chooser.Over(settings.Accounts);
        _random = new FastRandom(settings.Seed);
        _names = new string[settings.Accounts];
        for (var i = 0; i < _names.Length; i++)
        {
            _names[i] = string.Create(CultureInfo.InvariantCulture, $"{settings.Prefix}-{i:D6}");
        }

        _ledger = new SmallBankLedger(settings.Prefix, _names);
    }

    /// <inheritdoc/>
    public int Actors => _settings.Accounts;

    /// <inheritdoc/>
    public string Describe() => string.Create(
        CultureInfo.InvariantCulture,
        $"SmallBank, {_settings.Accounts:N0} accounts, {_chooser.Describe()}, {_settings.PactShare:P0} PACTs; of all {MultiTransfers:P0} pay three others, {Payments:P0} one, {Balances:P0} read, {Deposits + Withdrawals:P0} deposit or withdraw, {1 - MultiTransfers - Payments - Balances - Deposits - Withdrawals:P0} must abort");

    /// <inheritdoc/>
    public Task Prepare(ILoadTarget target, CancellationToken cancellation) => _ledger.LearnInitial(target, cancellation);

    /// <inheritdoc/>
    public PlannedTransaction Next()
    {
        var kind = _random.NextDouble();
        var (method, width, amount) = kind switch
        {
            < MultiTransfers => (BankMethod.MultiTransfer, 4, Cents(200)),
            < MultiTransfers + Payments => (BankMethod.Transfer, 2, Cents(500)),
            < MultiTransfers + Payments + Balances => (BankMethod.Balance, 1, 0m),
            < MultiTransfers + Payments + Balances + Deposits => (BankMethod.DepositChecking, 1, Cents(500)),
            < MultiTransfers + Payments + Balances + Deposits + Withdrawals => (BankMethod.TransactSavings, 1, Cents(100)),
            _ => (BankMethod.Transfer, 2, Unpayable),
        };
        var accounts = new int[width];
        DistinctKeys.Draw(_chooser, ref _random, accounts);
        var pact = _random.NextDouble() < _settings.PactShare;
        var message = new TransactionRequestMessage
        {
            Id = string.Create(CultureInfo.InvariantCulture, $"{_settings.Prefix}-t{++_sent}"),
            Actor = new ActorKey(SmallBankLedger.ActorType, _names[accounts[0]]),
            Method = method.ToString(),
            Input = Input(method, accounts, amount),
            Mode = pact ? TransactionMode.Pact : TransactionMode.Act,
            Access = pact ? Declared(accounts) : null,
        };
        return new PlannedPayment(message, _sent, method, accounts, amount);
    }

    /// <inheritdoc/>
    public void Record(PlannedTransaction planned, TransactionReply? reply, SentAt span) => _ledger.Record((PlannedPayment)planned, reply);

    /// <inheritdoc/>
    public Task<InvariantReport> Check(ILoadTarget target, CancellationToken cancellation) => _ledger.Check(target, cancellation);

    // Odd cents on purpose: binary fractions would not add up.
    private decimal Cents(int below) => (1 + _random.Next(below - 1)) / 100m;

    private ActorCalls[] Declared(int[] accounts)
    {
        var declared = new ActorCalls[accounts.Length];
        for (var i = 0; i < declared.Length; i++)
        {
            declared[i] = new ActorCalls(SmallBankLedger.ActorType, _names[accounts[i]], 1);
        }

        return declared;
    }

    private byte[] Input(BankMethod method, int[] accounts, decimal amount) => method switch
    {
        BankMethod.Balance => [],
        BankMethod.DepositChecking or BankMethod.TransactSavings => Utf8($"{{\"amount\":{amount}}}"),
        BankMethod.Transfer => Utf8($"{{\"to\":\"{_names[accounts[1]]}\",\"amount\":{amount}}}"),
        _ => Utf8($"{{\"to\":[\"{_names[accounts[1]]}\",\"{_names[accounts[2]]}\",\"{_names[accounts[3]]}\"],\"amount\":{amount}}}"),
    };

    private static byte[] Utf8(FormattableString text) => Encoding.UTF8.GetBytes(text.ToString(CultureInfo.InvariantCulture));
}

/// <summary>A bank transaction with what must be remembered of it.</summary>
/// <param name="message">What is sent.</param>
/// <param name="number">From 1.</param>
/// <param name="method">What it does.</param>
/// <param name="accounts">The payer, or the only one, first.</param>
/// <param name="amount">Each payee's.</param>
public sealed class PlannedPayment(TransactionRequestMessage message, long number, BankMethod method, int[] accounts, decimal amount) : PlannedTransaction(message)
{
    /// <summary>Its number.</summary>
    public long Number { get; } = number;

    /// <summary>What it does.</summary>
    public BankMethod Method { get; } = method;

    /// <summary>What each payee gets.</summary>
    public decimal Amount { get; } = amount;

    /// <inheritdoc/>
    public override ReadOnlySpan<int> Actors => accounts;
}
