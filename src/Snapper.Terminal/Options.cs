using System.CommandLine;

namespace Snapper.Terminal;

/// <summary>Options whose values are checked when the line is read. Errors name the option.</summary>
public static class Options
{
    /// <summary>An option that is there or not.</summary>
    public static Option<bool> Flag(string name, string help) => new(name) { Description = help };

    /// <summary>An option with a value that is not empty; null when it is absent.</summary>
    public static Option<string?> Text(string name, string value, string help) =>
        Of<string?>(name, value, help, static text => text);

    /// <summary>An option with a whole number.</summary>
    public static Option<int> Whole(string name, string value, string help, int @default, int least, int most) =>
        Of(name, value, help, Values.Whole(least, most), @default);

    /// <summary>An option with a value of any kind.</summary>
    /// <param name="name">With its dashes.</param>
    /// <param name="value">What the help shows in the place of the value.</param>
    /// <param name="help">One sentence.</param>
    /// <param name="read">Reads a text that is not empty; a <see cref="UsageException"/> says what it must be.</param>
    /// <param name="default">When the option is absent.</param>
    public static Option<T> Of<T>(string name, string value, string help, Func<string, T> read, T @default = default!)
    {
        var option = new Option<T>(name)
        {
            HelpName = value,
            Description = help,
            CustomParser = given =>
            {
                try
                {
                    return Read(name, given.Tokens[0].Value, read);
                }
                catch (UsageException wrong)
                {
                    given.AddError(wrong.Message);
                    return default;
                }
            },
        };
        if (!EqualityComparer<T>.Default.Equals(@default, default)) option.DefaultValueFactory = _ => @default;
        return option;
    }

    /// <summary>
    /// The value of an option with a list; null when it is absent, where <c>GetValue</c> has an empty list.
    /// </summary>
    public static T[]? GetList<T>(this ParseResult line, Option<T[]> option) =>
        line.GetResult(option) is null ? null : line.GetValue(option);

    /// <summary>Reads a value that was given in another way than by an option.</summary>
    /// <exception cref="UsageException">It is empty, or <paramref name="read"/> says what it must be.</exception>
    public static T Read<T>(string name, string text, Func<string, T> read)
    {
        if (text.Length == 0) throw new UsageException($"{name} needs a value.");
        try
        {
            return read(text);
        }
        catch (UsageException wrong)
        {
            throw new UsageException($"{name} {wrong.Message}, not '{text}'.");
        }
    }
}
