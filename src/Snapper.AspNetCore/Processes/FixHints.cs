namespace Snapper.AspNetCore.Processes;

/// <summary>What to do about each thing that keeps <c>up</c> from starting: one wording for <c>up</c>, <c>doctor</c> and the documentation.</summary>
internal static class FixHints
{
    /// <summary>There is no Redis.</summary>
    public static readonly string Redis = ProgramName.IsTool
        ? "install redis-server, or name a Redis with --redis HOST:PORT"
        : "'./snapper setup' brings redis-server, or name a Redis with --redis HOST:PORT";

    /// <summary>There is no Dapr, or an old one.</summary>
    public static readonly string Dapr = ProgramName.IsTool
        ? "'dapr init' brings it (1.18 or later), or set SNAPPER_DAPRD and SNAPPER_PLACEMENT"
        : "'./snapper setup' brings Dapr 1.18.1, or set SNAPPER_DAPRD and SNAPPER_PLACEMENT";

    /// <summary>A variable names what is not there.</summary>
    public const string Variable = "correct or remove the variable";

    /// <summary>The Redis that was named does not answer as it should.</summary>
    public const string NamedRedis = "start or correct it, or leave --redis and SNAPPER_REDIS out";

    /// <summary>The Redis that was named is a copy of another one.</summary>
    public const string Primary = "name the primary that it copies";

    /// <summary>The Redis that was named is too old.</summary>
    public const string NewerRedis = "name Redis 6.2 or later";

    /// <summary>The data directory cannot be used.</summary>
    public const string Data = "make it writable and give its disk room, or choose another with --data";

    /// <summary>Others may look into a data directory that somebody else made.</summary>
    public const string Rights = "'chmod 700' it, or choose another with --data";

    /// <summary>The data directory belongs to another account.</summary>
    public const string Owner = "run as that account, 'chown' it, or choose another with --data";

    /// <summary>Another account put something into a folder of the data directory.</summary>
    public const string Planted = "see what it is and remove it, 'chown' it, or choose another directory with --data";

    /// <summary>Everybody may change a folder above the data directory.</summary>
    public const string Parent = "'chmod o-w' it, or choose another directory with --data";

    /// <summary>A file with a secret cannot be read.</summary>
    public const string Password = "make it readable for this account, or remove it: then a new one is made";

    /// <summary>Packets between workers are not sealed.</summary>
    public const string NoMailboxSecret = "unset SNAPPER_MAILBOX_SECRET: 'up' makes a secret of its own";

    /// <summary>The private Redis has no password.</summary>
    public const string OpenRedis = "use a redis-server that reads the file named by --include, or name a Redis with --redis HOST:PORT";

    /// <summary>Others may look into a data directory of an earlier version.</summary>
    public const string EarlierRights = "the next 'up' closes it to them";

    /// <summary>Somebody works in the data directory.</summary>
    public const string OtherUp = "stop it, or choose another directory with --data";

    /// <summary>Another process has a worker's folder.</summary>
    public const string OtherProcess =
        "stop it, or choose another directory with --data (Snapper:DataDirectory in an application)";

    /// <summary>The ports that nobody names are used up.</summary>
    public static readonly string PrivatePorts =
        $"end programs that listen there: '{ProgramName.Value} doctor' names those of the fixed ports, 'ss -ltnp' all";

    /// <summary>A process of an earlier run cannot be ended.</summary>
    public const string Leftover = "end it by hand, as the user that it belongs to";

    /// <summary>The log is not the one that is remembered.</summary>
    public const string LostLog = "bring the data back; or accept the loss: start with --accept-lost-log";

    /// <summary>The log cannot be understood.</summary>
    public const string DamagedLog = "keep a copy, then restore a backup of the whole storage, or repair the place that is named";

    /// <summary>The program places actors in another way than those before it.</summary>
    public const string OtherPlacement = "run the program that placed them, or give the type the partition key that it had";

    /// <summary>A setting of the environment is wrong.</summary>
    public const string Setting = "correct or remove the setting; docs/operating.md has each with its range";

    /// <summary>A fixed port is taken.</summary>
    public static string Port(string option) => $"free it or choose another with {option}";
}
