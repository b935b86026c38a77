using System.Diagnostics;
using Snapper.AspNetCore.Processes;
using Snapper.Cli.Supervision;
using Xunit;

namespace Snapper.Cli.Tests.Setup;

/// <summary><c>setup</c> on a machine that is a folder: its own PATH, home, package managers and release page.</summary>
public sealed class SetupTests : IAsyncLifetime
{
    private readonly TempFolder _temp = new();
    private readonly Dictionary<string, string> _environment = new(StringComparer.Ordinal);
    private ReleasePage _page = null!;

    // What the script itself runs; the package managers are the test's.
    private static readonly string[] s_tools =
    [
        "awk", "basename", "bash", "cat", "chmod", "cp", "curl", "cut", "dirname", "env", "flock", "grep", "gzip", "head", "mkdir", "mv", "rm",
        "sh", "sha256sum", "tar",
    ];

    private string Bin => _temp.File("home/.dapr/bin");

    public async Task InitializeAsync()
    {
        _page = await ReleasePage.Start();
        Directory.CreateDirectory(_temp.File("bin"));
        Directory.CreateDirectory(_temp.File("tools"));
        foreach (var tool in s_tools)
        {
            if (ExecutableFinder.System.Find(tool, "SNAPPER_NONE") is [var path, ..]) File.CreateSymbolicLink(_temp.File($"tools/{tool}"), path);
        }

        _environment["PATH"] = _temp.File("bin") + ":" + _temp.File("tools");
        _environment["HOME"] = _temp.File("home");
        _environment["SNAPPER_DAPR_RELEASES"] = _page.Url;
    }

    public async Task DisposeAsync()
    {
        await _page.DisposeAsync();
        _temp.Dispose();
    }

    private async Task<(int Exit, string Said)> Setup(string answers, params string[] options) => await Setup(answers, isRoot: true, options);

    private async Task<(int Exit, string Said)> Setup(string answers, bool isRoot, params string[] options)
    {
        _temp.Script("bin/id", isRoot ? "echo 0" : "echo 1000");
        _temp.Script("bin/uname", "[ \"$1\" = -s ] && echo Linux || echo x86_64");
        var script = Path.Combine(Repository.Find()!, "src", "Snapper.Cli", "setup.sh");
        var start = new ProcessStartInfo("/bin/bash", [script, .. options])
        {
            RedirectStandardInput = true, RedirectStandardOutput = true, RedirectStandardError = true,
        };
        start.Environment.Clear();
        foreach (var (name, value) in _environment) start.Environment[name] = value;
        using var process = Process.Start(start)!;
        try
        {
            await process.StandardInput.WriteAsync(answers);
            process.StandardInput.Close();
        }
        catch (IOException)
        {
            // It has ended without a question.
        }

        var (output, errors) = (process.StandardOutput.ReadToEndAsync(), process.StandardError.ReadToEndAsync());
        await process.WaitForExitAsync().WaitAsync(TimeSpan.FromMinutes(2));
        return (process.ExitCode, await output + await errors);
    }

    private void PublishBoth() => _page.Publish("daprd", "echo 1.18.1").Publish("placement", "echo usage");

    private void RequireNothingInPlace()
    {
        var left = Directory.Exists(Bin) ? Directory.GetFileSystemEntries(Bin) : [];
        Assert.Empty(left);
    }

    [Fact]
    public async Task Both_programs_come_checked_and_runnable_after_a_yes_each()
    {
        PublishBoth();
        var (exit, said) = await Setup("y\nyes\n", "--only", "dapr");
        Assert.True(exit == ExitCode.Success, said);
        Assert.Contains($"fetch {_page.Url}/v1.18.1/daprd_linux_amd64.tar.gz", said);
        Assert.Contains($"fetch {_page.Url}/v1.18.1/placement_linux_amd64.tar.gz", said);
        Assert.Contains("has the published SHA-256", said);
        Assert.Equal(["daprd", "placement"], Directory.GetFileSystemEntries(Bin).Select(Path.GetFileName).Order());
        var finder = new ExecutableFinder(_environment.GetValueOrDefault, _temp.File("home"));
        Assert.Equal((new Version(1, 18, 1), Path.Combine(Bin, "placement")), (ServerPrograms.Daprd(finder).Version, ServerPrograms.Placement(finder).Path));

        _page.Asked.Clear();
        Assert.Equal(ExitCode.Success, (await Setup("", "--only", "dapr")).Exit);
        Assert.Empty(_page.Asked);
    }

    [Theory]
    [InlineData("n\n")]
    [InlineData("\n")]
    [InlineData("")]
    [InlineData("y\nn\n")]
    public async Task Without_every_yes_nothing_is_put_in_place(string answers)
    {
        PublishBoth();
        var (exit, said) = await Setup(answers, "--only", "dapr");
        Assert.Equal(ExitCode.Failure, exit);
        Assert.Contains("nothing was put in place", said);
        RequireNothingInPlace();
        if (!answers.StartsWith('y')) Assert.Empty(_page.Asked);
    }

    [Fact]
    public async Task Yes_for_scripts_asks_nobody()
    {
        PublishBoth();
        Assert.Equal(ExitCode.Success, (await Setup("", "--only", "dapr", "--yes")).Exit);
    }

    [Fact]
    public async Task A_wrong_checksum_installs_nothing_and_is_told()
    {
        PublishBoth();
        _page.Put("/v1.18.1/placement_linux_amd64.tar.gz", ReleasePage.Archive(("placement", "echo evil")));
        var (exit, said) = await Setup("", "--only", "dapr", "--yes");
        Assert.Equal(ExitCode.Failure, exit);
        Assert.Contains("placement_linux_amd64.tar.gz is not what was published", said);
        RequireNothingInPlace();
    }

    [Theory]
    [InlineData("not a sum at all", "holds no SHA-256 of daprd_linux_amd64.tar.gz")]
    [InlineData("aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa  other.tar.gz", "holds no SHA-256 of daprd_linux_amd64.tar.gz")]
    public async Task A_checksum_file_of_something_else_is_none(string text, string message)
    {
        PublishBoth();
        _page.Put("/v1.18.1/daprd_linux_amd64.tar.gz.sha256", System.Text.Encoding.UTF8.GetBytes(text));
        Assert.Contains(message, (await Setup("", "--only", "dapr", "--yes")).Said);
        RequireNothingInPlace();
    }

    [Fact]
    public async Task A_download_that_breaks_off_leaves_nothing()
    {
        PublishBoth();
        var whole = ReleasePage.Archive(("daprd", "echo 1.18.1"));
        _page.Answer("/v1.18.1/daprd_linux_amd64.tar.gz", async context =>
        {
            context.Response.ContentLength = whole.Length;
            await context.Response.Body.WriteAsync(whole.AsMemory(0, whole.Length / 2));
            await context.Response.Body.FlushAsync();
            context.Abort();
        });
        var (exit, said) = await Setup("", "--only", "dapr", "--yes");
        Assert.Equal(ExitCode.Failure, exit);
        Assert.Contains("could not be fetched", said); // before its headers, or in the middle: as far as it came
        RequireNothingInPlace();
    }

    [Fact]
    public async Task What_a_killed_setup_left_is_cleared_and_never_taken_for_a_program()
    {
        PublishBoth();
        Directory.CreateDirectory(Path.Combine(Bin, ".setup"));
        File.WriteAllText(Path.Combine(Bin, ".setup", "daprd"), "half of it");
        Assert.Equal(ExitCode.Success, (await Setup("", "--only", "dapr", "--yes")).Exit);
        Assert.Equal(["daprd", "placement"], Directory.GetFileSystemEntries(Bin).Select(Path.GetFileName).Order());
    }

    [Theory]
    [InlineData("echo 1.17.0", "daprd says that it is 1.17.0, and 1.18.1 is needed")]
    [InlineData("echo hello", "daprd says that it is nothing that can be understood")]
    public async Task A_daprd_of_another_version_than_was_asked_for_is_not_installed(string script, string message)
    {
        _page.Publish("daprd", script).Publish("placement", "echo usage");
        var (exit, said) = await Setup("", "--only", "dapr", "--yes");
        Assert.Equal(ExitCode.Failure, exit);
        Assert.Contains(message, said);
        RequireNothingInPlace();
    }

    [Fact]
    public async Task An_archive_without_the_program_or_with_a_link_for_it_is_refused()
    {
        PublishBoth();
        PublishRaw(ReleasePage.Archive(("other", "echo 1.18.1")));
        Assert.Contains("holds no daprd", (await Setup("", "--only", "dapr", "--yes")).Said);
        PublishRaw("no archive"u8.ToArray());
        Assert.Contains("is no whole tar.gz", (await Setup("", "--only", "dapr", "--yes")).Said);
        using var bytes = new MemoryStream();
        using (var compressed = new System.IO.Compression.GZipStream(bytes, System.IO.Compression.CompressionLevel.Fastest, leaveOpen: true))
        using (var tar = new System.Formats.Tar.TarWriter(compressed))
        {
            tar.WriteEntry(new System.Formats.Tar.PaxTarEntry(System.Formats.Tar.TarEntryType.SymbolicLink, "daprd") { LinkName = "/bin/sh" });
        }

        PublishRaw(bytes.ToArray());
        Assert.Contains("daprd is no regular file", (await Setup("", "--only", "dapr", "--yes")).Said);
        RequireNothingInPlace();

        void PublishRaw(byte[] archive)
        {
            _page.Put("/v1.18.1/daprd_linux_amd64.tar.gz", archive);
            _page.Put("/v1.18.1/daprd_linux_amd64.tar.gz.sha256", System.Text.Encoding.UTF8.GetBytes(ReleasePage.Sum(archive)));
        }
    }

    [Fact]
    public async Task Redirects_are_followed_but_not_to_an_address_without_TLS()
    {
        PublishBoth();
        _page.Answer("/copy/v1.18.1/daprd_linux_amd64.tar.gz", context => Send(context, $"{_page.Url}/v1.18.1/daprd_linux_amd64.tar.gz"));
        _page.Answer("/copy/v1.18.1/daprd_linux_amd64.tar.gz.sha256", context => Send(context, "/v1.18.1/daprd_linux_amd64.tar.gz.sha256"));
        _page.Answer("/copy/v1.18.1/placement_linux_amd64.tar.gz.sha256", context => Send(context, "http://192.0.2.1/placement.sha256"));
        var (exit, said) = await Setup("", "--only", "dapr", "--yes", "--dapr-releases", _page.Url + "/copy");
        Assert.Equal(ExitCode.Failure, exit);
        Assert.Contains("daprd_linux_amd64.tar.gz has the published SHA-256", said);
        Assert.Contains("sends us elsewhere, and that address must be https, or http on this machine, not 'http://192.0.2.1'", said);
        RequireNothingInPlace();

        static Task Send(Microsoft.AspNetCore.Http.HttpContext context, string to)
        {
            context.Response.Redirect(to);
            return Task.CompletedTask;
        }
    }

    [Theory]
    [InlineData("http://example.org/dapr", "must be https")]
    [InlineData("https://me:secret@example.org/dapr", "must not hold a user or a password")]
    [InlineData("ftp://example.org", "must be https")]
    [InlineData("dapr", "must be an address")]
    public async Task Other_release_pages_than_trustworthy_ones_are_refused(string url, string message)
    {
        var (exit, said) = await Setup("", "--only", "dapr", "--yes", "--dapr-releases", url);
        Assert.Equal(ExitCode.Usage, exit);
        Assert.Contains(message, said);
        Assert.DoesNotContain("secret", said);
        _environment["SNAPPER_DAPR_RELEASES"] = url;
        Assert.Equal(ExitCode.Usage, (await Setup("", "--only", "dapr", "--yes")).Exit);
    }

    [Theory]
    [InlineData("--only must be redis or dapr, not 'all'", "--only", "all")]
    [InlineData("--offline and --from contradict each other", "--offline", "--from", "x")]
    [InlineData("--from brings Dapr, and --only redis leaves it out", "--from=x", "--only=redis")]
    [InlineData("--from needs a value", "--from")]
    [InlineData("--yes takes no value", "--yes=1")]
    [InlineData("no option '--all'", "--all")]
    public async Task A_wrong_line_is_refused_with_exit_code_2(string message, params string[] options)
    {
        var (exit, said) = await Setup("", options);
        Assert.Equal(ExitCode.Usage, exit);
        Assert.Contains(message, said);
    }

    [Fact]
    public async Task Offline_fetches_nothing_and_says_what_to_put_where()
    {
        var (exit, said) = await Setup("", "--offline");
        Assert.Equal(ExitCode.Failure, exit);
        Assert.Empty(_page.Asked);
        foreach (var part in (string[])["sudo apt-get update && sudo apt-get install -y redis-server", "dnf install", "brew install redis", "daprd_linux_amd64.tar.gz.sha256", "placement_linux_amd64.tar.gz", Bin, "SNAPPER_DAPRD", "--from FOLDER"])
        {
            Assert.Contains(part, said);
        }

        RequireNothingInPlace();
    }

    [Fact]
    public async Task A_folder_that_was_filled_elsewhere_is_checked_and_taken()
    {
        var folder = Directory.CreateDirectory(_temp.File("carried here")).FullName;
        var archive = ReleasePage.Archive(("daprd", "echo 1.18.1"));
        File.WriteAllBytes(Path.Combine(folder, "daprd_linux_amd64.tar.gz"), archive);
        File.WriteAllText(Path.Combine(folder, "daprd_linux_amd64.tar.gz.sha256"), ReleasePage.Sum(archive));
        File.WriteAllText(Path.Combine(folder, "placement"), "#!/bin/sh\necho usage\n");
        var (exit, said) = await Setup("", "--only", "dapr", "--from", folder);
        Assert.Equal(ExitCode.Failure, exit);
        Assert.Contains("SHA256SUMS, so placement cannot be checked", said);
        RequireNothingInPlace();

        File.WriteAllText(Path.Combine(folder, "SHA256SUMS"), new string('0', 64) + "  placement\n");
        Assert.Contains("placement is not what was published", (await Setup("", "--only", "dapr", "--from", folder)).Said);
        RequireNothingInPlace();

        File.WriteAllText(Path.Combine(folder, "SHA256SUMS"), ReleasePage.Sum(File.ReadAllBytes(Path.Combine(folder, "placement"))) + " *placement\n");
        (exit, said) = await Setup("", "--only", "dapr", "--from", folder);
        Assert.True(exit == ExitCode.Success, said);
        Assert.Empty(_page.Asked);
    }

    [Fact]
    public async Task A_script_fills_a_folder_of_its_own_and_only_what_runs_is_taken()
    {
        var script = _temp.Script("install", """
            mkdir -p "$DAPR_RUNTIME_PATH/.dapr/bin" && cd "$DAPR_RUNTIME_PATH/.dapr/bin"
            printf '#!/bin/sh\necho 1.18.2\n' >daprd
            [ -e "$0.broken" ] || printf '#!/bin/sh\necho usage\n' >placement
            """);
        Assert.Contains("not done", (await Setup("n\n", "--only", "dapr", "--from", script)).Said);
        RequireNothingInPlace();
        File.WriteAllText(script + ".broken", "");
        Assert.Contains("made no .dapr/bin/placement", (await Setup("y\n", "--only", "dapr", "--from", script)).Said);
        RequireNothingInPlace();
        File.Delete(script + ".broken");
        var (exit, said) = await Setup("y\n", "--only", "dapr", "--from", script);
        Assert.True(exit == ExitCode.Success, said);
        Assert.Equal(["daprd", "placement"], Directory.GetFileSystemEntries(Bin).Select(Path.GetFileName).Order());
    }

    [Fact]
    public async Task Redis_comes_by_the_package_manager_and_its_command_is_shown_before()
    {
        FakePackageManager("apt-get");
        var (exit, said) = await Setup("n\n", "--only", "redis");
        Assert.Equal(ExitCode.Failure, exit);
        Assert.Contains("run 'apt-get update && apt-get install -y redis-server'?", said);
        Assert.False(File.Exists(_temp.File("ran")));
        Assert.Equal(ExitCode.Success, (await Setup("y\n", "--only", "redis")).Exit);
        Assert.Equal(["apt-get update", "apt-get install -y redis-server"], File.ReadAllLines(_temp.File("ran")));
    }

    [Fact]
    public async Task Sudo_is_used_only_where_it_is_needed_and_only_after_a_yes()
    {
        FakePackageManager("dnf");
        _temp.Script("bin/sudo", $"echo sudo >>'{_temp.File("ran")}'\nexec \"$@\"");
        Assert.Contains("run 'sudo dnf install -y redis'?", (await Setup("no\n", isRoot: false, "--only", "redis")).Said);
        Assert.False(File.Exists(_temp.File("ran")));
        Assert.Equal(ExitCode.Success, (await Setup("y\n", isRoot: false, "--only", "redis")).Exit);
        Assert.Equal(["sudo", "dnf install -y redis"], File.ReadAllLines(_temp.File("ran")));
    }

    [Fact]
    public async Task Without_sudo_the_command_is_told_and_not_run()
    {
        FakePackageManager("apt-get");
        var (exit, said) = await Setup("", isRoot: false, "--only", "redis", "--yes");
        Assert.Equal(ExitCode.Failure, exit);
        Assert.Contains("there is no sudo; an account with the right must run: apt-get update && apt-get install -y redis-server", said);
        Assert.False(File.Exists(_temp.File("ran")));
    }

    [Fact]
    public async Task Brew_is_never_run_as_root()
    {
        FakePackageManager("brew");
        Assert.Contains("run 'brew install redis'?", (await Setup("y\n", isRoot: false, "--only", "redis")).Said);
        Assert.Equal(["brew install redis"], File.ReadAllLines(_temp.File("ran")));
    }

    [Fact]
    public async Task A_package_manager_that_fails_or_brings_an_old_Redis_is_no_success()
    {
        _temp.Script("bin/apt-get", "exit 100");
        var (exit, said) = await Setup("", "--only", "redis", "--yes");
        Assert.Equal(ExitCode.Failure, exit);
        Assert.Contains("'apt-get update' ended with exit code 100", said);

        FakePackageManager("apt-get", "5.0.1");
        (exit, said) = await Setup("", "--only", "redis", "--yes");
        Assert.Equal(ExitCode.Failure, exit);
        Assert.Contains("installed, but", said);
        Assert.Contains("6.2.0 or later is needed", said);
    }

    /// <summary>It notes how it was called, and makes a redis-server.</summary>
    private void FakePackageManager(string name, string version = "7.0.15")
    {
        var server = _temp.File("bin/redis-server");
        _temp.Script($"bin/{name}", $"echo {name} \"$@\" >>'{_temp.File("ran")}'\nprintf '#!/bin/sh\\necho v={version}\\n' >'{server}'\n/bin/chmod +x '{server}'");
    }
}
