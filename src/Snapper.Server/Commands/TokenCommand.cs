using System.Globalization;
using Snapper.Security;
using Snapper.Server.Processes;

namespace Snapper.Server.Commands;

/// <summary>Makes a token, and the line that makes workers and dashboard accept it. It is shown once and kept nowhere.</summary>
internal static class TokenCommand
{
    public static readonly CommandSyntax Syntax = new(
        "token", "makes a token for a person or a program, and the line that workers accept it by",
        [
            new("--name", "NAME", "whose it is, for the audit and for rules (default: someone)"),
            new("--role", "ROLE", "caller | viewer (default) | operator | admin"),
            new("--tenants", "A,B", "bound to these tenants: it names only actors whose ids begin with A/ or B/"),
            new("--rate", "N", "most requests per second"),
        ],
        Notes: "The token goes to its holder: commands and clients take it from SNAPPER_TOKEN. The line goes to a file that SNAPPER_TOKENS_FILE names for workers; it is no secret.");

    /// <summary>Prints the token on the first line of the output and its entry on the second; nothing else, so that scripts can read it.</summary>
    public static Task<int> Run(ParsedArguments arguments, TextWriter output, TextWriter errors)
    {
        var token = TokenHash.NewToken();
        var entry = new TokenSettings
        {
            Name = arguments.Text("--name") ?? "someone",
            Sha256 = TokenHash.Of(token),
            Role = arguments.Text("--role") ?? Role.Viewer.Name(),
            Tenants = arguments.Text("--tenants")?.Split(',', StringSplitOptions.TrimEntries | StringSplitOptions.RemoveEmptyEntries),
            RatePerSecond = arguments.Text("--rate") is not { } rate ? null
                : double.TryParse(rate, NumberStyles.AllowDecimalPoint, CultureInfo.InvariantCulture, out var number) ? number
                : throw new UsageException($"--rate must be a number, not '{rate}'."),
        };
        try
        {
            entry.ToPrincipal(out _);
        }
        catch (FormatException wrong)
        {
            throw new UsageException(wrong.Message);
        }

        output.WriteLine(token);
        output.WriteLine(entry.ToJson());
        return Task.FromResult(ExitCode.Success);
    }
}
