namespace Snapper.Mutations;

/// <summary>The table does not fit the sources, or itself.</summary>
/// <param name="path">The file at fault.</param>
/// <param name="line">The line at fault, from 1 on.</param>
/// <param name="message">What is wrong.</param>
public sealed class TableException(string path, int line, string message)
    : Exception($"{path}({line}): error MUTATION: {message}");
