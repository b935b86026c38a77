using System.Security.Cryptography;

namespace Snapper.Server.Processes;

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

    private const int LengthMin = 32;
    private const int LengthMax = 512;

    /// <summary>Reads it, or makes it, and writes Redis' configuration. No Redis runs on this directory.</summary>
    /// <exception cref="StartupException">The file is there and cannot be read.</exception>
    /// <exception cref="IOException">A file cannot be written or read; also <see cref="UnauthorizedAccessException"/>.</exception>
    public static PrivateRedisSecret Take(DataDirectory data)
    {
        var file = Path.Combine(data.Root, FileName);
        var configuration = Path.Combine(data.Run, ConfigurationName);
        string? note = null, password = null;
        if (Directory.Exists(file)) throw new StartupException($"{file} is a folder, not a file with the password of the private Redis; {FixHints.Password}");
        if (File.Exists(file))
        {
            try
            {
                password = File.ReadAllText(file).Trim();
            }
            catch (Exception problem) when (problem is IOException or UnauthorizedAccessException)
            {
                throw new StartupException($"{file} cannot be read: {problem.Message.TrimEnd('.')}; {FixHints.Password}");
            }

            var why = FileModeMask.IsOpen(file) ? "other accounts could read it" : !IsUsable(password) ? $"it must be {LengthMin} to {LengthMax} letters, digits, '-' and '_'" : null;
            if (why is not null) (password, note) = (null, $"{file} is made anew: {why}");
        }

        if (password is null)
        {
            password = RandomNumberGenerator.GetHexString(64, lowercase: true);
            FileModeMask.Replace(file, password + "\n");
        }

        var secret = new PrivateRedisSecret(RedisLogin.WithPassword(password), configuration, note);
        secret.WriteConfiguration();
        return secret;
    }

    /// <summary>Writes what redis-server reads at its start.</summary>
    /// <exception cref="IOException">It cannot be written; also <see cref="UnauthorizedAccessException"/>.</exception>
    public void WriteConfiguration() => FileModeMask.Replace(ConfigurationFile, $"requirepass {Login.Password}\n");

    // What needs no quotes in Redis' configuration, and in a shell.
    private static bool IsUsable(string text) => text.Length is >= LengthMin and <= LengthMax && text.All(c => char.IsAsciiLetterOrDigit(c) || c is '-' or '_');
}

/// <summary>A Redis, and who we are to it; null: nobody in particular.</summary>
internal sealed record RedisPlace(HostAndPort Address, RedisLogin? Login);
