using System.Diagnostics;
using Xunit;
using Xunit.Abstractions;

namespace Snapper.Cli.Tests;

/// <summary>
/// The callers of <c>samples/Orders</c>: those that this machine can run, and the bodies of those that it cannot.
/// </summary>
internal static class Callers
{
    public const string CSharp = "csharp";

    /// <summary>A caller that can be run here.</summary>
    /// <param name="Name">Its folder, and its customer.</param>
    /// <param name="Folder">Where it is run.</param>
    /// <param name="Command">The program and its arguments, but the sidecar and the name.</param>
    public sealed record Caller(string Name, string Folder, string[] Command)
    {
        /// <summary>What it prints against the shop.</summary>
        public string[] Expected =>
        [
            $"{Name}-1 committed 9.00", $"{Name}-1 committed 9.00", $"{Name}-2 refused out_of_stock",
            $"{Name}-3 rejected 400", $"{Name}-4 committed 9.00",
            .. Name == CSharp
                ? [$"{Name}-5 committed 9.00", $"{Name}-5 application already_placed"] : Array.Empty<string>(),
        ];

        /// <summary>Runs it; returns the lines that it prints.</summary>
        public async Task<string[]> Run(string sidecar)
        {
            var start = new ProcessStartInfo(Command[0], [.. Command[1..], sidecar, Name])
            {
                WorkingDirectory = Folder, RedirectStandardOutput = true, RedirectStandardError = true,
            };
            using var process = Process.Start(start)!;
            var (output, errors) = (process.StandardOutput.ReadToEndAsync(), process.StandardError.ReadToEndAsync());
            await process.WaitForExitAsync().WaitAsync(TimeSpan.FromMinutes(1));
            Assert.True(process.ExitCode == 0, $"{Name}: {await output}{await errors}");
            return (await output).Split('\n', StringSplitOptions.RemoveEmptyEntries);
        }
    }

    /// <summary>Those that can be run here; the others are named in the test's output.</summary>
    public static Caller[] All(string folder, ITestOutputHelper output)
    {
        Caller?[] callers =
        [
            new(CSharp, Path.Combine(folder, CSharp), ["dotnet", "bin/Release/net10.0/Orders.Caller.dll"]),
            Of("node", Node(), "place.ts"),
            Of("python", Works("python3", "--version"), "place.py"),
            Of("go", Works("go", "version"), "run", "."),
            Of("java", Directory.Exists(Jars) ? Works("java", "--version") : null, "-cp", $"{Jars}/*", "Place.java"),
        ];
        return [.. callers.OfType<Caller>()];

        Caller? Of(string name, string? program, params string[] arguments)
        {
            if (program is not null) return new Caller(name, Path.Combine(folder, name), [program, .. arguments]);
            output.WriteLine($"{name}: not run, its runtime is not on this machine");
            return null;
        }
    }

    /// <summary>What callers send whose runtime is hardly anywhere here, as their source has it.</summary>
    public static IEnumerable<(string Caller, string Body)> Recorded(string folder) =>
        ((string[])["go", "java"]).Select(name => (name, File.ReadAllText(Path.Combine(folder, name, "place.json"))));

    /// <summary>Where jackson's jars are.</summary>
    private static string Jars => Environment.GetEnvironmentVariable("SNAPPER_TEST_JARS") ?? "/usr/share/java/jackson";

    /// <summary>One that runs TypeScript as it is: the machine's, or the one that Playwright brings along.</summary>
    private static string? Node()
    {
        if (Works("node", "--experimental-strip-types", "--version") is { } node) return node;
        var packages = Environment.GetEnvironmentVariable("NUGET_PACKAGES") is { Length: > 0 } named ? named
            : Path.Combine(Environment.GetFolderPath(Environment.SpecialFolder.UserProfile), ".nuget", "packages");
        var playwright = Path.Combine(packages, "microsoft.playwright");
        return !Directory.Exists(playwright) ? null
            : Directory.EnumerateFiles(playwright, "node", SearchOption.AllDirectories)
                .Where(static file => file.Contains("linux-x64", StringComparison.Ordinal))
                .FirstOrDefault(static file => Works(file, "--experimental-strip-types", "--version") is not null);
    }

    private static string? Works(string program, params string[] question)
    {
        try
        {
            var start = new ProcessStartInfo(program, question)
            {
                RedirectStandardOutput = true, RedirectStandardError = true,
            };
            using var process = Process.Start(start)!;
            process.StandardOutput.ReadToEnd();
            process.WaitForExit();
            return process.ExitCode == 0 ? program : null;
        }
        catch (System.ComponentModel.Win32Exception)
        {
            return null; // it is not there
        }
    }
}
