using System.Globalization;

namespace Snapper.RuleModel;

/// <summary>Reads scripts that people write: <c>act w X, r Y, parallel</c> or <c>pact w X, w Y, declares Z, throws 1</c>.</summary>
internal static class ScriptText
{
    /// <summary>Fills a script from its line.</summary>
    /// <exception cref="ArgumentException">The line is not understood; the message names the word.</exception>
    public static void Read(string line, int actors, Script script)
    {
        var words = line.Split([' ', ','], StringSplitOptions.RemoveEmptyEntries | StringSplitOptions.TrimEntries);
        if (words is not ["act" or "pact", ..])
        {
            throw new ArgumentException($"A script starts with 'act' or 'pact', this one does not: '{line}'.");
        }

        script.Clear(isAct: words[0] == "act");
        for (var i = 1; i < words.Length; i++)
        {
            switch (words[i])
            {
                case "r" or "w": script.Add(Actor(words, i + 1, actors, line), words[i++] == "w"); break;
                case "declares": script.Declare(Actor(words, ++i, actors, line)); break;
                case "parallel": script.IsParallel = true; break;
                case "may-abort": script.MayAbort = true; break;
                case "aborts": script.Aborts = true; break;
                case "throws": script.ThrowsAt = Number(words, ++i, line) - 1; break;
                default: throw new ArgumentException($"'{words[i]}' is not known in a script: '{line}'.");
            }
        }

        if (script.Operations == 0 || script.ThrowsAt >= script.Operations)
        {
            throw new ArgumentException($"A script has 1 to {ModelSize.MaxOperations} operations, and throws after one of them: '{line}'.");
        }
    }

    private static int Actor(string[] words, int index, int actors, string line)
    {
        for (var actor = 0; actor < actors && index < words.Length; actor++)
        {
            if (RuleModel.ActorName(actor) == words[index])
            {
                return actor;
            }
        }

        throw new ArgumentException($"'{words[index - 1]}' is followed by one of the {actors} actors X, Y, Z, V: '{line}'.");
    }

    private static int Number(string[] words, int index, string line) =>
        index < words.Length && int.TryParse(words[index], NumberStyles.None, CultureInfo.InvariantCulture, out var number) && number > 0
            ? number
            : throw new ArgumentException($"'throws' is followed by the number of an operation, from 1: '{line}'.");
}
