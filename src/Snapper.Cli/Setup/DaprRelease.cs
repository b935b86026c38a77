using Snapper.Server.Processes;

namespace Snapper.Cli.Setup;

/// <summary>Where the archives of the pinned version are.</summary>
/// <param name="Address">The release page, or a copy of it, without a slash at its end.</param>
/// <param name="Platform">As <c>linux_amd64</c>; null: none that there are archives for.</param>
internal sealed record DaprRelease(Uri Address, string? Platform)
{
    /// <summary>The vendor's release page.</summary>
    public const string Vendor = "https://github.com/dapr/dapr/releases/download";

    /// <summary>Environment variable that names another one.</summary>
    public const string Variable = "SNAPPER_DAPR_RELEASES";

    /// <summary>The version that is brought: the one that we are tested with.</summary>
    public static readonly Version Version = new(1, 18, 1);

    /// <summary>The release page at an address; null: the vendor's.</summary>
    /// <exception cref="UsageException">Not an address, or one from which programs must not be taken.</exception>
    public static DaprRelease At(string? address, string? platform)
    {
        var text = string.IsNullOrEmpty(address) ? Vendor : address;
        if (!Uri.TryCreate(text.TrimEnd('/'), UriKind.Absolute, out var uri) || uri.Query.Length > 0 || uri.Fragment.Length > 0)
        {
            throw new UsageException($"--dapr-releases must be an address such as {Vendor}, not '{text}'.");
        }

        return Refusal(uri) is { } why ? throw new UsageException($"--dapr-releases {why}.") : new DaprRelease(uri, platform);
    }

    /// <summary>Why nothing is taken from an address; null: it may be. Without TLS anybody on the way could give us programs, and the checksum beside them.</summary>
    public static string? Refusal(Uri address) =>
        address.UserInfo.Length > 0 ? "must not hold a user or a password"
        : address.Scheme == Uri.UriSchemeHttps || (address.Scheme == Uri.UriSchemeHttp && address.IsLoopback) ? null
        : $"must be https, or http on this machine, not '{address.GetLeftPart(UriPartial.Authority)}'";

    /// <summary>The archive's file name.</summary>
    public string Archive(string program) => $"{program}_{Platform}.tar.gz";

    /// <summary>Where the archive is.</summary>
    public Uri ArchiveAddress(string program) => new($"{Address.AbsoluteUri.TrimEnd('/')}/v{Version}/{Archive(program)}");

    /// <summary>Where its published checksum is.</summary>
    public Uri ChecksumAddress(string program) => new(ArchiveAddress(program).AbsoluteUri + ".sha256");
}
