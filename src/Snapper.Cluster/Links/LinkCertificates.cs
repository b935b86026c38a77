using System.Net.Security;
using System.Security.Authentication;
using System.Security.Cryptography.X509Certificates;

namespace Snapper.Cluster.Links;

/// <summary>
/// TLS at both ends of a link: each shows a certificate that the system's own authority has issued, and no other
/// authority counts.
/// </summary>
internal static class LinkCertificates
{
    public static SslClientAuthenticationOptions OfConnector(DirectLinkOptions options, string host) => new()
    {
        TargetHost = host,
        ClientCertificates = [options.Certificate!],
        EnabledSslProtocols = SslProtocols.Tls13 | SslProtocols.Tls12,
        CertificateChainPolicy = Policy(options),
        CertificateRevocationCheckMode = X509RevocationMode.NoCheck,
    };

    public static SslServerAuthenticationOptions OfAcceptor(DirectLinkOptions options) => new()
    {
        ServerCertificate = options.Certificate,
        ClientCertificateRequired = true,
        EnabledSslProtocols = SslProtocols.Tls13 | SslProtocols.Tls12,
        CertificateChainPolicy = Policy(options),
        CertificateRevocationCheckMode = X509RevocationMode.NoCheck,
    };

    private static X509ChainPolicy Policy(DirectLinkOptions options)
    {
        var policy = new X509ChainPolicy
        {
            TrustMode = X509ChainTrustMode.CustomRootTrust,
            RevocationMode = X509RevocationMode.NoCheck, // an authority of one's own publishes no list
            DisableCertificateDownloads = true,
        };
        policy.CustomTrustStore.AddRange(options.Authority!);
        return policy;
    }
}
