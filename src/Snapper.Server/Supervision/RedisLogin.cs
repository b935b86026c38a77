using Snapper.Server.Cli;

namespace Snapper.Server.Supervision;

/// <summary>Who we are to a Redis. Comes from the environment or a file only: a command line can be read by everybody on the machine.</summary>
/// <remarks>A class that prints nothing of itself, so that no message or log can show the password by accident.</remarks>
internal sealed class RedisLogin
{
    /// <summary>Variable with the user's name.</summary>
    public const string UserVariable = "SNAPPER_REDIS_USER";

    /// <summary>Variable with the password.</summary>
    public const string PasswordVariable = "SNAPPER_REDIS_PASSWORD";

    /// <summary>Variable with the name of a file that holds the password.</summary>
    public const string FileVariable = "SNAPPER_REDIS_PASSWORD_FILE";

    private RedisLogin(string? user, string password)
    {
        User = user;
        Password = password;
    }

    /// <summary>Name in Redis' access control list; null: the default user.</summary>
    public string? User { get; }

    /// <summary>Never to be printed.</summary>
    public string Password { get; }

    /// <summary>What the address and the environment say; null: nothing.</summary>
    /// <param name="address">The address as it was given, which may hold a user and a password.</param>
    /// <param name="environment">Reads a variable.</param>
    /// <exception cref="UsageException">They contradict each other, the file cannot be read, or a user has no password.</exception>
    public static RedisLogin? From(RedisAddress? address, Func<string, string?> environment)
    {
        string? Variable(string name) => environment(name) is { Length: > 0 } value ? value : null;
        var user = address?.User ?? Variable(UserVariable);
        var password = Variable(PasswordVariable);
        if (Variable(FileVariable) is { } file)
        {
            if (password is not null) throw new UsageException($"{PasswordVariable} and {FileVariable} are both set; give one.");
            password = Read(file);
        }

        password = address?.Password ?? password;
        if (password is null)
        {
            return user is null ? null : throw new UsageException($"The Redis user {user} needs a password: set {PasswordVariable}, or {FileVariable} to a file that holds it.");
        }

        // Known only to the client of the log; it is loaded for this question alone.
        return user is null || TransactionLog.Redis.RedisOptions.KnowsUsers
            ? new RedisLogin(user, password)
            : throw new UsageException($"The Redis user {user} cannot be used: the Redis client of this build knows no user names. Give Redis' default user a password (requirepass) and leave {UserVariable} out.");
    }

    /// <summary>The environment of a child that may know it: resolved, and without what it would read otherwise.</summary>
    public static Dictionary<string, string?> EnvironmentOf(RedisLogin? login) => new()
    {
        [UserVariable] = login?.User,
        [PasswordVariable] = login?.Password,
        [FileVariable] = null,
    };

    /// <inheritdoc/>
    public override string ToString() => "(a login)";

    private static string Read(string file)
    {
        try
        {
            // Editors end files with a newline, which nobody means.
            var text = File.ReadAllText(file).TrimEnd('\r', '\n');
            return text.Length > 0 ? text : throw new UsageException($"{FileVariable} names {file}, which is empty.");
        }
        catch (Exception problem) when (problem is IOException or UnauthorizedAccessException or ArgumentException)
        {
            throw new UsageException($"{FileVariable} names a file that cannot be read: {problem.Message}");
        }
    }
}
