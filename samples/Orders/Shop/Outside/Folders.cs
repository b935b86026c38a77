using System.Globalization;

namespace Orders.Shop.Outside;

/// <summary>
/// The outside world of this sample: a folder that a mail program would pick up, and one with what the provider did,
/// a file for each key. Yours are requests to the provider, with the key in its header for that.
/// </summary>
public sealed class Folders(IConfiguration configuration) : ICards, IMails
{
    private readonly string _folder = configuration["Outside:Folder"] ?? "outside";

    public async Task<bool> Charge(string key, string customer, decimal amount, CancellationToken cancellation)
    {
        // A provider that declines cards: of customers whose name says so.
        var accepted = !customer.StartsWith("broke", StringComparison.Ordinal);
        var sum = amount.ToString(CultureInfo.InvariantCulture);
        await Write("cards", key, accepted ? $"charged {sum}" : $"declined {sum}", cancellation);
        return accepted;
    }

    public Task Refund(string key, string customer, decimal amount, CancellationToken cancellation) =>
        Write("cards", key, $"refunded {amount.ToString(CultureInfo.InvariantCulture)}", cancellation);

    public Task Send(string key, string customer, string order, CancellationToken cancellation) =>
        Write("mails", key, $"To: {customer}\nSubject: {order} is on its way\n", cancellation);

    private async Task Write(string folder, string key, string text, CancellationToken cancellation)
    {
        var path = Path.Combine(Directory.CreateDirectory(Path.Combine(_folder, folder)).FullName, key);
        if (!File.Exists(path)) // what was done under a key is not done again
        {
            var half = path + "." + Guid.NewGuid().ToString("N");
            await File.WriteAllTextAsync(half, text, cancellation);
            File.Move(half, path, overwrite: true);
        }
    }
}
