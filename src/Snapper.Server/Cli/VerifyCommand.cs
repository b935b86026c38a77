namespace Snapper.Server.Cli;

/// <summary>The correctness machine's place on the command line.</summary>
internal static class VerifyCommand
{
    /// <summary>Arguments of <c>verify</c>.</summary>
    public static readonly CommandSyntax Syntax = new("verify", "the correctness machine; not in this version", [], Rest: "ARGUMENT");

    /// <summary>Says that the command is not there yet; a caller must not take it for a passed verification.</summary>
    public static Task<int> Run(ParsedArguments arguments, TextWriter output, TextWriter errors)
    {
        errors.WriteLine("snapper: 'verify' is not in this version; './snapper test' runs the serializability tests that there are.");
        return Task.FromResult(ExitCode.Usage);
    }
}
