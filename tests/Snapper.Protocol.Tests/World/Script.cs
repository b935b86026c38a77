using System.Text;

namespace Snapper.Protocol.Tests.World;

/// <summary>What a step of user code does.</summary>
internal enum OpKind : byte
{
    /// <summary><c>r</c>: reads the state.</summary>
    Read,

    /// <summary><c>w</c>: appends to the state.</summary>
    Write,

    /// <summary><c>b(...)</c>: calls an actor and waits for it.</summary>
    Call,

    /// <summary><c>&amp;b(...)</c>: calls an actor and goes on; joined at the end of the method.</summary>
    Start,

    /// <summary><c>|</c>: gives way until the test, or chance, lets it go on.</summary>
    Pause,

    /// <summary><c>!</c>: throws.</summary>
    Throw,

    /// <summary><c>?</c>: throws if what it saw last has an odd length.</summary>
    ThrowIfOdd,
}

/// <summary>One step of user code.</summary>
internal readonly record struct Op(OpKind Kind, CallScript? Callee = null);

/// <summary>One method call as a text: <c>a(r b(w) | &amp;c(r) w)</c>.</summary>
internal sealed record CallScript(string Actor, Op[] Ops)
{
    /// <summary>Reads a script.</summary>
    /// <exception cref="FormatException">The text is no script.</exception>
    public static CallScript Parse(string text)
    {
        var at = 0;
        var script = ParseCall(text, ref at);
        return at == text.Length ? script : throw new FormatException($"'{text}': nothing may follow position {at}.");
    }

    /// <summary>Counts the calls on each actor, in the order of the first one.</summary>
    public void CountCalls(List<(string Actor, int Calls)> counts)
    {
        var at = counts.FindIndex(count => count.Actor == Actor);
        if (at < 0)
        {
            counts.Add((Actor, 1));
        }
        else
        {
            counts[at] = (Actor, counts[at].Calls + 1);
        }

        foreach (var op in Ops)
        {
            op.Callee?.CountCalls(counts);
        }
    }

    public override string ToString()
    {
        var text = new StringBuilder();
        Print(text);
        return text.ToString();
    }

    private void Print(StringBuilder text)
    {
        text.Append(Actor).Append('(');
        for (var i = 0; i < Ops.Length; i++)
        {
            if (i > 0)
            {
                text.Append(' ');
            }

            switch (Ops[i].Kind)
            {
                case OpKind.Call:
                    Ops[i].Callee!.Print(text);
                    break;
                case OpKind.Start:
                    text.Append('&');
                    Ops[i].Callee!.Print(text);
                    break;
                default:
                    text.Append("rw  |!?"[(int)Ops[i].Kind]);
                    break;
            }
        }

        text.Append(')');
    }

    private static CallScript ParseCall(string text, ref int at)
    {
        var from = at;
        while (at < text.Length && char.IsLetterOrDigit(text[at]))
        {
            at++;
        }

        if (at == from || at == text.Length || text[at] != '(')
        {
            throw new FormatException($"'{text}': a call like a(...) is expected at position {from}.");
        }

        var actor = text[from..at++];
        var ops = new List<Op>();
        while (true)
        {
            if (at == text.Length)
            {
                throw new FormatException($"'{text}': the call of {actor} is not closed.");
            }

            if (text[at] == ')')
            {
                at++;
                return new CallScript(actor, ops.ToArray());
            }

            if (text[at] == ' ')
            {
                at++;
                continue;
            }

            ops.Add(ParseOp(text, ref at));
        }
    }

    private static Op ParseOp(string text, ref int at)
    {
        var isCall = at + 1 < text.Length && (text[at + 1] == '(' || char.IsLetterOrDigit(text[at + 1]));
        if (text[at] == '&')
        {
            at++;
            return new Op(OpKind.Start, ParseCall(text, ref at));
        }

        if (isCall)
        {
            return new Op(OpKind.Call, ParseCall(text, ref at));
        }

        return text[at++] switch
        {
            'r' => new Op(OpKind.Read),
            'w' => new Op(OpKind.Write),
            '|' => new Op(OpKind.Pause),
            '!' => new Op(OpKind.Throw),
            '?' => new Op(OpKind.ThrowIfOdd),
            _ => throw new FormatException($"'{text}': no step is written '{text[at - 1]}'."),
        };
    }
}
