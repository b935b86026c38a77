namespace Snapper.Contracts;

/// <summary>What stands for maps that an answer does not have.</summary>
internal static class Empty
{
    public static readonly IReadOnlyDictionary<string, long> Counts = new Dictionary<string, long>();
    public static readonly IReadOnlyDictionary<string, int> Shares = new Dictionary<string, int>();
    public static readonly IReadOnlyDictionary<string, CheckView> Checks = new Dictionary<string, CheckView>();
}
