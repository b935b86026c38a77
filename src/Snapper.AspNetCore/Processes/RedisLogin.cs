using Snapper.Storage.Redis;

namespace Snapper.AspNetCore.Processes;

/// <summary>Who we are to a Redis, and whether we speak TLS with it. Comes from the environment or a file only: a command line can be read by everybody on the machine.</summary>
/// <remarks>A class that prints nothing of itself, so that no message or log can show the password by accident.</remarks>
internal sealed class RedisLogin
{
    /// <summary>Variable with the user's name.</summary>
    public const string UserVariable = "SNAPPER_REDIS_USER";

    /// <summary>Variable with the password.</summary>
    public const string PasswordVariable = "SNAPPER_REDIS_PASSWORD";

    /// <summary>Variable with the name of a file that holds the password.</summary>
    public const string FileVariable = "SNAPPER_REDIS_PASSWORD_FILE";

    /// <summary>Variable that says whether to speak TLS: on or off (default); <c>rediss://</c> in the address is on.</summary>
    public const string TlsVariable = "SNAPPER_REDIS_TLS";

    /// <summary>Variable with the name of a PEM file: the authorities that may have signed the server's certificate.</summary>
    public const string AuthorityVariable = "SNAPPER_REDIS_CA";

    private RedisLogin(string? user, string? password, bool tls, string? authorityFile)
    {
        User = user;
        Password = password;
        Tls = tls;
        AuthorityFile = authorityFile;
    }

    /// <summary>Name in Redis' access control list; null: the default user.</summary>
    public string? User { get; }

    /// <summary>Never to be printed; null: none.</summary>
    public string? Password { get; }

    public bool Tls { get; }

    /// <summary>Who may have signed the server's certificate; null: whom the machine trusts.</summary>
    public string? AuthorityFile { get; }

    /// <summary>What the address and the environment say; null: nothing.</summary>
    /// <param name="address">The address as it was given, which may hold a user and a password.</param>
    /// <param name="environment">Reads a variable.</param>
    /// <exception cref="UsageException">They contradict each other, a file cannot be read, or a user has no password.</exception>
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
        if (password is null && user is not null)
        {
            throw new UsageException($"The Redis user {user} needs a password: set {PasswordVariable}, or {FileVariable} to a file that holds it.");
        }

        var tls = address is { IsTls: true } || IsOn(Variable(TlsVariable));
        var authority = Variable(AuthorityVariable);
        if (authority is not null)
        {
            if (!tls) throw new UsageException($"{AuthorityVariable} is set, and no TLS is spoken: set {TlsVariable}=on, or name the Redis with rediss://.");
            CheckAuthority(authority);
        }

        return password is null && !tls ? null : new RedisLogin(user, password, tls, authority is null ? null : Path.GetFullPath(authority));
    }

    /// <summary>The default user, by this password, without TLS.</summary>
    public static RedisLogin WithPassword(string password) => new(null, password, tls: false, authorityFile: null);

    /// <summary>How to reach a Redis there as <paramref name="login"/> says; null: without name, password and TLS.</summary>
    public static RedisOptions At(HostAndPort address, RedisLogin? login) => new()
    {
        Host = address.Host,
        Port = address.Port,
        User = login?.User,
        Password = login?.Password,
        Tls = login is { Tls: true },
        AuthorityFile = login?.AuthorityFile,
    };

    /// <summary>The environment of a child that may know it: resolved, and without what it would read otherwise.</summary>
    public static Dictionary<string, string?> EnvironmentOf(RedisLogin? login) => new()
    {
        [UserVariable] = login?.User,
        [PasswordVariable] = login?.Password,
        [FileVariable] = null,
        [TlsVariable] = login is { Tls: true } ? "on" : null,
        [AuthorityVariable] = login?.AuthorityFile,
    };

    public override string ToString() => "(a login)";

    private static bool IsOn(string? text) => text switch
    {
        null or "off" => false,
        "on" => true,
        _ => throw new UsageException($"{TlsVariable} must be on or off, not '{text}'."),
    };

    private static void CheckAuthority(string file)
    {
        try
        {
            RedisTrust.Read(file);
        }
        catch (IOException problem)
        {
            throw new UsageException($"{AuthorityVariable}: {problem.Message}");
        }
    }

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
