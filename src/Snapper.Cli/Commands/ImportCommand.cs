using System.CommandLine;
using System.Globalization;
using Snapper.AspNetCore.Processes;
using Snapper.Cli.Importing;
using Snapper.Server.Commands;

namespace Snapper.Cli.Commands;

/// <summary>Brings states of plain Dapr actors into a running system.</summary>
internal static class ImportCommand
{
    private const string From = "--from-dapr";

    private static readonly Option<string?> s_from = Options.Text(
        From, "ADDRESS",
        "the Redis of Dapr's state store: redis://[USER@]HOST:PORT[/DB]; password as of the log's Redis");

    private static readonly Option<string?> s_app = Options.Text(
        "--app-id", "ID", "the Dapr app that wrote the states: the first part of their keys");

    private static readonly Option<string?> s_prefix = Options.Text(
        "--prefix", "TEXT", "the first part of keys where it is not the app id (keyPrefix of the component)");

    private static readonly Option<string?> s_type = Options.Text("--type", "TYPE", "actors of this type alone");
    private static readonly Option<bool> s_dryRun = Options.Flag("--dry-run", "read and count alone; nothing is sent");

    private static readonly Option<Uri> s_url = Options.Of(
        "--url", "URL", "any worker's own HTTP API", Values.Address, new Uri("http://127.0.0.1:5101"));

    /// <summary><c>import</c>.</summary>
    public static readonly Command Command = CommandLines.Command(
        "import", "brings states of plain Dapr actors into actors that have none yet; can be run again", Run,
        s_from, s_app, s_type, s_prefix, s_dryRun, s_url);

    private static async Task<int> Run(ParseResult line, TextWriter output, TextWriter errors)
    {
        var (address, database) = Address(
            line.GetValue(s_from) ?? throw new UsageException($"import needs {From} redis://HOST:PORT."));
        var prefix = line.GetValue(s_prefix) ?? line.GetValue(s_app)
            ?? throw new UsageException("import needs --app-id, the Dapr app that wrote the states.");
        var isDry = line.GetValue(s_dryRun);
        var login = RedisLogin.From(address, Environment.GetEnvironmentVariable);
        await using var store = await DaprStore.Open(address, login, database, prefix);
        using var worker = isDry ? null : OperatorApi.At(line.GetValue(s_url)!, "Name a worker with --url.");
        var tally = await new ImportRun(store, worker, errors).Run(line.GetValue(s_type));
        if (tally.IsEmpty)
        {
            errors.WriteLine(
                $"snapper: there is no key {prefix}||{line.GetValue(s_type) ?? "TYPE"}||ID||NAME in database "
                + string.Create(CultureInfo.InvariantCulture, $"{database} of Redis at {address}: ")
                + "is it another app id, another database, or does the component have a keyPrefix (--prefix)?");
            return ExitCode.Failure;
        }

        tally.WriteTo(output, isDry);
        return tally.Failed == 0 ? ExitCode.Success : ExitCode.Failure;
    }

    // The database stands behind the place, as redis-cli takes it.
    private static (RedisAddress Address, int Database) Address(string text)
    {
        var scheme = text.IndexOf("://", StringComparison.Ordinal);
        var slash = scheme < 0 ? -1 : text.IndexOf('/', Math.Max(text.LastIndexOf('@'), scheme + 3));
        var database = 0;
        if (slash >= 0 && slash < text.Length - 1)
        {
            if (!int.TryParse(
                text.AsSpan(slash + 1), NumberStyles.None, CultureInfo.InvariantCulture, out database))
            {
                throw new UsageException($"{From}: the database, behind the last /, must be a number.");
            }

            text = text[..slash];
        }

        return (RedisAddress.Parse(text, fromCommandLine: true, From), database);
    }
}
