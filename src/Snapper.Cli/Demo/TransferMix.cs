using System.Text.Json.Nodes;

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

    /// <summary>The next transaction as the service door takes it.</summary>
    /// <param name="pactShare">Chance that it is a PACT.</param>
    public JsonObject Next(double pactShare)
    {
        var kind = _random.NextDouble();
        var involved = Distinct(kind is >= Overdrafts and < Overdrafts + MultiTransfers ? 4 : 2);
        var (method, input) = kind switch
        {
            < Overdrafts => ("Transfer", new JsonObject { ["to"] = involved[1], ["amount"] = 1_000_000_000m }),
            < Overdrafts + MultiTransfers => ("MultiTransfer",
                new JsonObject { ["to"] = new JsonArray(involved[1], involved[2], involved[3]), ["amount"] = Cents(500) }),
            _ => ("Transfer", new JsonObject { ["to"] = involved[1], ["amount"] = Cents(1_000) }),
        };
        var request = new JsonObject
        {
            ["actor"] = new JsonObject { ["type"] = "Account", ["id"] = involved[0] },
            ["method"] = method,
            ["input"] = input,
            ["mode"] = "act",
        };
        if (_random.NextDouble() >= pactShare) return request;
        request["mode"] = "pact";
        var declared = new JsonObject();
        foreach (var account in involved) declared[account] = 1;
        request["access"] = new JsonObject { ["Account"] = declared };
        return request;
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
