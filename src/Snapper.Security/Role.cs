namespace Snapper.Security;

/// <summary>What a caller is. Tokens have one of <see cref="Caller"/>, <see cref="Viewer"/>, <see cref="Operator"/> and <see cref="Admin"/>.</summary>
public enum Role : byte
{
    /// <summary>Anonymous: no token, or a wrong one.</summary>
    Nobody,

    /// <summary>Runs transactions and asks what became of them; sees nothing else.</summary>
    Caller,

    /// <summary>Looks at everything and changes nothing.</summary>
    Viewer,

    /// <summary>Looks, runs transactions, moves actors between workers, reads the audit.</summary>
    Operator,

    /// <summary>All that people may do.</summary>
    Admin,

    /// <summary>The worker's own sidecar, for callers who show no token of their own: hosts actors, runs transactions.</summary>
    Sidecar,

    /// <summary>The sidecar, where those who show no token of their own may do nothing: hosts actors.</summary>
    Channel,

    /// <summary>All callers while no token is configured: everything.</summary>
    Everybody,
}

/// <summary>What an address asks for.</summary>
public enum Right : byte
{
    /// <summary>Nothing: probes and metrics.</summary>
    Open,

    /// <summary>To be authenticated.</summary>
    Identified,

    /// <summary>To be the sidecar: what Dapr asks of an app.</summary>
    Channel,

    /// <summary>To run transactions.</summary>
    Transact,

    /// <summary>To ask what became of a transaction, and which methods there are.</summary>
    Ask,

    /// <summary>To look inside.</summary>
    View,

    /// <summary>To move actors between workers, and to read who did.</summary>
    Operate,

    /// <summary>To take workers or data away.</summary>
    Administer,
}

/// <summary>Which role has which right: the one place that says so.</summary>
public static class Roles
{
    /// <summary>The roles that a token may have, from the least.</summary>
    public static IReadOnlyList<Role> OfTokens { get; } = [Role.Caller, Role.Viewer, Role.Operator, Role.Admin];

    /// <summary>Whether a role has a right.</summary>
    public static bool Has(this Role role, Right right) => right switch
    {
        Right.Open => true,
        Right.Identified => role != Role.Nobody,
        Right.Ask => role is not (Role.Nobody or Role.Channel),
        Right.Channel => role is Role.Sidecar or Role.Channel or Role.Everybody,
        Right.Transact => role is Role.Caller or Role.Operator or Role.Admin or Role.Sidecar or Role.Everybody,
        Right.View => role is Role.Viewer or Role.Operator or Role.Admin or Role.Everybody,
        Right.Operate => role is Role.Operator or Role.Admin or Role.Everybody,
        Right.Administer => role is Role.Admin or Role.Everybody,
        _ => false,
    };

    /// <summary>The role as configuration and the audit write it.</summary>
    public static string Name(this Role role) => role switch
    {
        Role.Caller => "caller",
        Role.Viewer => "viewer",
        Role.Operator => "operator",
        Role.Admin => "admin",
        Role.Sidecar or Role.Channel => "sidecar",
        Role.Everybody => "everybody",
        _ => "nobody",
    };

    /// <summary>It is that of a token: its holder has a name of its own.</summary>
    public static bool IsOfToken(this Role role) => role is Role.Caller or Role.Viewer or Role.Operator or Role.Admin;

    /// <summary>Reads the role of a token.</summary>
    /// <returns>Null: there is no such role, or no token has it.</returns>
    public static Role? OfToken(string? text)
    {
        foreach (var role in OfTokens)
        {
            if (string.Equals(role.Name(), text, StringComparison.OrdinalIgnoreCase)) return role;
        }

        return null;
    }
}
