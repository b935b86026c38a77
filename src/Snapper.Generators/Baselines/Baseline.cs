using System.Globalization;
using System.Text;

namespace Snapper.Generators.Baselines;

/// <summary>
/// What callers and stored states rely on, of the actor types of one project, as <c>snapper.contracts.txt</c> has it.
/// </summary>
internal sealed class Baseline
{
    /// <summary>Name of the file beside the project.</summary>
    public const string FileName = "snapper.contracts.txt";

    private const string Header = """
        # What callers and stored states of these actor types rely on. A build compares it with the code, and
        # 'dotnet build -p:SnapperAcceptContracts=true' writes it. Names are those of JSON; 'name?' may be left out.
        """;

    /// <summary>The actor types by their names.</summary>
    public SortedDictionary<string, ActorContract> Actors { get; } = new(StringComparer.Ordinal);

    /// <summary>The shapes of the types that they name.</summary>
    public SortedDictionary<string, TypeShape> Types { get; } = new(StringComparer.Ordinal);

    /// <summary>The file.</summary>
    public string Render()
    {
        var text = new StringBuilder(Header.Replace("\r", "")).Append('\n');
        foreach (var actor in Actors.Values)
        {
            Render(text, actor);
        }

        foreach (var type in Types.Values)
        {
            text.Append('\n').Append(type.IsEnum ? "enum " : "type ").Append(type.Name)
                .Append(type.Converter is null ? "" : TypeShape.By + type.Converter).Append('\n');
            foreach (var member in type.Members)
            {
                text.Append("  ").Append(member.Key).Append(member.Value.IsOptional ? "?" : "").Append(": ")
                    .Append(member.Value.Type).Append(member.Value.IsComputed ? " computed" : "").Append('\n');
            }
        }

        return text.ToString();
    }

    private static void Render(StringBuilder text, ActorContract actor)
    {
        text.Append("\nactor ").Append(actor.Type).Append('\n');
        foreach (var contract in actor.Contracts)
        {
            text.Append("  contract ").Append(contract).Append('\n');
        }

        foreach (var method in actor.Methods.Values)
        {
            text.Append("  method ").Append(method.Name).Append('(').Append(method.Input).Append(')')
                .Append(method.Result is null ? "" : " -> " + method.Result)
                .Append(method.Declares ? ActorContract.Declares : "")
                .Append(method.ReadOnly ? ActorContract.ReadOnly : "").Append('\n');
        }

        if (actor.State is { } state)
        {
            text.Append("  state ").Append(Number(state.Version))
                .Append(state.Oldest == 1 ? "" : " from " + Number(state.Oldest))
                .Append(": ").Append(state.Type).Append('\n');
        }

        if (actor.Partition is { } partition)
        {
            text.Append("  partition ").Append(partition).Append('\n');
        }

        foreach (var code in actor.Aborts)
        {
            text.Append("  abort ").Append(code).Append('\n');
        }
    }

    /// <summary>Reads the file.</summary>
    /// <param name="lines">Its lines.</param>
    /// <param name="wrong">Number of the first line that has no meaning, from 0; -1: all have one.</param>
    public static Baseline Parse(IReadOnlyList<string> lines, out int wrong)
    {
        var baseline = new Baseline();
        ActorContract? actor = null;
        TypeShape? type = null;
        for (wrong = 0; wrong < lines.Count; wrong++)
        {
            var line = lines[wrong].Trim();
            if (line.Length == 0 || line[0] == '#')
            {
                continue;
            }

            if (line.StartsWith("actor ", StringComparison.Ordinal) && line.IndexOf(": ", StringComparison.Ordinal) < 0)
            {
                (actor, type) = (new ActorContract(line.Substring(6)), null);
                baseline.Actors[actor.Type] = actor;
            }
            else if (TypeShape.Begin(line) is { } begun)
            {
                (actor, type) = (null, begun);
                baseline.Types[type.Name] = type;
            }
            else if (!(actor?.Take(line) ?? type?.Take(line) ?? false))
            {
                return baseline;
            }
        }

        wrong = -1;
        return baseline;
    }

    /// <summary>A number as the file has it.</summary>
    public static string Number(int value) => value.ToString(CultureInfo.InvariantCulture);
}

/// <summary>What callers rely on of one actor type.</summary>
/// <param name="type">Its name.</param>
internal sealed class ActorContract(string type)
{
    /// <summary>Of a method for which a function declares.</summary>
    public const string Declares = " [declares]";

    /// <summary>Of a method that changes nothing.</summary>
    public const string ReadOnly = " [read-only]";

    /// <summary>Its name.</summary>
    public string Type { get; } = type;

    /// <summary>Full names of its actor interfaces.</summary>
    public SortedSet<string> Contracts { get; } = new(StringComparer.Ordinal);

    /// <summary>By their names.</summary>
    public SortedDictionary<string, MethodContract> Methods { get; } = new(StringComparer.Ordinal);

    /// <summary>Null: it has the keys and values of what was a plain Dapr actor.</summary>
    public StateContract? State { get; set; }

    /// <summary>Where its partition key ends; null: it has none.</summary>
    public char? Partition { get; set; }

    /// <summary>Codes of its aborts that are constants.</summary>
    public SortedSet<string> Aborts { get; } = new(StringComparer.Ordinal);

    /// <summary>Takes a line of the file; false: it has no meaning.</summary>
    public bool Take(string line)
    {
        var blank = line.IndexOf(' ');
        var (word, rest) = blank < 0 ? (line, "") : (line.Substring(0, blank), line.Substring(blank + 1));
        switch (word)
        {
            case "contract" when rest.Length > 0:
                return Contracts.Add(rest);
            case "abort" when rest.Length > 0:
                return Aborts.Add(rest);
            case "partition" when rest.Length == 1:
                Partition = rest[0];
                return true;
            case "state":
                return TakeState(rest);
            case "method":
                return TakeMethod(rest);
            default:
                return false;
        }
    }

    private bool TakeMethod(string text)
    {
        var isReadOnly = CutEnd(ref text, ReadOnly);
        var declares = CutEnd(ref text, Declares);
        var arrow = text.IndexOf(") -> ", StringComparison.Ordinal);
        var result = arrow < 0 ? null : text.Substring(arrow + 5);
        text = arrow < 0 ? text : text.Substring(0, arrow + 1);
        var open = text.IndexOf('(');
        if (open <= 0 || text[text.Length - 1] != ')' || result is { Length: 0 })
        {
            return false;
        }

        var (name, input) = (text.Substring(0, open), text.Substring(open + 1, text.Length - open - 2));
        Methods[name] = new MethodContract(name, input.Length == 0 ? null : input, result, declares, isReadOnly);
        return true;
    }

    private bool TakeState(string text)
    {
        var colon = text.IndexOf(": ", StringComparison.Ordinal);
        var numbers = (colon < 0 ? "" : text.Substring(0, colon)).Split(new[] { " from " }, StringSplitOptions.None);
        var oldest = 1;
        if (!int.TryParse(numbers[0], out var version)
            || numbers.Length > 2 || (numbers.Length == 2 && !int.TryParse(numbers[1], out oldest)))
        {
            return false;
        }

        State = new StateContract(version, oldest, text.Substring(colon + 2));
        return true;
    }

    private static bool CutEnd(ref string text, string end)
    {
        if (!text.EndsWith(end, StringComparison.Ordinal))
        {
            return false;
        }

        text = text.Substring(0, text.Length - end.Length);
        return true;
    }
}

/// <summary>A method as callers know it.</summary>
/// <param name="Name">Of the method.</param>
/// <param name="Input">Type of its input; null: none.</param>
/// <param name="Result">Type of its result; null: none.</param>
/// <param name="Declares">A function declares for it, so that a request without access is a PACT.</param>
/// <param name="ReadOnly">Methods that change nothing may call it.</param>
internal sealed record MethodContract(string Name, string? Input, string? Result, bool Declares, bool ReadOnly);

/// <summary>The form of a state.</summary>
/// <param name="Version">1: it has no number, or this one.</param>
/// <param name="Oldest">The oldest version that is read.</param>
/// <param name="Type">Its type.</param>
internal sealed record StateContract(int Version, int Oldest, string Type);

/// <summary>What the JSON of a type has: properties, or the members of an enum.</summary>
/// <param name="name">Full name.</param>
/// <param name="isEnum">It is an enum.</param>
/// <param name="converter">What converts it; null: nothing does.</param>
internal sealed class TypeShape(string name, bool isEnum, string? converter)
{
    /// <summary>Between a type and its converter.</summary>
    public const string By = " by ";

    /// <summary>Full name.</summary>
    public string Name { get; } = name;

    /// <summary>It is an enum.</summary>
    public bool IsEnum { get; } = isEnum;

    /// <summary>What converts it; null: nothing does.</summary>
    public string? Converter { get; } = converter;

    /// <summary>By their names in JSON.</summary>
    public SortedDictionary<string, MemberShape> Members { get; } = new(StringComparer.Ordinal);

    /// <summary>The shape that a line begins; null: it begins none.</summary>
    public static TypeShape? Begin(string line)
    {
        var isEnum = line.StartsWith("enum ", StringComparison.Ordinal);
        if ((!isEnum && !line.StartsWith("type ", StringComparison.Ordinal))
            || line.IndexOf(": ", StringComparison.Ordinal) >= 0)
        {
            return null;
        }

        var name = line.Substring(5);
        var by = name.IndexOf(By, StringComparison.Ordinal);
        return by < 0 ? new TypeShape(name, isEnum, converter: null)
            : new TypeShape(name.Substring(0, by), isEnum, name.Substring(by + By.Length));
    }

    /// <summary>Takes a line of the file; false: it has no meaning.</summary>
    public bool Take(string line)
    {
        const string Computed = " computed";
        var colon = line.IndexOf(": ", StringComparison.Ordinal);
        if (colon <= 0)
        {
            return false;
        }

        var (name, type) = (line.Substring(0, colon), line.Substring(colon + 2));
        var isOptional = name.EndsWith("?", StringComparison.Ordinal);
        var isComputed = type.EndsWith(Computed, StringComparison.Ordinal);
        name = isOptional ? name.Substring(0, name.Length - 1) : name;
        type = isComputed ? type.Substring(0, type.Length - Computed.Length) : type;
        Members[name] = new MemberShape(type, isOptional, isComputed);
        return true;
    }
}

/// <summary>A property, or a member of an enum.</summary>
/// <param name="Type">Its type; of an enum's member its number.</param>
/// <param name="IsOptional">JSON may be without it.</param>
/// <param name="IsComputed">It is written and not read.</param>
internal sealed record MemberShape(string Type, bool IsOptional, bool IsComputed);
