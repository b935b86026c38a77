using System.Text.Json;
using Microsoft.Extensions.Logging.Abstractions;
using Snapper.AspNetCore.Api.Access;
using Snapper.AspNetCore.Api.Answers;
using Snapper.Security;
using Snapper.Server.Tests.Harness;
using Xunit;

namespace Snapper.Server.Tests.Access;

/// <summary>Who did what, and who tried.</summary>
public sealed class AuditTests
{
    private static readonly AccessRow s_migrate = AccessTable.Rows.First(row => row.Action == "migrate");

    [Fact]
    public async Task Admin_actions_and_refused_attempts_are_written_down_with_who_what_and_from_where()
    {
        await using var worker = await SecuredWorker.Start();
        await worker.Read(Role.Viewer, "POST", "/v1/leave");
        await worker.Read(Role.Admin, "POST", "/v1/leave");
        await worker.Read(Role.Nobody, "POST", "/v1/migrations", "{}");
        await worker.Read(Role.Operator, "GET", "/v1/status");

        Assert.Equal(403, (await worker.Read(Role.Viewer, "GET", "/v1/audit")).Status);
        var answer = await worker.Read(Role.Operator, "GET", "/v1/audit?limit=10");
        Assert.Equal("w1", answer.String("worker"));
        var entries = answer.Json.GetProperty("entries").EnumerateArray().Select(entry => (
            entry.GetProperty("who").GetString(), entry.GetProperty("role").GetString(), entry.GetProperty("action").GetString(), entry.GetProperty("outcome").GetString(), entry.GetProperty("from").GetString())).ToArray();
        Assert.Equal(
            [
                ("viewer", "viewer", "GET /v1/audit", "403", "127.0.0.1"),
                ("nobody", "nobody", "migrate", "401", "127.0.0.1"),
                ("admin", "admin", "leave", "404", "127.0.0.1"),
                ("viewer", "viewer", "leave", "403", "127.0.0.1"),
            ],
            entries);
        Assert.Equal(4, (await File.ReadAllLinesAsync(worker.AuditFile)).Length);
    }

    [Fact]
    public void It_is_bounded_in_memory_and_on_disk_and_shows_no_secret()
    {
        using var folder = new TempFolder();
        var file = Path.Combine(folder.Path, "audit", "w1.jsonl");
        var token = TokenHash.NewToken();
        var tokens = new KnownTokens([new TokenSettings { Name = "ann", Role = "admin", Sha256 = TokenHash.Of(token) }]);
        var audit = new AuditLog(file, tokens, NullLogger.Instance, TimeProvider.System, fileBytesMax: 20_000);
        var caller = new RequestCaller(tokens.Find(token)!, null, "10.0.0.1");
        for (var i = 0; i < 1500; i++)
        {
            var note = new AuditNote();
            audit.Done(s_migrate, caller, note, 202);
        }

        audit.Refused(s_migrate, caller, new Problem(403, "t", "t", $"with {token} and\nnewlines " + new string('x', 1000)));

        Assert.Equal(AuditLog.KeptMax + 1, audit.Newest(5000).Count);
        var newest = audit.Newest(1)[0];
        Assert.Contains("(secret)", newest.Reason, StringComparison.Ordinal);
        Assert.DoesNotContain(token, newest.Reason, StringComparison.Ordinal);
        Assert.DoesNotContain("\n", newest.Reason, StringComparison.Ordinal);
        Assert.True(newest.Reason!.Length < 400);
        var files = Directory.GetFiles(Path.GetDirectoryName(file)!);
        Assert.Equal(AuditLog.FilesMax, files.Length);
        Assert.All(files, one => Assert.InRange(new FileInfo(one).Length, 1, 21_000));
        Assert.All(files, one => Assert.DoesNotContain(token, File.ReadAllText(one), StringComparison.Ordinal));
        Assert.Equal("403", JsonDocument.Parse(File.ReadLines(file).Last()).RootElement.GetProperty("outcome").GetString());
    }

    [Fact]
    public void Attempts_of_strangers_cannot_drive_out_what_others_did()
    {
        var audit = AuditLog.InMemory(NullLogger.Instance);
        var ann = new RequestCaller(new Principal("ann", Role.Admin), null, "10.0.0.1");
        var stranger = new RequestCaller(Principal.Nobody, null, "10.0.0.2");
        audit.Done(s_migrate, ann, new AuditNote(), 202);
        for (var i = 0; i < 5000; i++) audit.Refused(s_migrate, stranger, new Problem(401, "t", "t", "d"));
        audit.Done(s_migrate, ann, new AuditNote(), 200);

        var entries = audit.Newest(5000);
        Assert.InRange(entries.Count, 3, 100);
        Assert.Equal("202", entries[^1].Outcome);
        Assert.Equal("200", entries[0].Outcome);
        Assert.InRange(entries[0].LeftOut, 4000, 5000);
    }

    [Fact]
    public void Refusals_of_one_who_is_known_drive_out_neither_actions_nor_files()
    {
        using var folder = new TempFolder();
        var file = Path.Combine(folder.Path, "audit", "w1.jsonl");
        var clock = new StillTime();
        var audit = new AuditLog(file, new KnownTokens([]), NullLogger.Instance, clock);
        var ann = new RequestCaller(new Principal("ann", Role.Admin), null, "10.0.0.1");
        var bob = new RequestCaller(new Principal("bob", Role.Caller), null, "10.0.0.2");
        var zoe = new RequestCaller(new Principal("zoe", Role.Operator), null, "10.0.0.3");
        audit.Done(s_migrate, ann, new AuditNote(), 202);
        for (var i = 0; i < 1100; i++)
        {
            audit.Refused(s_migrate, bob, new Problem(i < 5 ? 403 : 429, "t", "t", "d"));
            audit.Done(s_migrate, zoe, new AuditNote(), 400); // what an operator asks for in wrong words
        }

        Assert.Equal(1 + (2 * RefusalBuckets.AtOnce), File.ReadAllLines(file).Length);
        Assert.Equal("202", audit.Newest(5000)[^1].Outcome);

        // For days, as fast as they are written down.
        for (var i = 0; i < 5000; i++)
        {
            clock.Pass(RefusalBuckets.Every);
            audit.Refused(s_migrate, bob, new Problem(403, "t", "t", "d"));
        }

        var entries = audit.Newest(5000);
        Assert.Equal(("ann", "202"), (entries[^1].Who, entries[^1].Outcome));
        Assert.Equal(AuditLog.RefusedKeptMax + 1, entries.Count);
        Assert.Contains("\"who\":\"ann\"", File.ReadLines(file).First(), StringComparison.Ordinal);
        Assert.Single(Directory.GetFiles(Path.GetDirectoryName(file)!));

        // One who is over the measure does not silence others.
        audit.Refused(s_migrate, ann, new Problem(409, "t", "t", "d"));
        Assert.Equal("ann", audit.Newest(1)[0].Who);
    }

    [Fact]
    public async Task A_caller_over_its_rate_leaves_what_the_admin_did_in_the_audit()
    {
        await using var worker = await SecuredWorker.Start(also: new() { ["Snapper:Security:Tokens:0:RatePerSecond"] = "5" });
        await worker.Read(Role.Admin, "POST", "/v1/leave");
        for (var i = 0; i < 100; i++) await worker.Read(Role.Caller, "POST", "/v1/migrations", "{}");
        Assert.InRange((await File.ReadAllLinesAsync(worker.AuditFile)).Length, 2, 30);
        var answer = await worker.Read(Role.Admin, "GET", "/v1/audit?limit=100");
        Assert.Contains(answer.Json.GetProperty("entries").EnumerateArray(), entry => entry.GetProperty("action").GetString() == "leave");
    }
}
