using System.Text.Json;
using Snapper.Client.Messages;
using Snapper.Protocol.Identity;

namespace Snapper.Cli.Demo;

/// <summary>
/// Random bank transactions that move money and never make any: transfers, payments to three at once, and now and then a transfer of more than there is,
/// which must abort and leave nothing. Amounts are small beside what an account holds, so that accounts stay able to pay over many runs.
/// Not thread-safe: one per loop.
/// </summary>
internal sealed class TransferMix(int accounts, int seed)
{
    private const double Overdrafts = 0.01;
    private const double MultiTransfers = 0.25;

    private readonly Random _random = new(seed);

    /// <summary>The next transaction.</summary>
    /// <param name="pactShare">Chance that it is a PACT.</param>
    /// <param name="id">Its id.</param>
    public TransactionRequestMessage Next(double pactShare, string id)
    {
        var kind = _random.NextDouble();
        var involved = Distinct(kind is >= Overdrafts and < Overdrafts + MultiTransfers ? 4 : 2);
        var (method, input) = kind switch
        {
            < Overdrafts => ("Transfer", (object)new { to = involved[1], amount = 1_000_000_000m }),
            < Overdrafts + MultiTransfers => ("MultiTransfer", new { to = involved[1..], amount = Cents(500) }),
            _ => ("Transfer", new { to = involved[1], amount = Cents(1_000) }),
        };
        var isPact = _random.NextDouble() < pactShare;
        return new TransactionRequestMessage
        {
            Id = id,
            Actor = new ActorKey("Account", involved[0]),
            Method = method,
            Input = JsonSerializer.SerializeToUtf8Bytes(input),
            Mode = isPact ? TransactionMode.Pact : TransactionMode.Act,
            Access = isPact ? [.. involved.Select(account => new ActorCalls("Account", account, 1))] : null,
        };
    }

    // Odd cents on purpose: binary fractions would not add up.
    private decimal Cents(int below) => _random.Next(1, below) / 100m;

    private string[] Distinct(int count)
    {
        var chosen = new HashSet<int>(count);
        while (chosen.Count < count) chosen.Add(_random.Next(accounts));
        return [.. chosen.Select(DemoSettings.Account)];
    }
}
