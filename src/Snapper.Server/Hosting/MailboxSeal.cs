using System.Runtime.InteropServices;
using System.Security.Cryptography;
using System.Text;
using Snapper.Server.Cli;

namespace Snapper.Server.Hosting;

/// <summary>
/// What workers show each other in the <c>Authorization</c> header of their packets, which daprd passes on: else every app of the same Dapr namespace could send packets. Made of a secret that all workers have; several of
/// them while it is being changed.
/// </summary>
internal sealed class MailboxSeal
{
    /// <summary>Environment variable with the secret, or with several, separated by semicolons: the first is shown, all are accepted.</summary>
    public const string Variable = "SNAPPER_MAILBOX_SECRET";

    private const int SecretLengthMin = 16;
    private const string Purpose = "snapper mailbox packets";

    private readonly string[] _accepted;

    private MailboxSeal(string[] accepted) => _accepted = accepted;

    /// <summary>Nothing is shown, and nothing asked for.</summary>
    public static MailboxSeal None { get; } = new([]);

    /// <summary>What a packet shows; null: nothing.</summary>
    public string? Shown => _accepted.Length == 0 ? null : _accepted[0];

    /// <summary>Reads the variable's value.</summary>
    /// <exception cref="UsageException">A secret is too short to be one.</exception>
    public static MailboxSeal From(string? secrets)
    {
        if (string.IsNullOrEmpty(secrets)) return None;
        var all = secrets.Split(';', StringSplitOptions.TrimEntries);
        return all.All(secret => secret.Length >= SecretLengthMin)
            ? new MailboxSeal([.. all.Select(secret => "Snapper " + Convert.ToHexStringLower(HMACSHA256.HashData(Encoding.UTF8.GetBytes(secret), Encoding.UTF8.GetBytes(Purpose))))])
            : throw new UsageException($"{Variable} must have at least {SecretLengthMin} characters: './snapper token' makes something good.");
    }

    /// <summary>Whether a packet comes from a worker that has a secret of ours. Takes equally long whatever it shows.</summary>
    public bool Accepts(string? shown)
    {
        var accepted = _accepted.Length == 0;
        foreach (var one in _accepted)
        {
            accepted |= CryptographicOperations.FixedTimeEquals(MemoryMarshal.AsBytes(one.AsSpan()), MemoryMarshal.AsBytes(shown.AsSpan()));
        }

        return accepted;
    }
}
