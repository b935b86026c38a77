namespace Snapper.Failures;

/// <summary>How people start the command line, for messages that name a command.</summary>
public static class ProgramName
{
    /// <summary>It was installed as a tool of .NET.</summary>
    public static bool IsTool { get; } =
        File.Exists(Path.Combine(AppContext.BaseDirectory, "DotnetToolSettings.xml"));

    /// <summary>
    /// <c>./snapper</c> in a clone of the repository, <c>snapper</c> where it was installed as a tool.
    /// </summary>
    public static string Value { get; } = IsTool ? "snapper" : "./snapper";
}
