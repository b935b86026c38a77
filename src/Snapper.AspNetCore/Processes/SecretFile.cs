using System.Security.Cryptography;

namespace Snapper.AspNetCore.Processes;

/// <summary>
/// A random secret in a file of the data directory, for what the supervisor starts. Loopback is open to every account of
/// the machine, the file is not.
/// </summary>
internal static class SecretFile
{
    private const int LengthMin = 32;
    private const int LengthMax = 512;

    /// <summary>Reads the secret, or makes one of 256 bits: the file is missing, unusable, or open to other accounts.</summary>
    /// <param name="file">Its path.</param>
    /// <param name="what">What it holds, for messages.</param>
    /// <returns>The secret, and what the user should hear; null: nothing.</returns>
    /// <exception cref="StartupException">The file is there and cannot be read.</exception>
    /// <exception cref="IOException">It cannot be written; also <see cref="UnauthorizedAccessException"/>.</exception>
    public static (string Secret, string? Note) Take(string file, string what)
    {
        if (Directory.Exists(file))
        {
            throw new StartupException($"{file} is a folder, not a file with {what}; {FixHints.Password}");
        }

        string? note = null;
        if (File.Exists(file))
        {
            string secret;
            try
            {
                secret = File.ReadAllText(file).Trim();
            }
            catch (Exception problem) when (problem is IOException or UnauthorizedAccessException)
            {
                throw new StartupException($"{file} cannot be read: {problem.Message.TrimEnd('.')}; {FixHints.Password}");
            }

            var why = FileModeMask.IsOpen(file) ? "other accounts could read it"
                : !IsUsable(secret) ? $"it must be {LengthMin} to {LengthMax} letters, digits, '-' and '_'"
                : null;
            if (why is null) return (secret, null);
            note = $"{file} is made anew: {why}";
        }

        var made = RandomNumberGenerator.GetHexString(64, lowercase: true);
        FileModeMask.Replace(file, made + "\n");
        return (made, note);
    }

    // What needs no quotes in Redis' configuration, and in a shell.
    private static bool IsUsable(string text) =>
        text.Length is >= LengthMin and <= LengthMax && text.All(c => char.IsAsciiLetterOrDigit(c) || c is '-' or '_');
}
