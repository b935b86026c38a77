using Snapper.AspNetCore.Processes;
using Snapper.Server.Tests.Harness;
using Xunit;

namespace Snapper.Server.Tests.Settings;

/// <summary>How a Redis is named, and who we are to it. A password is taken from where nobody else reads it, and never repeated.</summary>
public sealed class RedisAddressTests : IDisposable
{
    private readonly TempFolder _temp = new();

    public void Dispose() => _temp.Dispose();

    [Theory]
    [InlineData("localhost:6379", "localhost:6379", null, null)]
    [InlineData("redis://localhost:6379", "localhost:6379", null, null)]
    [InlineData("redis://localhost:6379/", "localhost:6379", null, null)]
    [InlineData("redis://[::1]:6379", "[::1]:6379", null, null)]
    [InlineData("redis://app@localhost:6379", "localhost:6379", "app", null)]
    [InlineData("redis://app:@localhost:6379", "localhost:6379", "app", null)]
    [InlineData("redis://:p%40ss@localhost:6379", "localhost:6379", null, "p@ss")]
    [InlineData("redis://app:p:w@localhost:6379", "localhost:6379", "app", "p:w")]
    public void Parts_are_read(string text, string place, string? user, string? password)
    {
        var address = RedisAddress.Parse(text, fromCommandLine: false);
        Assert.Equal((place, user, password), (address.Place.ToString(), address.User, address.Password));
        Assert.Equal(place, address.ToString());
    }

    [Theory]
    [InlineData("localhost")]
    [InlineData("redis://localhost")]
    [InlineData("redis://:hidden@localhost")]
    [InlineData(":hidden@localhost:6379")]
    [InlineData("redis://:hidden@localhost:6379/1")]
    public void What_is_wrong_is_refused_and_a_password_not_repeated(string text)
    {
        foreach (var fromCommandLine in new[] { true, false })
        {
            var wrong = Assert.Throws<UsageException>(() => RedisAddress.Parse(text, fromCommandLine));
            Assert.DoesNotContain("hidden", wrong.Message, StringComparison.Ordinal);
        }
    }

    [Fact]
    public void A_password_on_the_command_line_is_refused_and_not_repeated()
    {
        var wrong = Assert.Throws<UsageException>(() => RedisAddress.Parse("redis://app:hidden@localhost:6379", fromCommandLine: true));
        Assert.Contains("SNAPPER_REDIS_PASSWORD_FILE", wrong.Message, StringComparison.Ordinal);
        Assert.DoesNotContain("hidden", wrong.Message, StringComparison.Ordinal);
    }

    [Theory]
    [InlineData("secret", null, "secret")]
    [InlineData(null, "secret\n", "secret")]
    [InlineData(null, "sec ret\r\n\n", "sec ret")]
    [InlineData(null, null, null)]
    public void The_password_comes_from_a_variable_or_a_file(string? variable, string? content, string? expected)
    {
        var login = RedisLogin.From(null, name => name switch
        {
            RedisLogin.PasswordVariable => variable,
            RedisLogin.FileVariable when content is not null => Write(content),
            _ => null,
        });
        Assert.Equal(expected, login?.Password);
        Assert.DoesNotContain("sec", $"{login}", StringComparison.Ordinal);
    }

    [Fact]
    public void Contradictions_and_files_that_cannot_be_read_are_named()
    {
        Assert.Contains("both set", Wrong(name => name == RedisLogin.UserVariable ? null : Write("x")), StringComparison.Ordinal);
        Assert.Contains(_temp.File("none"), Wrong(name => name == RedisLogin.FileVariable ? _temp.File("none") : null), StringComparison.Ordinal);
        Assert.Contains("empty", Wrong(name => name == RedisLogin.FileVariable ? Write("\n") : null), StringComparison.Ordinal);
        Assert.Contains("app needs a password", Wrong(name => name == RedisLogin.UserVariable ? "app" : null), StringComparison.Ordinal);
    }

    [Fact]
    public void Who_we_are_and_TLS_reach_whoever_connects()
    {
        using var key = System.Security.Cryptography.RSA.Create(2048);
        var request = new System.Security.Cryptography.X509Certificates.CertificateRequest(
            "CN=test", key, System.Security.Cryptography.HashAlgorithmName.SHA256, System.Security.Cryptography.RSASignaturePadding.Pkcs1);
        using var certificate = request.CreateSelfSigned(DateTimeOffset.UtcNow, DateTimeOffset.UtcNow.AddDays(1));
        var authority = Write(certificate.ExportCertificatePem());
        var login = RedisLogin.From(null, name => name switch
        {
            RedisLogin.UserVariable => "app",
            RedisLogin.PasswordVariable => "secret",
            RedisLogin.TlsVariable => "on",
            RedisLogin.AuthorityVariable => authority,
            _ => null,
        });
        var expected = new Storage.Redis.RedisOptions { Host = "redis", Port = 6380, User = "app", Password = "secret", Tls = true, AuthorityFile = authority };
        Assert.Equal(expected, RedisLogin.At(new HostAndPort("redis", 6380), login));
        Assert.Equal(new Storage.Redis.RedisOptions { Host = "redis", Port = 6380 }, RedisLogin.At(new HostAndPort("redis", 6380), null));
    }

    private static string Wrong(Func<string, string?> environment) => Assert.Throws<UsageException>(() => RedisLogin.From(null, environment)).Message;

    private string Write(string content)
    {
        File.WriteAllText(_temp.File("password"), content);
        return _temp.File("password");
    }
}
