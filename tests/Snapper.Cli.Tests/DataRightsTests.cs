using System.Runtime.Versioning;
using Microsoft.Extensions.Logging.Abstractions;
using Snapper.AspNetCore.Api.Access;
using Snapper.AspNetCore.Processes;
using Snapper.Cli.Commands;
using Snapper.Cli.Doctor;
using Snapper.Cli.Supervision;
using Snapper.Security;
using Snapper.Server.Tests.Access;
using Xunit;

namespace Snapper.Cli.Tests;

/// <summary>Who may look into a data directory.</summary>
[SupportedOSPlatform("linux")]
public sealed class DataRightsTests : IDisposable
{
    private const UnixFileMode OwnFile = UnixFileMode.UserRead | UnixFileMode.UserWrite;
    private const UnixFileMode OwnFolder = OwnFile | UnixFileMode.UserExecute;
    private const UnixFileMode OpenFile = OwnFile | UnixFileMode.GroupRead | UnixFileMode.OtherRead;
    private const UnixFileMode OpenFolder = OpenFile | UnixFileMode.UserExecute | UnixFileMode.GroupExecute | UnixFileMode.OtherExecute;

    private readonly TempFolder _temp = new();

    public void Dispose() => _temp.Dispose();

    [Fact]
    public void What_up_makes_is_closed()
    {
        var root = _temp.File("new");
        using var data = DataDirectory.Open(root);
        Assert.All((string[])[root, data.Logs, data.Run], folder => Assert.Equal(OwnFolder, File.GetUnixFileMode(folder)));
        Assert.Equal(OwnFile, File.GetUnixFileMode(Path.Combine(root, "up.lock")));
        Assert.Empty(DataDirectoryPermissions.Close(root, Assert.Fail));
        Assert.Null(DataDirectoryPermissions.Open(root));
    }

    [Theory]
    [InlineData("data", null)]
    [InlineData(".snapper", "fuzz")] // our name: whatever else is in it
    public void What_an_earlier_version_made_is_closed_once(string name, string? beside)
    {
        var root = Earlier(name);
        if (beside is not null) Folder(root, beside);
        Assert.Contains("which an earlier version left open", DataDirectoryPermissions.Open(root));
        Assert.Equal(FixHints.EarlierRights, Row(root).Fix);

        var closed = DataDirectoryPermissions.Close(root, Assert.Fail);
        Assert.Equal([root, Path.Combine(root, "logs"), Path.Combine(root, "redis"), Path.Combine(root, "audit")], closed);
        Assert.All(closed, folder => Assert.Equal(OwnFolder, File.GetUnixFileMode(folder)));
        Assert.Equal(OwnFile, File.GetUnixFileMode(Path.Combine(root, "up.lock")));
        Assert.Null(DataDirectoryPermissions.Open(root));
        Assert.Equal(Health.Good, Row(root).Health);

        // What its owner opens afterwards is meant so.
        File.SetUnixFileMode(root, OpenFolder);
        Assert.Empty(DataDirectoryPermissions.Close(root, Assert.Fail));
        Assert.Equal(OpenFolder, File.GetUnixFileMode(root));
    }

    [Fact]
    public void A_directory_that_holds_something_else_is_left_as_it_is_and_the_doctor_says_so()
    {
        var root = Earlier("shared");
        Folder(root, "photos");
        Assert.Equal([Path.Combine(root, "logs"), Path.Combine(root, "redis"), Path.Combine(root, "audit")], DataDirectoryPermissions.Close(root, Assert.Fail));
        Assert.Equal(OpenFolder, File.GetUnixFileMode(root));
        Assert.Equal(OpenFolder, File.GetUnixFileMode(Path.Combine(root, "photos")));
        Assert.Equal($"other accounts may look into {root}", DataDirectoryPermissions.Open(root));
        Assert.Equal((Health.Limited, FixHints.Rights), (Row(root).Health, Row(root).Fix));

        File.SetUnixFileMode(root, OpenFolder | UnixFileMode.OtherWrite);
        Assert.Contains($"may change {root}", Row(root).Finding);
    }

    [Fact]
    public async Task An_empty_directory_of_the_user_is_left_as_it_is_also_by_up()
    {
        var root = Folder(_temp.Path, "mine");
        var ports = Ports.Free(2);
        for (var start = 0; start < 2; start++)
        {
            await using var up = UpProcess.Start("up", root, ports[0] - 1, ports[1], "--embedded");
            await up.Ready();
            up.Signal(Posix.Terminate);
            Assert.Equal(0, await up.Exit());
            Assert.Equal(OpenFolder, File.GetUnixFileMode(root));
            Assert.DoesNotContain("could look into", up.ErrorText);
            var inside = Directory.GetFileSystemEntries(root, "*", SearchOption.AllDirectories);
            Assert.Contains(inside, path => path.EndsWith("meta.json", StringComparison.Ordinal)); // the log of the worker, a process of its own
            Assert.All(inside, path => Assert.False(FileModeMask.IsOpen(path), path));
        }

        var doctor = new StringWriter();
        Assert.Equal(ExitCode.Success, await CommandLine.Run(["doctor", "--embedded", "--data", root, "--base-port", $"{ports[0] - 1}", "--sidecar-port", $"{ports[1]}"], doctor, doctor));
        Assert.Matches("note +rights on data", doctor.ToString());
    }

    [Fact]
    public void The_audit_is_closed_also_when_it_was_open()
    {
        var folder = _temp.File("audit");
        var file = Path.Combine(folder, "w1.jsonl");
        foreach (var open in (bool[])[false, true])
        {
            if (open) File.SetUnixFileMode(file, OpenFile);
            var audit = new AuditLog(file, new KnownTokens([]), NullLogger.Instance, TimeProvider.System);
            audit.Done(AccessTable.Rows.First(row => row.Action is not null), new RequestCaller(new Principal("ann", Role.Admin), null, "10.0.0.1"), new AuditNote(), 202);
            Assert.Equal((OwnFolder, OwnFile), (File.GetUnixFileMode(folder), File.GetUnixFileMode(file)));
        }

        Assert.Equal(2, File.ReadAllLines(file).Length);
    }

    private static DoctorRow Row(string root) => MachineChecks.DiskAndMemory(root).Single(row => row.Check == "rights on data");

    private static string Folder(string parent, string name)
    {
        var folder = Directory.CreateDirectory(Path.Combine(parent, name)).FullName;
        File.SetUnixFileMode(folder, OpenFolder);
        return folder;
    }

    private string Earlier(string name)
    {
        var root = Folder(_temp.Path, name);
        foreach (var folder in (string[])["logs", "run", "redis", "audit"]) Folder(root, folder);
        File.SetUnixFileMode(Path.Combine(root, "run"), OwnFolder); // not named, because it was closed
        foreach (var file in (string[])["up.lock", "up.pid", "log-kind"])
        {
            File.WriteAllText(Path.Combine(root, file), "");
            File.SetUnixFileMode(Path.Combine(root, file), OpenFile);
        }

        return root;
    }
}
