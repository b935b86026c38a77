using System.CommandLine;
using Snapper.AspNetCore.Processes;
using Snapper.Security;

namespace Snapper.Server.Commands;

/// <summary>Makes a token, and the line that makes workers and dashboard accept it. It is shown once and kept nowhere.</summary>
internal static class TokenCommand
{
    private static readonly Option<string?> s_name = Options.Text("--name", "NAME", "its holder, for the audit and for rules (default: someone)");
    private static readonly Option<string?> s_role = Options.Text("--role", "ROLE", "caller | viewer (default) | operator | admin");
    private static readonly Option<double?> s_rate = Options.Of<double?>(
        "--rate", "N", "requests per second at most", static text => Values.Number(0, double.MaxValue)(text));

    private static readonly Option<string[]> s_tenants = Options.Of<string[]>(
        "--tenants", "A,B", "bound to these tenants: it names only actors whose ids begin with A/ or B/", Values.List(static name => name));

    /// <summary>Prints the token on the first line of the output and its entry on the second; nothing else, so that scripts can read it.</summary>
    public static readonly Command Command = CommandLines.Command(
        "token", "makes a token for a person or a program (SNAPPER_TOKEN), and the line for the file that SNAPPER_TOKENS_FILE names for workers",
        Run, s_name, s_role, s_tenants, s_rate);

    private static Task<int> Run(ParseResult line, TextWriter output, TextWriter errors)
    {
        var token = TokenHash.NewToken();
        var entry = new TokenSettings
        {
            Name = line.GetValue(s_name) ?? "someone",
            Sha256 = TokenHash.Of(token),
            Role = line.GetValue(s_role) ?? Role.Viewer.Name(),
            Tenants = line.GetList(s_tenants),
            RatePerSecond = line.GetValue(s_rate),
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
