namespace Snapper.AspNetCore.Processes;

/// <summary>
/// The password of the private Redis. Loopback is open to every account of the machine, the file is not; nobody needs to know it but those whom the
/// supervisor starts, and a person who makes a backup.
/// </summary>
/// <param name="Login">For those who connect.</param>
/// <param name="ConfigurationFile">For redis-server, whose command line everybody could read.</param>
/// <param name="Note">What the user should hear; null: nothing.</param>
internal sealed record PrivateRedisSecret(RedisLogin Login, string ConfigurationFile, string? Note)
{
    /// <summary>Its name in the data directory. Not beside Redis' own files, so that a copy of those holds no secret.</summary>
    public const string FileName = "redis-password";

    /// <summary>Name of Redis' configuration in <see cref="DataDirectory.Run"/>.</summary>
    public const string ConfigurationName = "redis.conf";

    /// <summary>Reads it, or makes it, and writes Redis' configuration. No Redis runs on this directory.</summary>
    /// <exception cref="StartupException">The file is there and cannot be read.</exception>
    /// <exception cref="IOException">A file cannot be written or read; also <see cref="UnauthorizedAccessException"/>.</exception>
    public static PrivateRedisSecret Take(DataDirectory data)
    {
        var configuration = Path.Combine(data.Run, ConfigurationName);
        var (password, note) = SecretFile.Take(Path.Combine(data.Root, FileName), "the password of the private Redis");
        var secret = new PrivateRedisSecret(RedisLogin.WithPassword(password), configuration, note);
        secret.WriteConfiguration();
        return secret;
    }

    /// <summary>Writes what redis-server reads at its start.</summary>
    /// <exception cref="IOException">It cannot be written; also <see cref="UnauthorizedAccessException"/>.</exception>
    public void WriteConfiguration() => FileModeMask.Replace(ConfigurationFile, $"requirepass {Login.Password}\n");
}

/// <summary>A Redis, and who we are to it; null: nobody in particular.</summary>
internal sealed record RedisPlace(HostAndPort Address, RedisLogin? Login);
