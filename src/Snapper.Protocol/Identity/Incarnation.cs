using System.Globalization;

namespace Snapper.Protocol.Identity;

/// <summary>
/// One life of a worker: its number and the epoch of its log in that life. Messages, directory entries and records name incarnations, so that what an earlier life
/// said or owned is never taken for what a later one does (R3, R4). The default value means "nobody".
/// </summary>
/// <param name="Worker">Number of the worker, 1..1023: worker <c>w2</c> has number 2.</param>
/// <param name="Epoch">Epoch of its log, 1 or more.</param>
public readonly record struct Incarnation(int Worker, long Epoch)
{
    /// <summary>Nobody.</summary>
    public static Incarnation None => default;

    /// <summary>True for nobody.</summary>
    public bool IsNone => Worker == 0;

    /// <summary>Name of a worker, of its log and in the directory, by its number: <c>w2</c>.</summary>
    public static string NameOf(int worker) => string.Create(CultureInfo.InvariantCulture, $"w{worker}");

    /// <summary><c>w2/7</c>: worker w2 in its epoch 7.</summary>
    public override string ToString() => IsNone ? "nobody" : string.Create(CultureInfo.InvariantCulture, $"w{Worker}/{Epoch}");
}
