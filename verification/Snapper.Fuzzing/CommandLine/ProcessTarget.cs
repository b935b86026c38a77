using System.Diagnostics;
using System.Globalization;
using System.Net;
using System.Net.Sockets;
using Snapper.AspNetCore.Processes;
using Snapper.Cli.Supervision;
using Snapper.Fuzzing.Engine;

namespace Snapper.Fuzzing.CommandLine;

/// <summary>
/// Whole processes: <c>snapper worker</c> with settings that it cannot start with, and some that it can. Lines as in <see cref="CommandLineInput"/>; <c>{port}</c>, <c>{taken}</c>, <c>{dir}</c>, <c>{file}</c> and <c>{none}</c>
/// stand for a free port, one that is taken, an own folder, a file, and a place where nothing can be made.
/// </summary>
/// <remarks>Oracle: an exit code of the documented ones, with words on standard error when it is not 0, and no stack trace; a worker that can start stops when it is told to.</remarks>
internal sealed class ProcessTarget : FuzzTarget
{
    private static readonly int[] ExitCodes = [0, 1, 2, 70, 71, 72];
    private static readonly TimeSpan SpeaksWithin = TimeSpan.FromSeconds(60);
    private static readonly TimeSpan RunsFor = TimeSpan.FromSeconds(4);
    private static readonly TimeSpan StopsWithin = TimeSpan.FromSeconds(90);

    private static readonly string[] Lines =
    [
        "--listen-port\n{taken}", "--data\n{file}", "--data\n{none}", "--name\na b", "--log\nredis", "--fsync\nnever", "--run-state\n{none}", "--watch-parent\n1", "--sidecar\nembedded", "--sidecar\nembedded\n--sidecar-port\n{taken}", "--listen-port\n80",
        "env Snapper__Worker__Executors=many", "env Snapper__Worker__Executors=0", "env Snapper__Worker__TurnBound=soon", "env Snapper__Worker__MaxStateBytes=99999999999999999999", "env Snapper__SmallBank__InitialBalance=lots", "env Snapper__Http__AllowedHosts=;;*;",
        "env ASPNETCORE_URLS=nonsense", "env ASPNETCORE_ENVIRONMENT=\u0001", "env Kestrel__Endpoints__x__Url=nonsense", "env Kestrel__Endpoints__x__Url=http://127.0.0.1:{taken}", "env Logging__LogLevel__Default=Loud", "env Logging__Console__FormatterName=none", "env DOTNET_gcServer=2", "env AllowedHosts=;;",
        "env SNAPPER_DATA={file}", "env SNAPPER_REDIS_PASSWORD_FILE={none}", "--log\nredis\n--redis\n127.0.0.1:{port}", "--log\nredis\n--redis\nnonsense", "env ASPNETCORE_CONTENTROOT={none}", "env Kestrel__Limits__MaxConcurrentConnections=x", "env ASPNETCORE_HTTP_PORTS=x",
    ];

    private readonly string _folder = Directory.CreateTempSubdirectory("snapper-fuzz-").FullName;
    private readonly TcpListener _taken = new(IPAddress.Loopback, 0);

    public ProcessTarget()
    {
        _taken.Start();
        File.WriteAllText(Path.Combine(_folder, "file"), "a file");
    }

    public override string Name => "process";

    public override string Attacks => "whole worker processes with wrong options and settings";

    public override string? Lacks => File.Exists(Program) ? null : $"{Program} was not built";

    public override bool IsText => true;

    public override int ShortRun => 3;

    public override TimeSpan OwnBounds => SpeaksWithin + RunsFor + StopsWithin;

    private static string Program => Path.Combine(AppContext.BaseDirectory, "Snapper.Server.dll");

    public override byte[] Generate(Random random) =>
        Pieces.Bytes($"worker\n{random.One(Lines)}{(random.Percent(30) ? "\n" + random.One(Lines) : "")}");

    public override byte[] Mutate(byte[] input, byte[] other, Random random) => Generate(random);

    public override string Run(byte[] input)
    {
        var lines = CommandLineInput.Read(input);
        var data = Directory.CreateDirectory(Path.Combine(_folder, "d" + Guid.NewGuid().ToString("N")[..8])).FullName;
        var start = new ProcessStartInfo("dotnet") { UseShellExecute = false, RedirectStandardError = true, RedirectStandardOutput = true, WorkingDirectory = data };
        List<string> arguments = [Program, lines.Command, .. lines.Arguments.Select(text => Filled(text, data))];
        foreach (var (option, value) in (ReadOnlySpan<(string, string)>)[("--listen-port", "{port}"), ("--sidecar-port", "{port}"), ("--data", "{dir}")])
        {
            if (!arguments.Contains(option) && !(option == "--data" && lines.Environment.ContainsKey("SNAPPER_DATA")))
            {
                arguments.AddRange([option, Filled(value, data)]);
            }
        }

        arguments.ForEach(start.ArgumentList.Add);
        foreach (var (name, value) in lines.Environment)
        {
            start.Environment[name] = Filled(value, data);
        }

        using var process = Process.Start(start)!;
        var said = process.StandardError.ReadToEndAsync();
        var first = process.StandardOutput.ReadLineAsync();

        // A worker that has printed nothing yet may not handle signals yet. The output of one that ends at once ends.
        _ = first.Wait(SpeaksWithin);
        var printed = Rest(first, process.StandardOutput);
        var stopped = !process.WaitForExit(RunsFor);
        if (stopped)
        {
            _ = Posix.Send(process.Id, Posix.Terminate);
            if (!process.WaitForExit(StopsWithin))
            {
                process.Kill();
                throw new FuzzFailureException($"It did not stop within {StopsWithin.TotalSeconds:0} s of being told to.");
            }
        }

        process.WaitForExit();
        var words = said.Result + printed.Result;
        if (!ExitCodes.Contains(process.ExitCode) || words.Contains("Unhandled exception", StringComparison.Ordinal) || words.Contains("\n   at ", StringComparison.Ordinal))
        {
            throw new FuzzFailureException($"It ended with {process.ExitCode} and said: {words}");
        }

        return process.ExitCode == 0 || words.Trim().Length > 0
            ? $"{(stopped ? "ran" : "ended")} {process.ExitCode.ToString(CultureInfo.InvariantCulture)[0]} {said.Result.Split('\n')[0].Replace(_folder, "", StringComparison.Ordinal)}"
            : throw new FuzzFailureException($"It ended with {process.ExitCode} without a word.");
    }

    private static async Task<string> Rest(Task<string?> first, StreamReader output) =>
        await first + "\n" + await output.ReadToEndAsync();

    public override void Dispose()
    {
        _taken.Stop();
        Directory.Delete(_folder, recursive: true);
        base.Dispose();
    }

    private string Filled(string text, string data) => text
        .Replace("{port}", Ports.Free(1)[0].ToString(CultureInfo.InvariantCulture), StringComparison.Ordinal)
        .Replace("{taken}", ((IPEndPoint)_taken.LocalEndpoint).Port.ToString(CultureInfo.InvariantCulture), StringComparison.Ordinal)
        .Replace("{dir}", data, StringComparison.Ordinal)
        .Replace("{file}", Path.Combine(_folder, "file"), StringComparison.Ordinal)
        .Replace("{none}", Path.Combine(_folder, "file", "below"), StringComparison.Ordinal);
}
