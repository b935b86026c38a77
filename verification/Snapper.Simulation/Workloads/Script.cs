namespace Snapper.Simulation.Workloads;

/// <summary>What a step of a script is.</summary>
internal enum ScriptStep : byte
{
    /// <summary><c>r</c>: read the actor's list.</summary>
    Read,

    /// <summary><c>a7</c>: append 7 to it.</summary>
    Append,

    /// <summary><c>u7</c>: read it to write, look at it, and append 7.</summary>
    Update,

    /// <summary><c>(c3 r a8)</c>: call actor c3 with a script and await it.</summary>
    Call,

    /// <summary><c>&amp;(c3 a8)</c>: call and do not await.</summary>
    Fire,

    /// <summary><c>?(c3 x)</c>: call, await, and swallow what it throws.</summary>
    Try,

    /// <summary><c>[(c1 r)(c2 a9)]</c>: several calls at once.</summary>
    Together,

    /// <summary><c>d5</c>: wait 5 ms.</summary>
    Delay,

    /// <summary><c>y</c>: yield.</summary>
    Yield,

    /// <summary><c>x</c>: throw.</summary>
    Throw,

    /// <summary><c>z</c>: throw what cannot say what it is.</summary>
    ThrowMute,

    /// <summary>
    /// <c>q5</c>: unjoined code throws that after 5 ms, when the transaction may have ended.
    /// </summary>
    ThrowLater,

    /// <summary><c>w2</c>: a state whose second writing as JSON fails; <c>w0</c>: all do.</summary>
    Spoil,

    /// <summary>
    /// <c>%3(c3 r a8)</c>: call by values that can change (<see cref="OpenValue"/>), whose code misbehaves in the way
    /// of that number; 0: not at all.
    /// </summary>
    CallOpen,

    /// <summary><c>!</c>: abort, and say all that was seen before.</summary>
    Abort,

    /// <summary><c>o</c>: abort if the list has an odd number of elements, and say that and all that was seen before: an abort that is as good as a read.</summary>
    AbortIfOdd,
}

/// <summary>
/// Scripts of simulated transactions: short text that a person can read in a report, e.g. <c>r (c1 u17) [(m2 r)(c3 a18)]</c>.
/// Actor ids begin with <c>c</c> (immutable state) or <c>m</c> (mutable state).
/// </summary>
internal static class Script
{
    /// <summary>Begins the message of an abort that tells what it was decided on.</summary>
    public const string Saw = "saw ";

    /// <summary>It has a step that aborts and says what it saw.</summary>
    public static bool MayAbort(string text) => text.AsSpan().ContainsAny('!', 'o');

    /// <summary>It begins with a call by a value whose code uses the context.</summary>
    public static bool UsesContext(string text, out ScriptPart call)
    {
        var at = 0;
        call = default;
        return text.StartsWith('%')
            && TryNext(text, ref at, text.Length, out call)
            && call.Number == OpenValue.UsesContext;
    }

    /// <summary>Takes the step at <paramref name="at"/>.</summary>
    /// <returns>False: the script is over.</returns>
    public static bool TryNext(string text, ref int at, int end, out ScriptPart part)
    {
        while (at < end && text[at] == ' ')
        {
            at++;
        }

        if (at >= end)
        {
            part = default;
            return false;
        }

        var begin = at++;
        switch (text[begin])
        {
            case 'r':
                part = new ScriptPart(ScriptStep.Read);
                return true;
            case 'a':
                part = new ScriptPart(ScriptStep.Append, Number(text, ref at, end));
                return true;
            case 'u':
                part = new ScriptPart(ScriptStep.Update, Number(text, ref at, end));
                return true;
            case 'd':
                part = new ScriptPart(ScriptStep.Delay, Number(text, ref at, end));
                return true;
            case 'y':
                part = new ScriptPart(ScriptStep.Yield);
                return true;
            case 'x':
                part = new ScriptPart(ScriptStep.Throw);
                return true;
            case 'z':
                part = new ScriptPart(ScriptStep.ThrowMute);
                return true;
            case 'q':
                part = new ScriptPart(ScriptStep.ThrowLater, Number(text, ref at, end));
                return true;
            case 'w':
                part = new ScriptPart(ScriptStep.Spoil, Number(text, ref at, end));
                return true;
            case '%':
                var how = Number(text, ref at, end);
                at++;
                part = Body(ScriptStep.CallOpen, text, ref at, ')') with { Number = how };
                return true;
            case '!':
                part = new ScriptPart(ScriptStep.Abort);
                return true;
            case 'o':
                part = new ScriptPart(ScriptStep.AbortIfOdd);
                return true;
            case '(':
                part = Body(ScriptStep.Call, text, ref at, ')');
                return true;
            case '&':
                at++;
                part = Body(ScriptStep.Fire, text, ref at, ')');
                return true;
            case '?':
                at++;
                part = Body(ScriptStep.Try, text, ref at, ')');
                return true;
            case '[':
                part = Body(ScriptStep.Together, text, ref at, ']');
                return true;
            default:
                throw new FormatException($"A script has '{text[begin]}' at {begin}: {text}");
        }
    }

    /// <summary>Actor and script of a call's body.</summary>
    public static (string Actor, string Steps) CallOf(string text, ScriptPart part)
    {
        var space = text.IndexOf(' ', part.Begin, part.End - part.Begin);
        return space < 0
            ? (ScriptedTypes.NameOf(text.AsSpan(part.Begin..part.End)), string.Empty)
            : (ScriptedTypes.NameOf(text.AsSpan(part.Begin..space)), text[(space + 1)..part.End]);
    }

    /// <summary>Calls per actor, the root's own included: the exact access set.</summary>
    public static Dictionary<string, int> CallsOf(string root, string script)
    {
        var calls = new Dictionary<string, int>(StringComparer.Ordinal) { [root] = 1 };
        Count(script, 0, script.Length, calls);
        return calls;
    }

    /// <summary>Every value that is appended, with its actor.</summary>
    public static List<(string Actor, long Value)> AppendsOf(string root, string script)
    {
        var appends = new List<(string, long)>();
        Collect(root, script, 0, script.Length, appends);
        return appends;
    }

    private static void Count(string text, int at, int end, Dictionary<string, int> calls)
    {
        while (TryNext(text, ref at, end, out var part))
        {
            switch (part.Step)
            {
                case ScriptStep.Call or ScriptStep.CallOpen or ScriptStep.Fire or ScriptStep.Try:
                    var actor = ActorOf(text, part);
                    calls[actor] = calls.GetValueOrDefault(actor) + 1;
                    Count(text, part.Begin + actor.Length, part.End, calls);
                    break;
                case ScriptStep.Together:
                    Count(text, part.Begin, part.End, calls);
                    break;
            }
        }
    }

    private static void Collect(string self, string text, int at, int end, List<(string, long)> appends)
    {
        while (TryNext(text, ref at, end, out var part))
        {
            switch (part.Step)
            {
                case ScriptStep.Append or ScriptStep.Update:
                    appends.Add((self, part.Number));
                    break;
                case ScriptStep.Call or ScriptStep.CallOpen or ScriptStep.Fire or ScriptStep.Try:
                    var actor = ActorOf(text, part);
                    Collect(actor, text, part.Begin + actor.Length, part.End, appends);
                    break;
                case ScriptStep.Together:
                    Collect(self, text, part.Begin, part.End, appends);
                    break;
            }
        }
    }

    private static string ActorOf(string text, ScriptPart part)
    {
        var space = text.IndexOf(' ', part.Begin, part.End - part.Begin);
        return ScriptedTypes.NameOf(text.AsSpan(part.Begin..(space < 0 ? part.End : space)));
    }

    private static int Number(string text, ref int at, int end)
    {
        var number = 0;
        while (at < end && char.IsAsciiDigit(text[at]))
        {
            number = (number * 10) + (text[at++] - '0');
        }

        return number;
    }

    private static ScriptPart Body(ScriptStep step, string text, ref int at, char close)
    {
        var begin = at;
        var open = close == ')' ? '(' : '[';
        for (var depth = 1; ; at++)
        {
            if (at >= text.Length)
            {
                throw new FormatException($"A script lacks a '{close}': {text}");
            }

            if (text[at] == open)
            {
                depth++;
            }
            else if (text[at] == close && --depth == 0)
            {
                return new ScriptPart(step, 0, begin, at++);
            }
        }
    }
}

/// <summary>A step; of a call the range of its body.</summary>
internal readonly record struct ScriptPart(ScriptStep Step, int Number = 0, int Begin = 0, int End = 0);
