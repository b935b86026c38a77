using System.Net.Security;
using System.Security.Authentication;
using System.Security.Cryptography.X509Certificates;

namespace Snapper.Cluster.Links;

/// <summary>
/// TLS at both ends of a link: each shows a certificate that the system's own authority has issued, and no other
/// authority counts.
/// </summary>
public static class LinkCertificates
{
    /// <summary>Of the end that connects.</summary>
    /// <param name="options">How workers link.</param>
    /// <param name="host">For what the other end's certificate must be.</param>
    public static SslClientAuthenticationOptions OfConnector(DirectLinkOptions options, string host) => new()
    {
        TargetHost = host,
        ClientCertificates = [options.Certificate!],
        EnabledSslProtocols = SslProtocols.Tls13 | SslProtocols.Tls12,
        CertificateChainPolicy = Policy(options.Authority!),
        CertificateRevocationCheckMode = X509RevocationMode.NoCheck,
    };

    /// <summary>Of the end that listens.</summary>
    /// <param name="options">How workers link.</param>
    public static SslServerAuthenticationOptions OfAcceptor(DirectLinkOptions options) => new()
    {
        ServerCertificate = options.Certificate,
        ClientCertificateRequired = true,
        EnabledSslProtocols = SslProtocols.Tls13 | SslProtocols.Tls12,
        CertificateChainPolicy = Policy(options.Authority!),
        CertificateRevocationCheckMode = X509RevocationMode.NoCheck,
    };

    /// <summary>How a certificate of a worker is judged.</summary>
    /// <param name="authority">Who issues those of all workers.</param>
    public static X509ChainPolicy Policy(X509Certificate2Collection authority)
    {
        var policy = new X509ChainPolicy
        {
            TrustMode = X509ChainTrustMode.CustomRootTrust,
            RevocationMode = X509RevocationMode.NoCheck, // an authority of one's own publishes no list
            DisableCertificateDownloads = true,
        };
        policy.CustomTrustStore.AddRange(authority);
        return policy;
    }
}
