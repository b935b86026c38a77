using System.Text.Json.Serialization;
using Snapper.Actors;

namespace Snapper.Simulation.Workloads;

/// <summary>
/// An input, or a result, that can change, so that the worker copies it; and whose own code may misbehave there.
/// </summary>
public sealed class OpenValue
{
    /// <summary>Ways to misbehave: 1 to this one.</summary>
    internal const int Ways = 5;

    /// <summary>The last of them: the code uses the context that it is given, and keeps what that throws.</summary>
    internal const int UsesContext = 5;

    private const int CannotBeWritten = 1;
    private const int CannotBeRead = 2;

    private int _how;

    /// <summary>A script, or what it saw.</summary>
    public string Text { get; set; } = string.Empty;

    /// <summary>What the caller had seen before.</summary>
    public string? Seen { get; set; }

    /// <summary>Numbers that each one who gets it changes: no other one may see that.</summary>
    public List<long> Numbers { get; set; } = [];

    /// <summary>
    /// 1: it cannot be written; 2: it cannot be read; 3, 4: the same of the result of the call that it is sent with.
    /// </summary>
    public int How
    {
        get => _how switch
        {
            CannotBeWritten => throw new MuteException(),
            UsesContext => UseContext(),
            _ => _how,
        };
        set => _how = value == CannotBeRead ? throw new MuteException() : value;
    }

    /// <summary>Of one whose code uses it.</summary>
    [JsonIgnore]
    internal ActorContext? Context { get; init; }

    /// <summary>What that has thrown.</summary>
    [JsonIgnore]
    internal Exception? Kept { get; private set; }

    /// <summary>Says how it misbehaves, which its property would take for its being read.</summary>
    internal OpenValue Misbehaving(int how)
    {
        _how = how;
        return this;
    }

    /// <summary>The result of the call that it was sent with.</summary>
    internal OpenValue Result(string text, List<long> numbers) =>
        new OpenValue { Text = text, Numbers = numbers }.Misbehaving(_how is 3 or 4 ? _how - 2 : 0);

    private int UseContext()
    {
        try
        {
            _ = Context!.NewGuid();
        }
        catch (Exception exception)
        {
            Kept = exception;
        }

        return 0;
    }
}
