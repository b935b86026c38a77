using Snapper.Live.Running;

namespace Snapper.Live.Faults;

/// <summary>All kinds of faults.</summary>
internal static class FaultCatalog
{
    private static readonly TimeSpan Crash = TimeSpan.FromSeconds(5);
    private static readonly TimeSpan Sidecar = TimeSpan.FromSeconds(3);
    private static readonly TimeSpan Log = TimeSpan.FromSeconds(3);
    private static readonly TimeSpan Partition = TimeSpan.FromSeconds(10);
    private static readonly TimeSpan Unnoticed = TimeSpan.FromSeconds(1);

    public static IReadOnlyList<FaultKind> All { get; } =
    [
        new("server-kill", "kill -9 of the server", Crash, strike => ProcessFaults.Kill(strike, Part.Server)),
        new("server-kill-in-recovery", "kill -9 of the server, and up to 5 times again while it starts", Crash, ProcessFaults.KillInRecovery) { IsQuick = false },
        new("server-kill-unflushed", "kill -9 of the server while its appends are stuck on the way; they arrive up to 4 s later", Crash, ProcessFaults.KillUnflushed),
        new("server-daprd-kill", "kill -9 of server and daprd", Crash, strike => ProcessFaults.Kill(strike, Part.Server, Part.Daprd)),
        new("server-redis-kill", "kill -9 of server and redis-server", Crash, strike => ProcessFaults.Kill(strike, Part.Server, Part.Redis)),
        new("all-kill", "kill -9 of server, daprd, placement and redis-server", Crash, strike => ProcessFaults.Kill(strike, Part.Server, Part.Daprd, Part.Placement, Part.Redis)),
        new("daprd-kill", "kill -9 of daprd", Sidecar, strike => ProcessFaults.Kill(strike, Part.Daprd)),
        new("placement-kill", "kill -9 of placement", Crash, strike => ProcessFaults.Kill(strike, Part.Placement)),
        new("redis-kill", "kill -9 of redis-server", Log, strike => ProcessFaults.Kill(strike, Part.Redis)),
        new("server-term", "SIGTERM to the server", Crash, strike => ProcessFaults.Terminate(strike, Part.Server)),
        new("daprd-term", "SIGTERM to daprd", Crash, strike => ProcessFaults.Terminate(strike, Part.Daprd)),
        new("server-pause", "SIGSTOP of the server, SIGCONT after 0.2 to 30 s", Partition, strike => ProcessFaults.Pause(strike, Part.Server)),
        new("daprd-pause", "SIGSTOP of daprd, SIGCONT after 0.2 to 30 s", Partition, strike => ProcessFaults.Pause(strike, Part.Daprd)),
        new("placement-pause", "SIGSTOP of placement, SIGCONT after 0.2 to 30 s", Partition, strike => ProcessFaults.Pause(strike, Part.Placement)),
        new("redis-pause", "SIGSTOP of redis-server, SIGCONT after 0.2 to 30 s", Partition, strike => ProcessFaults.Pause(strike, Part.Redis)),
        new("redis-disk-slow", "every fsync of redis-server takes 20 ms to 2 s longer", Log, strike => RedisFaults.SlowDisk(strike, strike.System.Redis)) { AbortsNobody = true, IsQuick = false },
        new("redis-memory-full", "maxmemory below what is in use", Log, strike => RedisFaults.MemoryFull(strike, strike.System.Redis)),
        new("redis-disk-full", "no room for the append-only file, also for the next redis-servers", Crash, strike => RedisFaults.DiskFull(strike, strike.System.Redis)),
        new("redis-rewrite", "BGREWRITEAOF under load", Unnoticed, strike => RedisFaults.Rewrite(strike, strike.System.Redis)) { Measure = Measure.Stall, AbortsNobody = true },
        new("redis-save", "BGSAVE under load", Unnoticed, strike => RedisFaults.Save(strike, strike.System.Redis)) { Measure = Measure.Stall, AbortsNobody = true },
        new("redis-failover", "a replica that has everything is promoted by a sentinel, and the same back", Partition, strike => RedisFailover.Strike(strike, strike.System.Redis, losesTail: false, () => Task.CompletedTask)) { IsQuick = false },
        .. LinkFaults.On("redis", "server and Redis", system => system.ServerToRedis, Partition),
        .. LinkFaults.On("app", "daprd and server", system => system.DaprdToServer, Partition),
        .. LinkFaults.On("placement", "daprd and placement", system => system.DaprdToPlacement, Partition),
        new("placement-away", "daprd cannot reach placement for 5 to 61 s: direct and service door do not notice", Partition, LinkFaults.PlacementAway) { IsQuick = false },
        .. LinkFaults.On("direct", "caller and server", system => system.CallerToServer, Partition),
        .. LinkFaults.On("sidecar", "caller and daprd", system => system.CallerToDaprd, Partition),
        new("slow-clients", "clients that send or read a byte at a time, and abandon their requests", Unnoticed, ClientFaults.SlowClients) { Measure = Measure.Stall },
        new("huge-payload", "bodies of 4 to 64 MB: 413", Unnoticed, ClientFaults.HugePayload) { Measure = Measure.Stall },
        new("poison", "bodies that are no request, unknown types, NaN, overflow: 4xx", Unnoticed, ClientFaults.Poison) { Measure = Measure.Stall },
        new("wrong-declaration", "too few actors or calls declared: aborted undeclared; too many: nobody waits", Unnoticed, ClientFaults.WrongDeclaration) { Measure = Measure.Stall },
        new("slow-user-code", "a method that keeps its actors beyond the turn bound of 1 s while others wait", TimeSpan.FromSeconds(2), ClientFaults.SlowUserCode),
    ];

    /// <summary>The kinds of these names.</summary>
    /// <exception cref="FormatException">There is none of such a name.</exception>
    public static IReadOnlyList<FaultKind> Named(IEnumerable<string> names) =>
        [.. names.Select(name => All.FirstOrDefault(kind => kind.Name == name)
            ?? throw new FormatException($"There is no fault '{name}'; there are: {string.Join(", ", All.Select(kind => kind.Name))}."))];
}
