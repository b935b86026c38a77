using System.Net;
using System.Security.Cryptography;
using System.Security.Cryptography.X509Certificates;

namespace Snapper.Tests.Support;

/// <summary>Certificates for direct links between workers, as PEM files of a folder.</summary>
internal sealed class LinkFiles : IDisposable
{
    private readonly string _folder;
    private readonly X509Certificate2 _authority;

    /// <param name="folder">Where the files are; the authority's is among them, as <c>ca.crt</c>.</param>
    public LinkFiles(string folder)
    {
        _folder = folder;
        using var key = ECDsa.Create(ECCurve.NamedCurves.nistP256);
        var request = new CertificateRequest("CN=workers", key, HashAlgorithmName.SHA256);
        request.CertificateExtensions.Add(new X509BasicConstraintsExtension(true, false, 0, true));
        var now = DateTimeOffset.UtcNow;
        _authority = request.CreateSelfSigned(now.AddDays(-30), now.AddDays(30));
        Authority = Path.Combine(folder, "ca.crt");
        File.WriteAllText(Authority, _authority.ExportCertificatePem());
    }

    /// <summary>The authority's file.</summary>
    public string Authority { get; }

    /// <summary>Writes a certificate and its key.</summary>
    /// <param name="name">Of the files, before <c>.crt</c> and <c>.key</c>.</param>
    /// <param name="host">A name, or an address, that it is for.</param>
    /// <param name="days">For how many days from yesterday on.</param>
    /// <returns>The files.</returns>
    public (string Certificate, string Key) Issue(string name, string host, double days = 10)
    {
        using var key = ECDsa.Create(ECCurve.NamedCurves.nistP256);
        var request = new CertificateRequest("CN=worker", key, HashAlgorithmName.SHA256);
        var names = new SubjectAlternativeNameBuilder();
        if (IPAddress.TryParse(host, out var address))
        {
            names.AddIpAddress(address);
        }
        else
        {
            names.AddDnsName(host);
        }

        request.CertificateExtensions.Add(names.Build());
        var from = DateTimeOffset.UtcNow.AddDays(-1);
        using var issued = request.Create(_authority, from, from.AddDays(days), RandomNumberGenerator.GetBytes(8));
        var (certificate, secret) = (Path.Combine(_folder, name + ".crt"), Path.Combine(_folder, name + ".key"));
        File.WriteAllText(certificate, issued.ExportCertificatePem());
        File.WriteAllText(secret, key.ExportPkcs8PrivateKeyPem());
        return (certificate, secret);
    }

    public void Dispose() => _authority.Dispose();
}
