using System.Globalization;
using System.Net;
using System.Net.Sockets;
using System.Security.Cryptography;
using System.Security.Cryptography.X509Certificates;
using Snapper.AspNetCore.Processes;
using Snapper.Cluster.Links;

namespace Snapper.AspNetCore.Hosting;

/// <summary>What the section <c>Snapper:Cluster</c> says of the direct links between workers.</summary>
internal static class LinkConfiguration
{
    private const string Direct = "direct";
    private const string ThroughSidecar = "sidecar";

    /// <summary>Names of its settings.</summary>
    public static IReadOnlyList<string> Names { get; } =
        ["Links", "LinkAddress", "LinkPort", "LinkHost", "LinkCertificate", "LinkKey", "LinkAuthority"];

    /// <summary>Reads it.</summary>
    /// <param name="configuration">Of the process.</param>
    /// <param name="keys">With which links are proved; none: they are not.</param>
    /// <returns>Null: packets go through the sidecars alone.</returns>
    /// <exception cref="InvalidDataException">A setting is wrong; the message names it.</exception>
    /// <exception cref="InvalidOperationException">A number is none.</exception>
    /// <exception cref="ArgumentException">What is set does not go together, or would leave links open.</exception>
    public static DirectLinkOptions? Read(IConfiguration configuration, IReadOnlyList<byte[]> keys)
    {
        var section = configuration.GetSection("Snapper:Cluster");
        switch (section["Links"])
        {
            case null or "" or Direct:
                break;
            case ThroughSidecar:
                return null;
            case var other:
                throw new InvalidDataException(
                    $"Snapper:Cluster:Links is '{other}': '{Direct}' or '{ThroughSidecar}' is meant.");
        }

        var text = section["LinkAddress"] is { Length: > 0 } said ? said : "127.0.0.1";
        if (!IPAddress.TryParse(text, out var address))
        {
            throw new InvalidDataException(
                $"Snapper:Cluster:LinkAddress is '{text}': an IP address of this machine is meant.");
        }

        var port = section.GetValue("LinkPort", 0);
        if (port is < 0 or > IPEndPoint.MaxPort)
        {
            throw new InvalidDataException(
                $"Snapper:Cluster:LinkPort is {port}: 1 to {IPEndPoint.MaxPort} is meant, or 0 for one that is free.");
        }

        var named = section["LinkHost"];
        var host = string.IsNullOrEmpty(named) ? null : named;
        if (host is null && (address.Equals(IPAddress.Any) || address.Equals(IPAddress.IPv6Any)))
        {
            throw new InvalidDataException(
                $"Snapper:Cluster:LinkAddress is {address}, which is no address for others: "
                + "set Snapper:Cluster:LinkHost.");
        }

        var hostPort = 0;
        if (host is not null && !TrySplit(host, out host, out hostPort))
        {
            throw new InvalidDataException(
                $"Snapper:Cluster:LinkHost is '{named}': a host name or an IP address is meant, perhaps with ':PORT'.");
        }

        var options = new DirectLinkOptions
        {
            Listen = new IPEndPoint(address, port), Host = host, HostPort = hostPort, Keys = keys,
            Certificate = Certificate(section["LinkCertificate"], section["LinkKey"]),
            Authority = Authority(section["LinkAuthority"]),
        };
        options.Validate();
        if (options.Certificate is { } certificate)
        {
            CheckIsTaken(certificate, options.Authority!, host ?? address.ToString());
        }

        return options;
    }

    /// <summary>Begins to listen for links.</summary>
    /// <exception cref="StartupException">The address is taken, or none of this machine's.</exception>
    public static LinkTransport Start(DirectLinkOptions options, SidecarMailboxTransport sidecar, ILogger logger)
    {
        try
        {
            return LinkTransport.Start(options, sidecar, logger);
        }
        catch (SocketException exception)
        {
            throw new StartupException(
                $"direct links of other workers cannot be taken at {options.Listen}: {exception.Message}. "
                + "Set Snapper:Cluster:LinkAddress and Snapper:Cluster:LinkPort to what is free on this machine, "
                + "or Snapper:Cluster:Links to 'sidecar'.");
        }
    }

    /// <summary>Host and port; an address of IPv6 with a port stands in brackets.</summary>
    private static bool TrySplit(string text, out string host, out int port)
    {
        (host, port) = (text, 0);
        if (Uri.CheckHostName(text) == UriHostNameType.Unknown)
        {
            var colon = text.LastIndexOf(':');
            if (colon < 1 || !int.TryParse(text.AsSpan(colon + 1), NumberStyles.None, CultureInfo.InvariantCulture,
                out port)
                || port is < 1 or > IPEndPoint.MaxPort)
            {
                return false;
            }

            host = text[..colon];
        }

        host = host.Trim('[', ']');
        return host.Length <= 255 && Uri.CheckHostName(host) != UriHostNameType.Unknown;
    }

    private static X509Certificate2? Certificate(string? file, string? key)
    {
        if (string.IsNullOrEmpty(file))
        {
            return string.IsNullOrEmpty(key) ? null : throw new ArgumentException(DirectLinkOptions.BelongTogether);
        }

        X509Certificate2 certificate;
        try
        {
            certificate = X509Certificate2.CreateFromPemFile(file, string.IsNullOrEmpty(key) ? null : key);
        }
        catch (CryptographicException) when (string.IsNullOrEmpty(key) && IsCertificate(file))
        {
            throw new InvalidDataException(
                $"Snapper:Cluster:LinkCertificate, '{file}', has no private key beside the certificate: "
                + "Snapper:Cluster:LinkKey names the file with it.");
        }
        catch (Exception exception) when (exception is CryptographicException or IOException
            or UnauthorizedAccessException or ArgumentException)
        {
            throw new InvalidDataException(
                $"Snapper:Cluster:LinkCertificate, '{file}', or LinkKey, '{key}', cannot be read: {exception.Message}");
        }

        var now = DateTime.Now; // as the certificate says its times
        return now >= certificate.NotBefore && now <= certificate.NotAfter
            ? certificate
            : throw new InvalidDataException(
                $"Snapper:Cluster:LinkCertificate, '{file}', is valid from {certificate.NotBefore.ToUniversalTime():u} "
                + $"to {certificate.NotAfter.ToUniversalTime():u}, and not now.");
    }

    private static bool IsCertificate(string file)
    {
        try
        {
            using var certificate = X509CertificateLoader.LoadCertificateFromFile(file);
            return true;
        }
        catch (CryptographicException)
        {
            return false;
        }
    }

    /// <summary>What every other worker would find when a link is made.</summary>
    private static void CheckIsTaken(
        X509Certificate2 certificate, X509Certificate2Collection authority, string host)
    {
        using var chain = new X509Chain { ChainPolicy = LinkCertificates.Policy(authority) };
        if (!chain.Build(certificate))
        {
            var why = chain.ChainStatus.Select(static status => status.StatusInformation.Trim(' ', '.', '\n'));
            throw new InvalidDataException(
                "Snapper:Cluster:LinkCertificate is none that Snapper:Cluster:LinkAuthority has issued, "
                + $"so other workers would refuse it: {string.Join(", ", why.Distinct())}.");
        }

        if (!certificate.MatchesHostname(host))
        {
            throw new InvalidDataException(
                $"Snapper:Cluster:LinkCertificate is not for '{host}', under which others reach this worker "
                + "(Snapper:Cluster:LinkHost): it must be among its subject alternative names.");
        }
    }

    private static X509Certificate2Collection? Authority(string? file)
    {
        if (string.IsNullOrEmpty(file))
        {
            return null;
        }

        var authority = new X509Certificate2Collection();
        try
        {
            authority.ImportFromPemFile(file);
        }
        catch (Exception exception) when (exception is CryptographicException or IOException
            or UnauthorizedAccessException)
        {
            throw new InvalidDataException(
                $"Snapper:Cluster:LinkAuthority, '{file}', cannot be read: {exception.Message}");
        }

        return authority.Count > 0 ? authority
            : throw new InvalidDataException($"Snapper:Cluster:LinkAuthority, '{file}', has no certificate.");
    }
}
