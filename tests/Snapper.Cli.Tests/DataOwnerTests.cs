using System.Runtime.InteropServices;
using System.Runtime.Versioning;
using Snapper.AspNetCore.Processes;
using Snapper.Cli.Doctor;
using Snapper.Cli.Supervision;
using Xunit;

namespace Snapper.Cli.Tests;

/// <summary>A data directory of another account is not trusted. Files of another account can only be made by root; the tests that need some say so elsewhere.</summary>
[SupportedOSPlatform("linux")]
public sealed class DataOwnerTests : IDisposable
{
    private const int Stranger = 54321;
    private const UnixFileMode OwnFolder = UnixFileMode.UserRead | UnixFileMode.UserWrite | UnixFileMode.UserExecute;
    private const UnixFileMode OpenFolder = OwnFolder | UnixFileMode.GroupRead | UnixFileMode.GroupExecute | UnixFileMode.OtherRead | UnixFileMode.OtherExecute;

    private readonly TempFolder _temp = new();

    public void Dispose() => _temp.Dispose();

    [Fact]
    public void The_owner_of_what_we_make_is_us_and_what_is_not_there_has_none()
    {
        Assert.Equal(Posix.EffectiveUser(), Posix.OwnerOf(_temp.Path, follow: true));
        Assert.Equal(Posix.EffectiveUser(), Posix.OwnerOf(_temp.Path, follow: false));
        Assert.Null(Posix.OwnerOf(_temp.File("none"), follow: true));
        Assert.Equal(0, Posix.OwnerOf("/proc/1", follow: true));
    }

    [NeedsRootTheory]
    [InlineData("")]
    [InlineData("run")]
    [InlineData("redis")]
    [InlineData("remembered")]
    [InlineData("up.lock")]
    [InlineData("redis-password")]
    [InlineData("mailbox-secret")]
    [InlineData("run/redis.conf")]
    public async Task What_belongs_to_another_account_is_refused_by_up_and_doctor_and_left_as_it_is(string name)
    {
        var root = Filled();
        var foreign = name.Length == 0 ? root : Path.Combine(root, name);
        ChangeOwner(foreign, Stranger);
        var mode = File.GetUnixFileMode(foreign);
        var ports = Ports.Free(2);
        await using (var up = UpProcess.Start("up", root, ports[0] - 1, ports[1], "--embedded"))
        {
            Assert.Equal(1, await up.Exit());
            Assert.Contains($"the data directory {root} cannot be used: {foreign} belongs to another account (uid {Stranger}, this one is 0); {FixHints.Owner}", up.ErrorText);
        }

        Assert.Equal(mode, File.GetUnixFileMode(foreign));
        foreach (var check in (string[])["data directory", "rights on data"]) Assert.Equal((Health.Broken, FixHints.Owner), (Row(root, check).Health, Row(root, check).Fix));
        Assert.DoesNotContain("of this account alone", Row(root, "rights on data").Finding);

        ChangeOwner(foreign, 0);
        DataDirectory.Open(root).Dispose();
        Assert.Equal(Health.Good, Row(root, "data directory").Health);
    }

    [NeedsRootFact]
    public void What_a_link_points_to_must_be_ours_too()
    {
        var root = Filled();
        Directory.Delete(Path.Combine(root, "redis"));
        var elsewhere = Directory.CreateDirectory(_temp.File("elsewhere")).FullName;
        Directory.CreateSymbolicLink(Path.Combine(root, "redis"), elsewhere);
        DataDirectory.Open(root).Dispose();
        ChangeOwner(elsewhere, Stranger);
        var problem = Assert.Throws<StartupException>(() => DataDirectory.Open(root));
        Assert.Contains($"what {Path.Combine(root, "redis")} points to belongs to another account (uid {Stranger}, this one is 0); {FixHints.Owner}", problem.Message);
    }

    [NeedsRootFact]
    public void What_another_account_put_into_our_folders_is_refused_however_deep_and_what_root_put_there_is_not()
    {
        var root = Filled();
        File.CreateSymbolicLink(Path.Combine(root, "run", "of-root"), "/proc/1/environ");
        DataDirectory.Open(root).Dispose();

        var deep = Directory.CreateDirectory(Path.Combine(root, "redis", "appendonlydir")).FullName;
        var planted = Path.Combine(deep, "1.aof");
        File.CreateSymbolicLink(planted, _temp.File("victim"));
        OwnLink(planted, Stranger);
        var problem = Assert.Throws<StartupException>(() => DataDirectory.Open(root));
        Assert.Contains($"{planted} belongs to another account (uid {Stranger}, this one is 0); {FixHints.Planted}", problem.Message);
        foreach (var check in (string[])["data directory", "rights on data"]) Assert.Equal((Health.Broken, FixHints.Planted), (Row(root, check).Health, Row(root, check).Fix));

        File.Delete(planted);
        DataDirectory.Open(root).Dispose();
    }

    [Fact]
    public void A_folder_above_that_everybody_may_change_is_told()
    {
        var above = Directory.CreateDirectory(_temp.File("above")).FullName;
        var root = Path.Combine(above, "data");
        DataDirectory.Open(root).Dispose();
        Assert.Equal(Health.Good, Row(root, "rights on data").Health);

        File.SetUnixFileMode(above, OpenFolder | UnixFileMode.GroupWrite | UnixFileMode.OtherWrite);
        Assert.Equal((Health.Limited, $"every account may change {above}, and so put what it likes in the place of {root}", FixHints.Parent), (Row(root, "rights on data").Health, Row(root, "rights on data").Finding, Row(root, "rights on data").Fix));
        DataDirectory.Open(root).Dispose();

        File.SetUnixFileMode(above, OpenFolder | UnixFileMode.GroupWrite | UnixFileMode.OtherWrite | UnixFileMode.StickyBit);
        Assert.Equal(Health.Good, Row(root, "rights on data").Health);
    }

    [NeedsRootFact]
    public void A_worker_starts_on_a_folder_of_another_account_all_the_same()
    {
        // As Kubernetes mounts one.
        var root = Directory.CreateDirectory(_temp.File("volume")).FullName;
        ChangeOwner(root, Stranger);
        File.SetUnixFileMode(root, OpenFolder | UnixFileMode.GroupWrite | UnixFileMode.SetGroup);
        FileModeMask.MakeFolder(Path.Combine(root, "logs"));
        Assert.Empty(DataDirectoryPermissions.CloseFolders(root, Assert.Fail));
    }

    [Fact]
    public void A_directory_that_others_may_change_is_refused_until_it_is_closed()
    {
        var root = Directory.CreateDirectory(_temp.File("open")).FullName;
        foreach (var write in (UnixFileMode[])[UnixFileMode.GroupWrite, UnixFileMode.OtherWrite])
        {
            File.SetUnixFileMode(root, OpenFolder | write);
            var problem = Assert.Throws<StartupException>(() => DataDirectory.Open(root));
            Assert.Equal($"the data directory {root} cannot be used: other accounts may change {root}, and put what they like in the place of its folders; {FixHints.Rights}", problem.Message);
            Assert.Empty(Directory.EnumerateFileSystemEntries(root));
            Assert.Equal((Health.Broken, FixHints.Rights), (Row(root, "data directory").Health, Row(root, "data directory").Fix));
        }

        foreach (var fine in (UnixFileMode[])[OpenFolder, OwnFolder, OpenFolder | UnixFileMode.OtherWrite | UnixFileMode.StickyBit])
        {
            File.SetUnixFileMode(root, fine);
            DataDirectory.Open(root).Dispose();
            Assert.Equal(fine, File.GetUnixFileMode(root));
        }
    }

    [Fact]
    public void Nothing_is_closed_through_a_link()
    {
        var root = _temp.File("data");
        DataDirectory.Open(root).Dispose();
        var elsewhere = Directory.CreateDirectory(_temp.File("elsewhere")).FullName;
        File.SetUnixFileMode(elsewhere, OpenFolder);
        Directory.CreateSymbolicLink(Path.Combine(root, "audit"), elsewhere);
        Assert.Empty(DataDirectoryPermissions.Close(root, Assert.Fail));
        Assert.Equal(OpenFolder, File.GetUnixFileMode(elsewhere));
        Assert.Equal($"other accounts may look into {Path.Combine(root, "audit")} (a link, which 'up' leaves as it is)", Row(root, "rights on data").Finding);
    }

    private string Filled()
    {
        var root = _temp.File("data");
        using var data = DataDirectory.Open(root);
        FileModeMask.MakeFolder(data.Redis);
        FileModeMask.MakeFolder(Path.Combine(root, DataDirectory.RememberedFolder));
        PrivateRedisSecret.Take(data);
        SecretFile.Take(Path.Combine(root, DataDirectory.MailboxSecretFile), "the secret of the workers");
        return root;
    }

    private static DoctorRow Row(string root, string check) => MachineChecks.DiskAndMemory(root).Single(row => row.Check == check);

    private static void ChangeOwner(string path, int user) => Assert.Equal(0, ChangeOwner(path, user, -1));

    private static void OwnLink(string path, int user) => Assert.Equal(0, ChangeLinkOwner(path, user, -1));

    [DllImport("libc", EntryPoint = "lchown", CharSet = CharSet.Ansi)]
    private static extern int ChangeLinkOwner([MarshalAs(UnmanagedType.LPUTF8Str)] string path, int user, int group);

    [DllImport("libc", EntryPoint = "chown", CharSet = CharSet.Ansi)]
    private static extern int ChangeOwner([MarshalAs(UnmanagedType.LPUTF8Str)] string path, int user, int group);
}

/// <summary>Gives files to another account, which root alone can.</summary>
[SupportedOSPlatform("linux")]
public sealed class NeedsRootFactAttribute : FactAttribute
{
    internal const string Why = "gives files to another account, which root alone can";

    public NeedsRootFactAttribute()
    {
        if (!OperatingSystem.IsLinux() || Posix.EffectiveUser() != 0) Skip = Why;
    }
}

/// <inheritdoc cref="NeedsRootFactAttribute"/>
[SupportedOSPlatform("linux")]
public sealed class NeedsRootTheoryAttribute : TheoryAttribute
{
    public NeedsRootTheoryAttribute()
    {
        if (!OperatingSystem.IsLinux() || Posix.EffectiveUser() != 0) Skip = NeedsRootFactAttribute.Why;
    }
}
