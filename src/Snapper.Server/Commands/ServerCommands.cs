namespace Snapper.Server.Commands;

/// <summary>What the server itself can do: serve, and ask other servers. The container image has these commands alone.</summary>
internal static class ServerCommands
{
    /// <summary><c>workers</c>.</summary>
    public static readonly Command Workers = new(ClusterCommands.WorkersSyntax, ClusterCommands.Workers);

    /// <summary><c>migrations</c>.</summary>
    public static readonly Command Migrations = new(ClusterCommands.MigrationsSyntax, ClusterCommands.Migrations);

    /// <summary><c>migrate</c>.</summary>
    public static readonly Command Migrate = new(ClusterCommands.MigrateSyntax, ClusterCommands.Migrate);

    /// <summary><c>drain</c>.</summary>
    public static readonly Command Drain = new(ClusterCommands.DrainSyntax, ClusterCommands.Drain);

    /// <summary><c>rebalance</c>.</summary>
    public static readonly Command Rebalance = new(ClusterCommands.RebalanceSyntax, ClusterCommands.Rebalance);

    /// <summary><c>token</c>.</summary>
    public static readonly Command Token = new(TokenCommand.Syntax, TokenCommand.Run);

    /// <summary><c>worker</c>.</summary>
    public static readonly Command Worker = new(WorkerCommand.Syntax, WorkerCommand.Run);

    /// <summary>All of them.</summary>
    public static readonly CommandTable Table =
        new([Workers, Migrations, Migrate, Drain, Rebalance, Token, Worker]);
}
