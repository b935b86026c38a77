using System.Diagnostics;

namespace Snapper.Benchmarks.Systems;

/// <summary>The runtime of another commit, in a git worktree in a folder of its own, built with the driver of this tree.</summary>
public sealed class OldBuild : IAsyncDisposable
{
    private static readonly TimeSpan GitDeadline = TimeSpan.FromMinutes(2);
    private static readonly TimeSpan BuildDeadline = TimeSpan.FromMinutes(8);

    private readonly string _root;
    private readonly string _folder;

    private OldBuild(string root, string folder)
    {
        _root = root;
        _folder = folder;
    }

    /// <summary>Its root.</summary>
    public string Folder => Path.Combine(_folder, "tree");

    /// <summary>Checks the commit out. What it has in <c>loadtest</c> gives way to this tree's, so that both are driven by the same code.</summary>
    /// <exception cref="InvalidOperationException">There is no such commit.</exception>
    public static async Task<OldBuild> CheckOutAsync(string root, string commit)
    {
        var old = new OldBuild(root, Directory.CreateTempSubdirectory("snapper-old-").FullName);
        try
        {
            await RunAsync("git", ["-C", root, "worktree", "add", "--detach", old.Folder, commit], GitDeadline);
            var loadtest = Path.Combine(old.Folder, "loadtest");
            if (Directory.Exists(loadtest))
            {
                Directory.Delete(loadtest, recursive: true);
            }

            CopySources(Path.Combine(root, "loadtest"), loadtest);
            return old;
        }
        catch
        {
            await old.DisposeAsync();
            throw;
        }
    }

    /// <summary>
    /// Builds the driver in the old tree: this tree's, or, when that asks for more than the old runtime has, the one that the old commit came with. Both speak the same commands; what
    /// differs between them is in <c>git diff COMMIT -- loadtest</c>.
    /// </summary>
    /// <returns>The program, and whether it is the commit's own.</returns>
    /// <exception cref="InvalidOperationException">Neither builds.</exception>
    public async Task<(string Program, bool IsItsOwn)> BuildAsync()
    {
        try
        {
            return (await BuildDriverAsync(Folder), false);
        }
        catch (InvalidOperationException)
        {
            Directory.Delete(Path.Combine(Folder, "loadtest"), recursive: true);
            await RunAsync("git", ["-C", Folder, "checkout", "--quiet", "HEAD", "--", "loadtest"], GitDeadline);
            return (await BuildDriverAsync(Folder), true);
        }
    }

    /// <summary>Builds the driver of a tree and returns its program.</summary>
    /// <exception cref="InvalidOperationException">It does not build; the message has the end of the compiler's output.</exception>
    public static Task<string> BuildDriverAsync(string root) => BuildAsync(root, "Snapper.Driver");

    /// <summary>Builds a program of a tree's <c>loadtest</c> and returns its path.</summary>
    /// <exception cref="InvalidOperationException">
    /// It does not build; the message has the end of the compiler's output.
    /// </exception>
    public static async Task<string> BuildAsync(string root, string name)
    {
        var project = Path.Combine(root, "loadtest", name);
        await RunAsync("dotnet", ["build", project, "-c", "Release", "--nologo", "-v", "quiet", "-nodeReuse:false"], BuildDeadline);
        return Path.Combine(project, "bin", "Release", "net10.0", name + ".dll");
    }

    /// <inheritdoc />
    public async ValueTask DisposeAsync()
    {
        if (Directory.Exists(Folder))
        {
            await RunAsync("git", ["-C", _root, "worktree", "remove", "--force", Folder], GitDeadline);
        }

        Directory.Delete(_folder, recursive: true);
    }

    private static void CopySources(string from, string to)
    {
        Directory.CreateDirectory(to);
        foreach (var file in Directory.EnumerateFiles(from))
        {
            File.Copy(file, Path.Combine(to, Path.GetFileName(file)));
        }

        foreach (var folder in Directory.EnumerateDirectories(from))
        {
            if (Path.GetFileName(folder) is not ("bin" or "obj" or "results"))
            {
                CopySources(folder, Path.Combine(to, Path.GetFileName(folder)));
            }
        }
    }

    private static async Task RunAsync(string program, string[] arguments, TimeSpan deadline)
    {
        var start = new ProcessStartInfo(program) { RedirectStandardOutput = true, RedirectStandardError = true };
        foreach (var argument in arguments)
        {
            start.ArgumentList.Add(argument);
        }

        using var process = Process.Start(start) ?? throw new InvalidOperationException($"{program} does not start.");
        var output = process.StandardOutput.ReadToEndAsync();
        var errors = process.StandardError.ReadToEndAsync();
        using var late = new CancellationTokenSource(deadline);
        try
        {
            await process.WaitForExitAsync(late.Token);
        }
        catch (OperationCanceledException)
        {
            process.Kill(entireProcessTree: true);
            throw new InvalidOperationException($"{program} {arguments[0]} took longer than {deadline.TotalMinutes:0} min.");
        }

        if (process.ExitCode != 0)
        {
            var said = (await output + await errors).Trim();
            throw new InvalidOperationException($"{program} {string.Join(' ', arguments)} ended with {process.ExitCode}: {said[Math.Max(0, said.Length - 1000)..]}");
        }
    }
}
