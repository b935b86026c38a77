using System.Net.Security;
using System.Security.Authentication;
using System.Security.Cryptography;
using System.Security.Cryptography.X509Certificates;

namespace Snapper.Storage.Redis;

/// <summary>Whose certificate a Redis behind TLS may have: one for its host name, from an authority that the machine trusts, or from the one that was given. Never any.</summary>
public static class RedisTrust
{
    /// <summary>How to speak TLS with a server.</summary>
    /// <param name="options">Its host name, and the authority that signs its certificate.</param>
    /// <exception cref="IOException">The authority's file cannot be read or holds no certificate.</exception>
    public static SslClientAuthenticationOptions Client(RedisOptions options)
    {
        ArgumentNullException.ThrowIfNull(options);
        var client = new SslClientAuthenticationOptions { TargetHost = options.Host, EnabledSslProtocols = SslProtocols.None };
        if (options.AuthorityFile is { } file)
        {
            client.CertificateChainPolicy = new X509ChainPolicy { TrustMode = X509ChainTrustMode.CustomRootTrust, RevocationMode = X509RevocationMode.NoCheck };
            client.CertificateChainPolicy.CustomTrustStore.AddRange(Read(file));
        }

        return client;
    }

    /// <summary>Reads the certificates of a PEM file.</summary>
    /// <exception cref="IOException">It cannot be read, or holds none.</exception>
    public static X509Certificate2Collection Read(string file)
    {
        var authorities = new X509Certificate2Collection();
        try
        {
            authorities.ImportFromPemFile(file);
        }
        catch (Exception wrong) when (wrong is CryptographicException or UnauthorizedAccessException)
        {
            throw new IOException($"{file} cannot be read as PEM: {wrong.Message}", wrong);
        }

        return authorities.Count > 0 ? authorities : throw new IOException($"{file} holds no certificate in PEM.");
    }
}
