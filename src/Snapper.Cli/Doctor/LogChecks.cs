using Snapper.AspNetCore.Hosting;
using Snapper.AspNetCore.Processes;
using Snapper.Cli.Supervision;
using Snapper.Storage.Files;
using Snapper.Storage.Log;
using Snapper.Storage.Redis;
using Snapper.Storage.Remembering;
using StackExchange.Redis;

namespace Snapper.Cli.Doctor;

/// <summary>Whether the logs are those that the workers remember, without opening one. A private Redis is not started for it: then only that its file is there can be seen.</summary>
internal static class LogChecks
{
    /// <summary>One row per worker.</summary>
    public static async Task<IReadOnlyList<DoctorRow>> All(UpOptions options, ExecutableFinder finder)
    {
        var rows = new List<DoctorRow>();
        for (var i = 1; i <= options.Workers; i++) rows.Add(await Row(options, finder, $"w{i}"));
        return rows;
    }

    private static async Task<DoctorRow> Row(UpOptions options, ExecutableFinder finder, string worker)
    {
        var check = $"log of {worker}";
        if (options.AcceptLostLog) return new DoctorRow(Health.Good, check, "taken as it is found, as --accept-lost-log asks");
        var file = Path.Combine(options.DataDirectory, DataDirectory.RememberedFolder, worker + ".json");
        try
        {
            Plan plan;
            try
            {
                plan = Plan.Make(options, finder);
            }
            catch (StartupException)
            {
                return new DoctorRow(Health.Limited, check, "not looked at: another row says what is in the way");
            }

            var address = options.Redis ?? new HostAndPort("127.0.0.1", 1); // a private one is not asked
            var redis = RedisLogin.At(address, options.RedisLogin);
            var place = plan.Log == LogKind.File ? RememberedPlace.Files
                : RememberedPlace.OfRedis(options.Redis is null ? RememberedPlace.PrivateRedis : RememberedPlace.Named(address), redis);
            if (new LogIdentityFile(file, place).Read() is not { } remembered) return new DoctorRow(Health.Good, check, "none is remembered here");
            var lost = plan.Log == LogKind.File ? await OfFiles(options, worker, remembered, file)
                : options.Redis is null ? OfPrivateRedis(options, remembered, file)
                : await RedisProbe.Unavailable(address, options.RedisLogin) is { } why ? throw new IOException(why)
                : await OfRedis(redis, worker, remembered, file);
            return lost is null ? new DoctorRow(Health.Good, check, "the one that is remembered") : new DoctorRow(Health.Broken, check, lost, FixHints.LostLog);
        }
        catch (LostLogException unreadable)
        {
            return new DoctorRow(Health.Broken, check, unreadable.Message, FixHints.LostLog);
        }
        catch (CorruptLogException damaged)
        {
            return new DoctorRow(Health.Broken, check, damaged.Message, FixHints.DamagedLog);
        }
        catch (Exception away) when (away is RedisException or TimeoutException or IOException or UnauthorizedAccessException)
        {
            return new DoctorRow(Health.Limited, check, $"could not be looked at: {away.Message}", FixHints.NamedRedis);
        }
    }

    private static async Task<string?> OfFiles(UpOptions options, string worker, LogIdentity remembered, string memory)
    {
        var folder = Path.Combine(options.DataDirectory, DataDirectory.WorkersFolder, worker);
        await using var log = new FileTransactionLog(folder);
        return DataLossGuard.Difference(remembered, await log.Look(CancellationToken.None), $"log in folder {folder}", memory);
    }

    private static async Task<string?> OfRedis(RedisOptions options, string worker, LogIdentity remembered, string memory)
    {
        await using var redis = await RedisConnections.Connect(options);
        await using var log = new RedisTransactionLog(redis, worker);
        return DataLossGuard.Difference(remembered, await log.Look(CancellationToken.None), $"log {log.StreamName} in Redis at {options.Host}:{options.Port}", memory);
    }

    private static string? OfPrivateRedis(UpOptions options, LogIdentity remembered, string memory)
    {
        var folder = Path.Combine(options.DataDirectory, "redis");
        var isThere = Directory.Exists(folder) && Directory.EnumerateFiles(folder, "*.aof", SearchOption.AllDirectories).Any();
        return isThere ? null : DataLossGuard.Difference(remembered, null, $"append-only file in {folder}", memory);
    }
}
