using System.Diagnostics;
using System.Text.RegularExpressions;
using Snapper.AspNetCore.Processes;
using Snapper.Cli.Supervision;
using Xunit;

namespace Snapper.Manifests.Tests;

/// <summary>The Redis of the component redis-tls speaks TLS with workers, and nothing else with others.</summary>
public sealed class RedisTlsConfigurationTests : IDisposable
{
    private static readonly Rules.Manifests s_all = Rendered.Of("production", "redis", "../../components/redis-tls");

    private readonly DirectoryInfo _folder = Directory.CreateTempSubdirectory("snapper-redis-tls-");

    public void Dispose() => _folder.Delete(recursive: true);

    [NeedsRedisFact]
    public async Task Workers_sign_in_over_TLS_and_probes_ask_over_it()
    {
        await MakeCertificate();
        await using var redis = await Start();
        var login = LoginOfWorkers(redis);
        Assert.True(login.Tls);
        Assert.Null(await RedisProbe.Unavailable(redis.Address, login));
        Assert.Equal("noeviction", (await RedisProbe.Facts(redis.Address, login))!.MaxMemoryPolicy);
        foreach (var name in (string[])["startupProbe", "readinessProbe", "livenessProbe"])
        {
            var (code, said) = await redis.Probe(name);
            Assert.True(code == 0, $"{name}: {said}");
        }
    }

    [NeedsRedisFact]
    public async Task Without_TLS_and_by_another_certificate_there_is_no_way_in()
    {
        await MakeCertificate();
        await using var redis = await Start();
        using (var connection = await redis.Connect())
        {
            Assert.ThrowsAny<Exception>(() => connection.Ask("AUTH", "snapper", MountedRedis.Password));
        }

        await MakeCertificate(); // which Redis does not have
        Assert.NotNull(await RedisProbe.Unavailable(redis.Address, LoginOfWorkers(redis)));
    }

    private Task<MountedRedis> Start() => MountedRedis.Start(s_all, (secret, key) => (secret, key) switch
    {
        ("snapper-redis", "password") => MountedRedis.Password,
        ("snapper-redis-tls", "tls.crt" or "ca.crt") => Read("tls.crt"),
        ("snapper-redis-tls", "tls.key") => Read("tls.key"),
        _ => throw new InvalidOperationException($"{secret} has no key {key}"),
    });

    /// <summary>What workers make of their environment, with the files of the secrets here.</summary>
    private RedisLogin LoginOfWorkers(MountedRedis redis)
    {
        var worker = s_all.Pods.Single(pods => pods.HasSidecar);
        var environment = worker.Environment(worker.Containers[0], "snapper-worker-1");
        Assert.Equal("/run/secrets/snapper-redis-tls/ca.crt", environment[RedisLogin.AuthorityVariable]);
        environment[RedisLogin.AuthorityVariable] = Path.Combine(_folder.FullName, "tls.crt");
        environment[RedisLogin.FileVariable] = redis.Here(environment[RedisLogin.FileVariable]);
        return RedisLogin.From(null, environment.GetValueOrDefault)!;
    }

    private string Read(string name) => File.ReadAllText(Path.Combine(_folder.FullName, name));

    /// <summary>By the command of docs/kubernetes.md, but for the address here instead of the service's name.</summary>
    private async Task MakeCertificate()
    {
        var command = Regex.Match(Tree.Read("docs", "kubernetes.md"), "^openssl req .*$", RegexOptions.Multiline).Value;
        Assert.Contains("DNS:snapper-redis", command, StringComparison.Ordinal);
        var words = command.Replace("DNS:snapper-redis", "IP:127.0.0.1", StringComparison.Ordinal).Split(' ');
        var start = new ProcessStartInfo(words[0], words[1..])
        {
            WorkingDirectory = _folder.FullName,
            RedirectStandardError = true,
        };
        using var openssl = Process.Start(start)!;
        var said = await openssl.StandardError.ReadToEndAsync();
        await openssl.WaitForExitAsync();
        Assert.True(openssl.ExitCode == 0, said);
    }
}
