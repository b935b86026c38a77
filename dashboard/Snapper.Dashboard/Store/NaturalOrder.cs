namespace Snapper.Dashboard.Store;

/// <summary>w2 before w10.</summary>
public sealed class NaturalOrder : IComparer<string>
{
    public static readonly NaturalOrder Instance = new();

    public int Compare(string? x, string? y)
    {
        var (left, right) = (x ?? "", y ?? "");
        var byLength = left.TrimEnd("0123456789".ToCharArray()) == right.TrimEnd("0123456789".ToCharArray()) ? left.Length.CompareTo(right.Length) : 0;
        return byLength != 0 ? byLength : string.CompareOrdinal(left, right);
    }
}
