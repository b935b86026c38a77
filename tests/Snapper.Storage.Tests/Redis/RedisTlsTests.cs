using System.Net;
using System.Net.Sockets;
using System.Security.Cryptography;
using System.Security.Cryptography.X509Certificates;
using Snapper.Storage.Log;
using Snapper.Storage.Redis;
using Snapper.Storage.Tests.Support;
using Xunit;

namespace Snapper.Storage.Tests.Redis;

/// <summary>A real server that speaks TLS with a certificate of an authority of one's own, and knows users.</summary>
[NeedsRedis]
public sealed class RedisTlsTests : IAsyncLifetime
{
    private const string Secret = "s3cret";
    private readonly string _folder = Directory.CreateTempSubdirectory("snapper-tls-").FullName;
    private RedisServer _server = null!;
    private int _tlsPort;

    private string Authority => Path.Combine(_folder, "ca.pem");

    public async Task InitializeAsync()
    {
        if (RedisServer.FindExecutable() is null) return;
        WriteCertificates(_folder, "127.0.0.1");
        for (var attempt = 1; _server is null; attempt++)
        {
            _tlsPort = FreePort();
            try
            {
                _server = await RedisServer.Start(
                    "--tls-port", $"{_tlsPort}", "--tls-cert-file", Path.Combine(_folder, "server.pem"), "--tls-key-file", Path.Combine(_folder, "server.key"), "--tls-ca-cert-file", Authority,
                    "--tls-auth-clients", "no");
            }
            catch (InvalidOperationException) when (attempt < 3)
            {
                // The port was taken between our look and the server's start.
            }
        }

        Assert.StartsWith("+OK", await _server.Command("ACL", "SETUSER", "app", "on", ">" + Secret, "~*", "&*", "+@all"), StringComparison.Ordinal);
    }

    public async Task DisposeAsync()
    {
        if (_server is not null) await _server.DisposeAsync();
        Directory.Delete(_folder, recursive: true);
    }

    [ServerTheory]
    [InlineData(null)]
    [InlineData("app")]
    public async Task Log_and_states_work_over_TLS_also_after_the_server_went_away(string? user)
    {
        var options = new RedisOptions { Port = _tlsPort, Tls = true, AuthorityFile = Authority, User = user, Password = user is null ? null : Secret };
        await using var connections = await RedisConnections.Connect(options);
        await using var log = new RedisTransactionLog(connections, "w1");
        var opening = await log.Open(default);
        Assert.Equal(AppendStatus.Appended, (await log.Append(opening.Epoch, 1, 1, Some.Encode(Some.Batch(1, "a", 1)), default)).Status);
        var clients = await _server.Command("CLIENT", "LIST");
        Assert.Contains("snapper-log", clients, StringComparison.Ordinal);
        if (user is not null) Assert.Contains("user=app", clients, StringComparison.Ordinal);

        if (user is not null) return; // a user made by ACL SETUSER does not outlive the server
        await _server.Kill();
        await _server.Restart();
        for (var attempt = 1; ; attempt++)
        {
            try
            {
                Assert.Equal(AppendStatus.Appended, (await log.Append(opening.Epoch, 2, 1, Some.Encode(Some.Batch(2, "a", 2)), default)).Status);
                break;
            }
            catch (Exception away) when (attempt < 100 && StorageFaults.IsPassing(away))
            {
                await Task.Delay(100);
            }
        }

        var again = new RedisTransactionLog(connections, "w1");
        await using (again)
        {
            for (var attempt = 1; ; attempt++)
            {
                try
                {
                    Assert.True((await again.Open(default)).Epoch > opening.Epoch);
                    break;
                }
                catch (Exception away) when (attempt < 100 && StorageFaults.IsPassing(away))
                {
                    await Task.Delay(100); // the library's connections come back by themselves
                }
            }
        }
    }

    [ServerFact]
    public async Task A_certificate_of_nobody_that_is_trusted_or_for_another_host_is_refused()
    {
        await AssertRefused(new RedisOptions { Port = _tlsPort, Tls = true });

        var other = Directory.CreateDirectory(Path.Combine(_folder, "other")).FullName;
        WriteCertificates(other, "127.0.0.1");
        await AssertRefused(new RedisOptions { Port = _tlsPort, Tls = true, AuthorityFile = Path.Combine(other, "ca.pem") });

        // Of the right authority, for 127.0.0.1: not for a name that leads there, too.
        await AssertRefused(new RedisOptions { Host = "localhost", Port = _tlsPort, Tls = true, AuthorityFile = Authority });
    }

    [Fact]
    public async Task A_file_without_certificates_is_told_of_when_connecting()
    {
        var file = Path.Combine(_folder, "empty.pem");
        await File.WriteAllTextAsync(file, "nothing");
        var wrong = await Assert.ThrowsAsync<IOException>(() => RedisConnections.Connect(new RedisOptions { Tls = true, AuthorityFile = file }));
        Assert.Contains("holds no certificate", wrong.Message, StringComparison.Ordinal);
    }

    private static async Task AssertRefused(RedisOptions options)
    {
        await using var connections = await RedisConnections.Connect(options with { CommandTimeout = TimeSpan.FromSeconds(2) });
        Assert.False(connections.IsConnected);
        await using var log = new RedisTransactionLog(connections, "w1");
        await Assert.ThrowsAnyAsync<Exception>(() => log.Open(default));
        using var appends = new AppendConnection(options, new RedisKeys("snapper:", "w1"), static _ => { });
        await Assert.ThrowsAsync<System.Security.Authentication.AuthenticationException>(() => appends.Run(new AppendCommand { Epoch = 1, Mark = "m", AcknowledgedNext = 1 }, default).WaitAsync(TimeSpan.FromSeconds(20)));
    }

    private static void WriteCertificates(string folder, string address)
    {
        using var authorityKey = RSA.Create(2048);
        var authorityRequest = new CertificateRequest("CN=Snapper test authority", authorityKey, HashAlgorithmName.SHA256, RSASignaturePadding.Pkcs1);
        authorityRequest.CertificateExtensions.Add(new X509BasicConstraintsExtension(true, false, 0, true));
        using var authority = authorityRequest.CreateSelfSigned(DateTimeOffset.UtcNow.AddDays(-1), DateTimeOffset.UtcNow.AddDays(1));
        using var key = RSA.Create(2048);
        var request = new CertificateRequest("CN=redis", key, HashAlgorithmName.SHA256, RSASignaturePadding.Pkcs1);
        var names = new SubjectAlternativeNameBuilder();
        names.AddIpAddress(IPAddress.Parse(address));
        request.CertificateExtensions.Add(names.Build());
        using var server = request.Create(authority, DateTimeOffset.UtcNow.AddHours(-1), DateTimeOffset.UtcNow.AddHours(12), RandomNumberGenerator.GetBytes(8));
        File.WriteAllText(Path.Combine(folder, "ca.pem"), authority.ExportCertificatePem());
        File.WriteAllText(Path.Combine(folder, "server.pem"), server.ExportCertificatePem());
        File.WriteAllText(Path.Combine(folder, "server.key"), key.ExportPkcs8PrivateKeyPem());
    }

    private static int FreePort()
    {
        using var listener = new TcpListener(IPAddress.Loopback, 0);
        listener.Start();
        return ((IPEndPoint)listener.LocalEndpoint).Port;
    }
}
